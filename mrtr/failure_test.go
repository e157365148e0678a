package mrtr_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// as serves h as an authenticating middleware does.
func as(p mrtr.Principal, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(mrtr.WithPrincipal(r.Context(), p)))
	})
}

func refusalServer(s *mrtr.Server) {
	tool(s, "greet", greet)
	tool(s, "twin", greet)
	mrtr.AddPrompt(s, mrtr.Prompt{Name: "greet"}, func(ctx context.Context, c *mrtr.Call, _ map[string]string) (*protocol.GetPromptResult, error) {
		res, err := greet(ctx, c)
		if err != nil {
			return nil, err
		}
		return &protocol.GetPromptResult{Messages: []protocol.PromptMessage{{Role: "user", Content: res.Content[0]}}}, nil
	})
	mrtr.AddResource(s, mrtr.Resource{URI: "greet:it", Name: "greet"}, func(ctx context.Context, c *mrtr.Call) ([]protocol.ResourceContents, error) {
		if _, err := greet(ctx, c); err != nil {
			return nil, err
		}
		return nil, errors.New("greeted")
	})
}

// TestRefused: every state that is not accepted gets the same reply, byte for
// byte; the reason is in the log and nowhere else.
func TestRefused(t *testing.T) {
	alice := mrtr.Principal{Issuer: "https://id.example", Subject: "alice", Client: "app"}
	type flow struct {
		sealedBy, shownTo *mrtr.Principal
		seal, show        request
		change            func(state string) string
		between           func(k *kit)
		reason            string
	}
	greeted := accept("user_name", `{"name":"Alice"}`)
	someoneElse := func(edit func(*mrtr.Principal)) *mrtr.Principal {
		p := alice
		edit(&p)
		return &p
	}
	tool := request{name: "greet", params: `"arguments":{"a":1,"b":"x"}`}
	with := func(r request, params string) request { r.params = params; return r }
	flip := func(at int) func(string) string {
		return func(s string) string {
			b := []byte(s)
			if at < 0 {
				at += len(b)
			}
			if b[at] != 'A' {
				b[at] = 'A'
			} else {
				b[at] = 'B'
			}
			return string(b)
		}
	}
	cases := map[string]flow{
		"another tool":                      {seal: request{name: "greet"}, show: request{name: "twin"}, reason: "target"},
		"a prompt of the same name":         {seal: request{name: "greet"}, show: request{method: "prompts/get", name: "greet"}, reason: "wrong_purpose"},
		"a prompt's, shown to a tool":       {seal: request{method: "prompts/get", name: "greet"}, show: request{name: "greet"}, reason: "wrong_purpose"},
		"a tool's, shown to a resource":     {seal: request{name: "greet"}, show: request{method: "resources/read", name: "greet:it"}, reason: "wrong_purpose"},
		"a resource's, shown to a tool":     {seal: request{method: "resources/read", name: "greet:it"}, show: request{name: "greet"}, reason: "wrong_purpose"},
		"other arguments":                   {seal: tool, show: with(tool, `"arguments":{"a":2,"b":"x"}`), reason: "arguments"},
		"arguments swapped":                 {seal: tool, show: with(tool, `"arguments":{"b":1,"a":"x"}`), reason: "arguments"},
		"arguments gone":                    {seal: tool, show: with(tool, ``), reason: "arguments"},
		"arguments come":                    {seal: request{name: "greet"}, show: tool, reason: "arguments"},
		"arguments written otherwise":       {seal: tool, show: with(tool, `"arguments":{"a":1.0,"b":"x"}`), reason: "arguments"},
		"integers above 2^53":               {seal: with(tool, `"arguments":{"a":9007199254740992}`), show: with(tool, `"arguments":{"a":9007199254740993}`), reason: "arguments"},
		"another subject":                   {seal: tool, show: tool, sealedBy: &alice, shownTo: someoneElse(func(p *mrtr.Principal) { p.Subject = "bob" }), reason: "principal"},
		"another issuer":                    {seal: tool, show: tool, sealedBy: &alice, shownTo: someoneElse(func(p *mrtr.Principal) { p.Issuer = "https://other.example" }), reason: "principal"},
		"another client":                    {seal: tool, show: tool, sealedBy: &alice, shownTo: someoneElse(func(p *mrtr.Principal) { p.Client = "other" }), reason: "principal"},
		"the same letters, cut otherwise":   {seal: tool, show: tool, sealedBy: &alice, shownTo: someoneElse(func(p *mrtr.Principal) { p.Subject, p.Client = "alicea", "pp" }), reason: "principal"},
		"no principal any more":             {seal: tool, show: tool, sealedBy: &alice, reason: "principal_absent"},
		"a principal all of a sudden":       {seal: tool, show: tool, shownTo: &alice, reason: "principal_gained"},
		"one without a subject is none":     {seal: tool, show: tool, sealedBy: &alice, shownTo: &mrtr.Principal{Issuer: alice.Issuer}, reason: "principal_absent"},
		"first character flipped":           {seal: tool, show: tool, change: flip(0), reason: "unknown_version"},
		"a character of the salt flipped":   {seal: tool, show: tool, change: flip(30), reason: "forged"},
		"a character of the claims flipped": {seal: tool, show: tool, change: flip(100), reason: "forged"},
		"a character of the tag flipped":    {seal: tool, show: tool, change: flip(-3), reason: "forged"},
		"cut short":                         {seal: tool, show: tool, change: func(s string) string { return s[:len(s)/8*4] }, reason: "forged"},
		"longer":                            {seal: tool, show: tool, change: func(s string) string { return s + "AAAA" }, reason: "forged"},
		"padded":                            {seal: tool, show: tool, change: func(s string) string { return s + "=" }, reason: "malformed"},
		"with a space":                      {seal: tool, show: tool, change: func(s string) string { return " " + s }, reason: "malformed"},
		"any text":                          {seal: tool, show: tool, change: func(string) string { return "resume, please" }, reason: "malformed"},
		"5 characters":                      {seal: tool, show: tool, change: func(string) string { return "AQEAA" }, reason: "malformed"},
		"300 kB":                            {seal: tool, show: tool, change: func(string) string { return strings.Repeat("A", 300_000) }, reason: "too_long"},
		"expired round":                     {seal: tool, show: tool, between: func(k *kit) { k.advance(10 * time.Minute) }, reason: "round_expired"},
		"expired flow":                      {seal: tool, show: tool, between: func(k *kit) { k.advance(time.Hour) }, reason: "flow_expired"},
		"a clock that went back":            {seal: tool, show: tool, between: func(k *kit) { k.advance(-2 * time.Minute) }, reason: "issued_ahead"},
	}
	serveAs := func(k *kit, p *mrtr.Principal, r request) *response {
		h := k.handler
		if p != nil {
			h = as(*p, h)
		}
		return serve(t, h, r.build())
	}
	add := func(params, more string) string {
		if params == "" {
			return more
		}
		return params + "," + more
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, refusalServer, nil)
			state := serveAs(k, f.sealedBy, f.seal).asks(t, "user_name")
			if f.change != nil {
				state = f.change(state)
			}
			if f.between != nil {
				f.between(k)
			}
			show := f.show
			show.params = add(show.params, retry(state, greeted))
			res := serveAs(k, f.shownTo, show)
			require.Equal(t, http.StatusBadRequest, res.status)
			require.Equal(t, frozen, res.body)
			require.Equal(t, mrtr.OutcomeRefused, k.last().Outcome)
			require.Equal(t, f.reason, k.last().Reason)
			require.Zero(t, k.last().Handler, "the handler ran")
			require.Contains(t, k.log(), `"reason":"`+f.reason+`"`)
		})
	}

	t.Run("another deployment", func(t *testing.T) {
		k := newKit(t, refusalServer, nil)
		state := k.do(request{name: "greet"}).asks(t, "user_name")
		other := newKit(t, refusalServer, func(o *mrtr.HandlerOptions) { o.Audience = "other" })
		require.Equal(t, frozen, other.do(request{name: "greet", params: retry(state, greeted)}).body)
		require.Equal(t, "audience", other.last().Reason)
	})
	t.Run("other keys", func(t *testing.T) {
		k := newKit(t, refusalServer, nil)
		state := k.do(request{name: "greet"}).asks(t, "user_name")
		keys, err := requeststate.NewStaticKeys([]byte(strings.Repeat("z", requeststate.MinSecretSize)))
		require.NoError(t, err)
		other := newKit(t, refusalServer, func(o *mrtr.HandlerOptions) { o.Keys = keys })
		require.Equal(t, frozen, other.do(request{name: "greet", params: retry(state, greeted)}).body)
		require.Equal(t, "unknown_key", other.last().Reason)
	})
	t.Run("a session id", func(t *testing.T) {
		k := newKit(t, refusalServer, nil)
		session := k.do(request{
			method: "initialize", body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`,
			header: map[string]string{"Mcp-Protocol-Version": "-"},
		}).header.Get("Mcp-Session-Id")
		require.NotEmpty(t, session)
		require.Equal(t, frozen, k.do(request{name: "greet", params: retry(session, greeted)}).body)
		require.Equal(t, "wrong_purpose", k.last().Reason)
	})
	t.Run("not refused: the same caller, spelled the same", func(t *testing.T) {
		k := newKit(t, refusalServer, nil)
		state := serveAs(k, &alice, tool).asks(t, "user_name")
		again := tool
		again.params = `"arguments":{ "b" : "x" , "a":1},` + retry(state, greeted)
		serveAs(k, &alice, again).says(t, "Hello, Alice!")
	})
}

// TestFlowDeadline: the deadline is the flow's, and no round moves it.
func TestFlowDeadline(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "t", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
				if _, err := mrtr.Ask[nameForm](c, key, "?"); err != nil {
					return nil, err
				}
			}
			return mrtr.Text("done"), nil
		})
	}, nil)
	state := k.do(request{name: "t"}).asks(t, "a")
	for _, next := range []string{"b", "c", "d", "e", "f", "g"} {
		k.advance(9 * time.Minute)
		state = k.do(request{name: "t", params: retry(state, accept(string(next[0]-1), `{"name":"x"}`))}).asks(t, next)
	}
	k.advance(5*time.Minute + 59*time.Second)
	k.do(request{name: "t", params: retry(state, accept("g", `{"name":"x"}`))}).asks(t, "h")
	k.advance(time.Second)
	require.Equal(t, frozen, k.do(request{name: "t", params: retry(state, accept("g", `{"name":"x"}`))}).body)
	require.Equal(t, "flow_expired", k.last().Reason)
}

// TestRevisions: a state goes on only under revisions that the tool accepts.
func TestRevisions(t *testing.T) {
	serverOf := func(revision string, accepted ...string) *kit {
		return newKit(t, func(s *mrtr.Server) {
			mrtr.AddTool(s, mrtr.Tool{Name: "t", Revision: revision, AcceptRevisions: accepted}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
				return greet(ctx, c)
			})
		}, nil)
	}
	state := serverOf("1").do(request{name: "t"}).asks(t, "user_name")
	last := request{name: "t", params: retry(state, accept("user_name", `{"name":"Alice"}`))}
	serverOf("1").do(last).says(t, "Hello, Alice!")
	serverOf("2", "1").do(last).says(t, "Hello, Alice!")
	serverOf("3", "2", "1").do(last).says(t, "Hello, Alice!")
	require.Equal(t, frozen, serverOf("2").do(last).body)
	require.Equal(t, frozen, serverOf("").do(last).body)
}

// TestLateHandler: a handler that does not return in time is answered without,
// and what it does with its call later is an error and changes nothing.
func TestLateHandler(t *testing.T) {
	// Each late use has a word for what came of it.
	uses := map[string]func(context.Context, *mrtr.Call) error{
		"Ask":     func(_ context.Context, c *mrtr.Call) error { _, err := mrtr.Ask[nameForm](c, "k", "?"); return err },
		"Confirm": func(_ context.Context, c *mrtr.Call) error { return mrtr.Confirm(c, "k", "?") },
		"Step": func(ctx context.Context, c *mrtr.Call) error {
			_, err := mrtr.Step(context.WithoutCancel(ctx), c, "k", func(context.Context) (int, error) { return 1, errors.New("the step ran") })
			return err
		},
		"RequestInput": func(_ context.Context, c *mrtr.Call) error {
			return c.RequestInput(protocol.InputRequests{{Key: "k", Method: protocol.MethodListRoots}}, []byte("late"))
		},
	}
	for name, use := range uses {
		t.Run(name, func(t *testing.T) {
			entered, release, late := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			k := newKit(t, func(s *mrtr.Server) {
				tool(s, "late", func(ctx context.Context, c *mrtr.Call) (*mrtr.Result, error) {
					close(entered)
					<-release // ignores its context
					c.Progress(1, 2, "late")
					c.Log(protocol.LevelError, "late", "late")
					_, _, _, _ = c.Capabilities(), c.Round(), c.RequestState(), c.HasInputResponses()
					late <- use(ctx, c)
					return mrtr.Text("late"), nil
				})
				tool(s, "plain", func(context.Context, *mrtr.Call) (*mrtr.Result, error) { return mrtr.Text("done"), nil })
			}, nil)
			// A deadline far away, so that the call has one; the test decides when
			// it is over.
			ctx, expire := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
			defer expire()
			w := httptest.NewRecorder()
			answered := make(chan struct{})
			go func() {
				k.handler.ServeHTTP(w, request{name: "late", ctx: ctx}.build())
				close(answered)
			}()
			<-entered
			expire()
			<-answered
			res := read(t, w)
			res.failed(t, 200, -32603)
			require.Equal(t, "timeout", k.last().Reason)
			before := w.Body.String()

			k.do(request{name: "plain"}).says(t, "done")
			close(release)
			require.ErrorContains(t, <-late, "the call has ended")
			require.Equal(t, before, w.Body.String())
		})
	}
}

// TestLateInStep: the deadline passes while a step runs.
func TestLateInStep(t *testing.T) {
	entered, release, late := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "late", func(ctx context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			_, err := mrtr.Step(ctx, c, "slow", func(context.Context) (int, error) {
				close(entered)
				<-release
				return 1, nil
			})
			late <- err
			return nil, err
		})
	}, nil)
	ctx, expire := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	defer expire()
	w := httptest.NewRecorder()
	answered := make(chan struct{})
	go func() {
		k.handler.ServeHTTP(w, request{name: "late", ctx: ctx}.build())
		close(answered)
	}()
	<-entered
	expire()
	<-answered
	read(t, w).failed(t, 200, -32603)
	require.Equal(t, "timeout", k.last().Reason, "not blamed on the author as misuse")
	close(release)
	require.ErrorContains(t, <-late, "the call has ended")
}

// TestContextOfHandler: a handler that minds its context ends in time.
func TestContextOfHandler(t *testing.T) {
	entered := make(chan struct{})
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "waits", func(ctx context.Context, _ *mrtr.Call) (*mrtr.Result, error) {
			close(entered)
			<-ctx.Done()
			return nil, ctx.Err()
		})
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	w := httptest.NewRecorder()
	answered := make(chan struct{})
	go func() {
		k.handler.ServeHTTP(w, request{name: "waits", ctx: ctx}.build())
		close(answered)
	}()
	<-entered
	cancel()
	<-answered
	read(t, w).failsInWords(t)
	require.ErrorIs(t, k.last().Err, context.Canceled)
}

// TestReplyTooLarge: a reply that the transport cannot carry is an error, told
// in the reply that it can.
func TestReplyTooLarge(t *testing.T) {
	const limit = 6 << 20
	size, text := 0, "x"
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "big", func(context.Context, *mrtr.Call) (*mrtr.Result, error) {
			return mrtr.Text(strings.Repeat(text, size)), nil
		})
		tool(s, "big_question", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			_, err := mrtr.Ask[nameForm](c, "k", strings.Repeat(text, size))
			return nil, err
		})
	}, func(o *mrtr.HandlerOptions) { o.MaxReplyBytes = limit })
	for name, tt := range map[string]struct {
		tool string
		text string
		size int
		fits bool
	}{
		"7 MB":                             {"big", "x", 7 << 20, false},
		"5 MB":                             {"big", "x", 5 << 20, true},
		"2 MB of quotes, which take eight": {"big", `"`, 2 << 20, false},
		"1 MB of quotes":                   {"big", `"`, 1 << 20, true},
		"7 MB of a question":               {"big_question", "x", 7 << 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			size, text = tt.size, tt.text
			res := k.do(request{name: tt.tool})
			if tt.fits {
				require.Nil(t, res.Error)
				require.Len(t, res.text(), tt.size)
				return
			}
			res.failed(t, 200, -32603)
			require.Equal(t, "reply_too_large", k.last().Reason)
			require.Less(t, len(res.body), 1000)
		})
	}
	size = 10
	k.do(request{name: "big"}).says(t, strings.Repeat(text, 10))
}

// TestHandlerOptions: what cannot be served is refused when the handler is made.
func TestHandlerOptions(t *testing.T) {
	srv := mrtr.NewServer(protocol.Implementation{Name: "kit", Version: "1"}, nil)
	keys := newSwitchKeys(t)
	good := mrtr.HandlerOptions{Keys: keys, Audience: "kit"}
	_, err := srv.Handler(good)
	require.NoError(t, err)
	for name, edit := range map[string]func(*mrtr.HandlerOptions){
		"no keys":                         func(o *mrtr.HandlerOptions) { o.Keys = nil },
		"no audience":                     func(o *mrtr.HandlerOptions) { o.Audience = "" },
		"a round over an hour":            func(o *mrtr.HandlerOptions) { o.RoundTTL, o.FlowTTL = time.Hour+1, 2*time.Hour },
		"a round over its flow":           func(o *mrtr.HandlerOptions) { o.FlowTTL = time.Minute },
		"a negative round":                func(o *mrtr.HandlerOptions) { o.RoundTTL = -1 },
		"a negative flow":                 func(o *mrtr.HandlerOptions) { o.FlowTTL = -1 },
		"negative rounds":                 func(o *mrtr.HandlerOptions) { o.MaxRounds = -1 },
		"more rounds than a token counts": func(o *mrtr.HandlerOptions) { o.MaxRounds = 65536 },
		"a negative state":                func(o *mrtr.HandlerOptions) { o.MaxStateBytes = -1 },
		"a negative body":                 func(o *mrtr.HandlerOptions) { o.MaxBodyBytes = -1 },
		"a negative reply":                func(o *mrtr.HandlerOptions) { o.MaxReplyBytes = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			opts := good
			edit(&opts)
			h, err := srv.Handler(opts)
			require.Error(t, err)
			require.Nil(t, h)
		})
	}
}
