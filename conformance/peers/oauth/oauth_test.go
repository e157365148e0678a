package oauth

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

var (
	tools  = flag.String("tools", "", "`folder` of what make interop installs; empty skips the clients that need it, and the page")
	update = flag.Bool("update", false, "write the page anew")
)

const (
	// patience bounds one run of one client.
	patience = time.Minute
	done     = "Hi Alice, your favorite color is blue."
)

// TestClients has every client sign in, and compares what came of it with the
// page.
func TestClients(t *testing.T) {
	bootstrap := buildBootstrap(t)
	var pg page
	complete := true
	for _, p := range peers {
		complete = t.Run(p.name, func(t *testing.T) {
			if p.installed && *tools == "" {
				t.Skip("needs what make interop installs")
			}
			s := stage{bootstrap, p}
			pg.Clients = append(pg.Clients, row{
				Name: p.name, Version: p.version(t),
				HTTPAPI: s.signIn(t, lambdatest.HTTPAPI), REST: s.signIn(t, lambdatest.REST),
				StepUp: s.stepUp(t), StepUpREST: s.stepUpREST(t), Renewed: s.renewed(t), Expired: s.expired(t, true), Registered: s.expired(t, false), Other: s.other(t),
			})
		}) && complete
	}
	if *tools == "" {
		t.Skip("the page needs all clients: make interop")
	}
	require.True(t, complete, "the page is not compared: not every client did what it should")
	pg.compare(t)
}

// stage is one client and the function that it is to call.
type stage struct {
	bootstrap string
	peer      peer
}

// play runs the client in a scene.
func (s stage) play(t *testing.T, sc *scene, r run) *report {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r.url = sc.url
	rep, err := s.peer.run(ctx, r)
	require.NoError(t, err)
	require.Contains(t, rep.Tools, multiRound)
	return rep
}

func requireDone(t *testing.T, rep *report) {
	t.Helper()
	require.Equal(t, done, rep.Text, "%+v", rep)
	require.False(t, rep.IsError)
	require.Empty(t, rep.Error)
}

// signIn goes all the way from the first refusal to the end of a call: by the
// header of a 401 where that gets through, and by the well-known places. Each
// gateway has an issuer and a registration of another kind.
func (s stage) signIn(t *testing.T, kind lambdatest.Kind) (said string) {
	t.Run(string(kind), func(t *testing.T) {
		rest := kind == lambdatest.REST
		sc := newScene(t, s.bootstrap, sceneOptions{kind: kind, issuerOptions: issuerOptions{openID: rest}})
		var r run
		if rest {
			r.document = sc.documentURL()
		}
		requireDone(t, s.play(t, sc, r))
		require.Equal(t, []int{200, 200, 200}, statuses(sc.calls()))

		requests := sc.all()
		require.Equal(t, 401, requests[0].status)
		require.Equal(t, !rest, requests[0].challenge)
		require.Equal(t, "/.well-known/oauth-protected-resource/mcp", requests[1].path)
		require.Equal(t, 200, requests[1].status)
		require.Len(t, sc.signIns, 1)
		require.ElementsMatch(t, []string{"mcp", "offline_access"}, sc.signIns[0].scopes)
		if rest {
			require.Equal(t, sc.documentURL(), sc.signIns[0].client)
			require.Empty(t, sc.clients)
		} else {
			require.Len(t, sc.clients, 1)
		}
		for _, q := range requests[2:] {
			require.Equal(t, 200, q.status)
			require.Equal(t, "ann", q.token.Subject)
		}
		said = "done"
	})
	return said
}

// stepUp calls a tool that needs a scope which the first sign-in does not ask
// for.
func (s stage) stepUp(t *testing.T) (said string) {
	t.Run("step up", func(t *testing.T) {
		sc := newScene(t, s.bootstrap, sceneOptions{kind: lambdatest.HTTPAPI, toolScopes: multiRound + "=talk"})
		requireDone(t, s.play(t, sc, run{}))
		calls := sc.calls()
		require.Equal(t, []int{403, 200, 200, 200}, statuses(calls))
		require.True(t, calls[0].challenge)
		require.Len(t, sc.signIns, 2)
		require.ElementsMatch(t, []string{"mcp", "talk", "offline_access"}, sc.signIns[1].scopes)
		said = "signs in for it"
	})
	return said
}

// stepUpREST does the same where the header that says which scope is missing
// does not get through.
func (s stage) stepUpREST(t *testing.T) (said string) {
	t.Run("step up, "+string(lambdatest.REST), func(t *testing.T) {
		sc := newScene(t, s.bootstrap, sceneOptions{kind: lambdatest.REST, toolScopes: multiRound + "=talk"})
		rep := s.play(t, sc, run{})
		require.NotEmpty(t, rep.Error)
		require.Empty(t, rep.Text)
		require.Len(t, sc.signIns, 1)
		for _, q := range sc.calls() {
			require.Equal(t, 403, q.status)
			require.False(t, q.challenge)
		}
		said = "cannot"
	})
	return said
}

