package interop

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	tools  = flag.String("tools", "", "`folder` of what make interop installs; empty skips the clients that need it, and the page")
	update = flag.Bool("update", false, "write the page anew")
)

const (
	multiRound     = "test_incomplete_result_multi_round"
	multipleInputs = "test_incomplete_result_multiple_inputs"

	// patience bounds one run of one client.
	patience = time.Minute
	// pauseFloor tells a client that pauses before a retry from one that does
	// not: the shortest pause known is 50 ms, and a client pauses each time.
	pauseFloor = 45 * time.Millisecond
)

// contract is what the two tools end with, and the text that a handshake client
// shows that does not go on.
var contract = map[string]struct {
	calls int
	done  string
	asks  string
}{
	multiRound: {3, "Hi Alice, your favorite color is blue.",
		"This tool needs input before it can finish:\n- step1: Step 1: What is your name?"},
	multipleInputs: {2, "Name: Alice. Greeting: Hi. Roots: file:///a",
		"This tool needs input before it can finish:\n- user_name: What is your name?\n- greeting: a message of the client's model\n- client_roots: the client's roots"},
}

// TestClients runs every client and compares what they did with the page.
func TestClients(t *testing.T) {
	endpoint := startEndpoint(t)
	pg := page{Words: strings.Split(contract[multiRound].asks, "\n")}
	complete := true
	for _, p := range peers {
		complete = t.Run(p.name, func(t *testing.T) {
			if p.installed && *tools == "" {
				t.Skip("needs what make interop installs")
			}
			version := p.version(t)
			byDefault := defaultRevision(t, endpoint, p)
			for _, revision := range []string{modern, handshake} {
				if revision == modern && !p.modern {
					continue
				}
				pg.Clients = append(pg.Clients, callTools(t, endpoint, p, version, revision, byDefault))
			}
			if p.modern {
				pg.Loops = append(pg.Loops, loop(t, endpoint, p))
			}
		}) && complete
	}
	if *tools == "" {
		t.Skip("the page needs all clients: make interop")
	}
	require.True(t, complete, "the page is not compared: not every client did what it should")
	pg.compare(t)
}

// report runs p once against w.
func (p peer) report(t *testing.T, w *wire, revision string, names ...string) *report {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	rep, err := p.run(ctx, w.url, revision, names)
	require.NoError(t, err)
	require.Subset(t, rep.Tools, []string{multiRound, multipleInputs})
	require.Len(t, rep.Calls, len(names))
	return rep
}

// defaultRevision returns the revision that p speaks when it is told nothing.
func defaultRevision(t *testing.T, endpoint *url.URL, p peer) string {
	w := newWire(t, endpoint, nil)
	p.report(t, w, "")
	return w.revision(t)
}

// callTools lists the tools and calls two of them in one revision.
func callTools(t *testing.T, endpoint *url.URL, p peer, version, revision, byDefault string) clientRow {
	w := newWire(t, endpoint, nil)
	rep := p.report(t, w, revision, multiRound, multipleInputs)
	require.Equal(t, revision, w.revision(t))
	row := clientRow{
		Name: p.name, Version: version, Era: "modern", Opening: w.opening(t), List: "yes",
		MultiRound: played(t, w, p, revision, multiRound, rep), MultipleInputs: played(t, w, p, revision, multipleInputs, rep),
	}
	if revision == handshake {
		row.Era = "handshake"
	}
	switch {
	case !p.modern:
		row.Note = "knows no other era"
	case revision == byDefault:
		row.Note = "what it does unless told otherwise"
	}
	return row
}

// played checks what came of one call, and says it in a few words.
func played(t *testing.T, w *wire, p peer, revision, tool string, rep *report) string {
	want, got, calls := contract[tool], rep.Calls[tool], w.calls(tool)
	if revision == handshake && !p.goesOn {
		require.Equal(t, outcome{Text: want.asks, IsError: true}, got)
		require.Len(t, calls, 1)
		return "shows the questions"
	}
	require.Equal(t, outcome{Text: want.done}, got)
	require.Len(t, calls, want.calls)
	requireRetries(t, calls)
	return fmt.Sprintf("done in %d calls", len(calls))
}

// requireRetries checks that each call after the first is a request of its own
// and brings a state.
func requireRetries(t *testing.T, calls []message) {
	ids := map[string]bool{}
	for i, call := range calls {
		require.False(t, ids[string(call.ID)], "id %s is used twice", call.ID)
		ids[string(call.ID)] = true
		require.Equal(t, i > 0, call.Params.RequestState != nil, "call %d", i+1)
	}
}

// loop finds out what p does with answers that ask nothing, and when it gives up.
func loop(t *testing.T, endpoint *url.URL, p peer) loopRow {
	w := newWire(t, endpoint, cannedTools)
	rep := p.report(t, w, modern, emptyTool, absentTool, endlessTool, mixedTool, bareTool)
	requireEchoes(t, w.calls(endlessTool))
	require.NotEmpty(t, rep.Calls[endlessTool].Error)
	requireEchoes(t, w.calls(bareTool))
	return loopRow{
		Name:   p.name,
		Empty:  withoutQuestions(t, w.calls(emptyTool), rep.Calls[emptyTool]),
		Absent: withoutQuestions(t, w.calls(absentTool), rep.Calls[absentTool]),
		Mixed:  finished(t, w.calls(mixedTool), rep.Calls[mixedTool]),
		Rounds: fmt.Sprintf("gives up after call %d", len(w.calls(endlessTool))),
		Error:  rep.Calls[endlessTool].Error,
		Bare:   finished(t, w.calls(bareTool), rep.Calls[bareTool]),
	}
}

// finished says whether a client came to the end of a tool that has one.
func finished(t *testing.T, calls []message, out outcome) string {
	requireEchoes(t, calls)
	if out.Error != "" {
		return fmt.Sprintf("gives up after call %d: `%s`", len(calls), out.Error)
	}
	require.Equal(t, outcome{Text: "done"}, out)
	return "done"
}

// withoutQuestions says what a client did with a state and no questions.
func withoutQuestions(t *testing.T, calls []message, out outcome) string {
	requireEchoes(t, calls)
	if len(calls) == 1 {
		require.Equal(t, outcome{}, out)
		return "not retried: its caller gets an empty result"
	}
	require.NotEmpty(t, out.Error)
	shortest := patience
	for i, call := range calls[1:] {
		require.Nil(t, call.Params.InputResponses, "answers to no questions")
		shortest = min(shortest, call.at.Sub(calls[i].at))
	}
	how := "at once"
	if shortest > pauseFloor {
		how = "after a pause"
	}
	return fmt.Sprintf("retried %s, gives up after call %d", how, len(calls))
}

// requireEchoes checks that each call after the first brings the state of the
// answer before, and that there was a call.
func requireEchoes(t *testing.T, calls []message) {
	require.NotEmpty(t, calls)
	requireRetries(t, calls)
	for i, call := range calls[1:] {
		require.Equal(t, cannedState(i+1), *call.Params.RequestState)
	}
	require.False(t, slices.ContainsFunc(calls, func(m message) bool { return m.version != modern }))
}
