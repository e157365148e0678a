package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
)

// parent returns a traceparent, another for each n.
func parent(n int) string {
	return fmt.Sprintf("00-4bf92f3577b34da6a3ce929d0e0e4736-%016x-01", n)
}

func TestTraceLinks(t *testing.T) {
	q := ask("s", "name", form("?", nameSchema))
	traced := func(_ context.Context, round int) map[string]any {
		return map[string]any{"traceparent": parent(round), "tracestate": "a=1", "baggage": "k=v"}
	}
	for _, tt := range []struct {
		name    string
		replies []string
		opts    client.Options
		own     []string // the link of each round under our own key
		other   []string // and under the reserved one
	}{
		{"none", []string{q, done}, client.Options{}, []string{"", ""}, []string{"", ""}},
		{"links", []string{q, q, done}, client.Options{Meta: traced}, []string{"", parent(1), parent(1)}, []string{"", "", ""}},
		{"both", []string{q, done}, client.Options{Meta: traced, ReservedTraceLink: true}, []string{"", parent(1)}, []string{"", parent(1)}},
		{"over a fresh start", []string{q, restart, q, done}, client.Options{Meta: traced}, []string{"", parent(1), parent(1), parent(1)}, []string{"", "", "", ""}},
		{"the caller's value wins", []string{q, done}, client.Options{ReservedTraceLink: true, Meta: func(_ context.Context, round int) map[string]any {
			return map[string]any{"traceparent": parent(round), client.MetaTraceLink: "mine"}
		}}, []string{"mine", "mine"}, []string{"", parent(1)}},
		{"nothing in round 1", []string{q, done}, client.Options{Meta: func(_ context.Context, round int) map[string]any {
			if round == 1 {
				return nil
			}
			return map[string]any{"traceparent": parent(round)}
		}}, []string{"", ""}, []string{"", ""}},
		{"not one", []string{q, done}, client.Options{Meta: func(context.Context, int) map[string]any {
			return map[string]any{"traceparent": "secret"}
		}}, []string{"", ""}, []string{"", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{answer: say(tt.replies...)}
			h := fill(map[string]string{"name": `{"name":"x"}`})
			_, err := client.CallToolWithInputs(t.Context(), connect(t, f.start(t), h, ""), "t", nil, client.DefaultInputHandler(h), &tt.opts)
			require.NoError(t, err)
			require.Len(t, f.calls, len(tt.own))
			value := func(raw json.RawMessage) string {
				var s string
				if raw != nil {
					require.NoError(t, json.Unmarshal(raw, &s))
				}
				return s
			}
			for i, r := range f.calls {
				require.Equal(t, tt.own[i], value(r.Params.Meta[client.MetaTraceLink]), "round %d", i+1)
				require.Equal(t, tt.other[i], value(r.Params.Meta[client.MetaTraceLinkOther]), "round %d", i+1)
				if tt.name == "links" {
					require.Equal(t, parent(i+1), value(r.Params.Meta["traceparent"]))
					require.Equal(t, "a=1", value(r.Params.Meta["tracestate"]))
					require.Equal(t, "k=v", value(r.Params.Meta["baggage"]))
				}
			}
		})
	}
}

// TestTraceLinkAtOurServer holds that the server reads what the client writes,
// also after a reload.
func TestTraceLinkAtOurServer(t *testing.T) {
	require.Equal(t, mrtr.MetaTraceLink, client.MetaTraceLink)
	require.Equal(t, mrtr.MetaTraceLinkOther, client.MetaTraceLinkOther)
	var mu sync.Mutex
	var links []string
	s := mrtr.NewServer(serverInfo, nil)
	fixture.Register(s)
	url := endpoint(t, s, func(o *mrtr.HandlerOptions) {
		o.Observers = []mrtr.Observer{func(ctx context.Context, info *mrtr.RoundInfo) (context.Context, func()) {
			if info.Method == "tools/call" {
				mu.Lock()
				defer mu.Unlock()
				links = append(links, info.Trace.Link)
			}
			return ctx, nil
		}}
	})
	h := fill(fixtureAnswers)
	session := connect(t, url, h, "")
	flow, err := client.NewToolCall("test_incomplete_result_multi_round", nil)
	require.NoError(t, err)
	opts := &client.Options{Meta: func(_ context.Context, round int) map[string]any {
		return map[string]any{"traceparent": parent(round)}
	}}
	require.NoError(t, flow.Step(t.Context(), session, opts))
	flow = reload(t, flow)
	require.NoError(t, flow.Run(t.Context(), session, client.DefaultInputHandler(h), opts))
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{"", parent(1), parent(1)}, links)
}

func TestTraceparents(t *testing.T) {
	q := ask("s", "name", form("?", nameSchema))
	for value, good := range map[string]bool{
		parent(1): true,
		"01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more": true,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more": false,
		"ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01":      false,
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01":      false,
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01":      false,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01":      false,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7":         false,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1":       false,
		"": false,
	} {
		f := &fake{answer: say(q, done)}
		h := fill(map[string]string{"name": `{"name":"x"}`})
		_, err := client.CallToolWithInputs(t.Context(), connect(t, f.start(t), h, ""), "t", nil, client.DefaultInputHandler(h), &client.Options{
			Meta: func(context.Context, int) map[string]any { return map[string]any{"traceparent": value} },
		})
		require.NoError(t, err)
		_, linked := f.calls[1].Params.Meta[client.MetaTraceLink]
		require.Equal(t, good, linked, value)
	}
}

func TestOnRound(t *testing.T) {
	for _, events := range []bool{false, true} {
		f := &fake{events: events, answer: say(ask("s1", "name", form("?", nameSchema)), restart, ask("s2", "name", form("?", nameSchema)), done)}
		h := fill(map[string]string{"name": `{"name":"x"}`})
		var got []client.Exchange
		_, err := client.CallToolWithInputs(t.Context(), connect(t, f.start(t), h, ""), "t", nil, client.DefaultInputHandler(h), &client.Options{
			OnRound: func(x client.Exchange) { got = append(got, x) },
		})
		require.NoError(t, err)
		require.Len(t, got, 4)
		for i, x := range got {
			require.Equal(t, i+1, x.Round)
			require.True(t, x.Request.IsValid())
			require.Contains(t, string(x.Request), `"method":"tools/call"`)
			require.True(t, x.Response.IsValid())
		}
		require.Contains(t, string(got[1].Request), `"requestState":"s1"`)
		require.Contains(t, string(got[1].Response), `"restart":true`)
		require.NotContains(t, string(got[2].Request), `requestState`)
	}
}