// renewed calls with a token that lives so short that it is renewed between the
// rounds.
func (s stage) renewed(t *testing.T) (said string) {
	t.Run("renewed", func(t *testing.T) {
		opts := sceneOptions{kind: lambdatest.HTTPAPI, issuerOptions: issuerOptions{life: time.Second}}
		if s.peer.refreshes { // at a 401 alone, whatever the token's life
			opts = sceneOptions{kind: lambdatest.HTTPAPI, age: true}
		}
		sc := newScene(t, s.bootstrap, opts)
		requireDone(t, s.play(t, sc, run{}))
		require.Len(t, sc.signIns, 1)
		require.Positive(t, sc.issuer.renewed)
		calls := accepted(sc.calls())
		require.Len(t, calls, 3)
		require.NotEqual(t, calls[0].token.ID, calls[1].token.ID, "the second round came with the first one's token")
		requireOne(t, calls)
		said = "done"
	})
	return said
}

// expired lets the token come to its end between two rounds. A client that does
// not use its refresh token then has its person sign in again: as the same
// client where it has its metadata at an address.
func (s stage) expired(t *testing.T, document bool) (said string) {
	name := map[bool]string{true: "expired", false: "expired, registers"}[document]
	t.Run(name, func(t *testing.T) {
		sc := newScene(t, s.bootstrap, sceneOptions{kind: lambdatest.HTTPAPI, age: true})
		var r run
		if document {
			r.document = sc.documentURL()
		}
		rep := s.play(t, sc, r)
		calls := sc.calls()
		require.Equal(t, []int{200, 401}, statuses(calls[:2]))
		require.True(t, calls[1].challenge)
		if s.peer.refreshes {
			require.Len(t, sc.signIns, 1)
		} else {
			require.Len(t, sc.signIns, 2)
		}
		if document || s.peer.registers1 {
			requireDone(t, rep)
			require.Equal(t, []int{200, 401, 200, 200}, statuses(calls))
			requireOne(t, accepted(calls))
			said = map[bool]string{true: "done, by the refresh token", false: "done, after a sign-in"}[s.peer.refreshes]
			return
		}
		require.Len(t, sc.clients, 2)
		said = s.refused(t, rep, calls)
	})
	return said
}

// other has another person sign in between two rounds.
func (s stage) other(t *testing.T) (said string) {
	t.Run("another person", func(t *testing.T) {
		sc := newScene(t, s.bootstrap, sceneOptions{
			kind: lambdatest.HTTPAPI, age: !s.peer.refreshes, issuerOptions: issuerOptions{people: []string{"ann", "bob"}},
		})
		rep := s.play(t, sc, run{document: sc.documentURL(), change: true})
		require.Len(t, sc.signIns, 2)
		require.Equal(t, []string{"ann", "bob"}, []string{sc.signIns[0].person, sc.signIns[1].person})
		require.Equal(t, sc.signIns[0].client, sc.signIns[1].client)
		calls := sc.calls()
		if !s.peer.refreshes {
			require.Equal(t, 401, calls[1].status)
			calls = append(calls[:1:1], calls[2:]...)
		}
		require.Equal(t, "ann", calls[0].token.Subject)
		require.Equal(t, "bob", calls[1].token.Subject)
		said = s.refused(t, rep, calls)
	})
	return said
}

// refused checks that the state of a flow was refused to whom it does not
// belong, and says what the client made of it.
func (s stage) refused(t *testing.T, rep *report, calls []request) string {
	var last request
	for _, q := range calls {
		if q.status == 400 {
			require.True(t, q.state)
			require.True(t, q.restart)
			last = q
		}
	}
	require.NotEmpty(t, last.token.Subject, "nothing was refused")
	if s.peer.restarts {
		requireDone(t, rep)
		require.Equal(t, []int{200, 200, 200}, statuses(calls[len(calls)-3:]))
		require.False(t, calls[len(calls)-3].state, "the flow goes on")
		requireOne(t, calls[len(calls)-3:])
		return "refused; begins again"
	}
	require.NotEmpty(t, rep.Error)
	require.Empty(t, rep.Text)
	require.Equal(t, last, calls[len(calls)-1], "nothing follows")
	require.NotContains(t, rep.Error, "Alice")
	return "refused"
}

// accepted returns the calls that were.
func accepted(calls []request) []request {
	var out []request
	for _, q := range calls {
		if q.status == 200 {
			out = append(out, q)
		}
	}
	return out
}

// requireOne checks that all calls were one person's, by one client.
func requireOne(t *testing.T, calls []request) {
	t.Helper()
	for _, q := range calls {
		require.Equal(t, calls[0].token.Subject, q.token.Subject)
		require.Equal(t, calls[0].token.Client, q.token.Client)
	}
}
