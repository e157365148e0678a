package mrtr_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// TestObserverKnows: what an observer can build on when it is called first.
func TestObserverKnows(t *testing.T) {
	var first, last mrtr.RoundInfo
	k := newKit(t, func(s *mrtr.Server) { tool(s, "greet", greet) }, func(o *mrtr.HandlerOptions) {
		o.Observers = append(o.Observers, func(ctx context.Context, i *mrtr.RoundInfo) (context.Context, func()) {
			first = *i
			return ctx, func() { last = *i }
		})
	})
	id := strings.Repeat("i", 62)
	for _, tt := range []struct {
		name             string
		request          request
		method, id, vers string
	}{
		{"a tool", request{name: "greet", id: `"a\u0062"`}, "tools/call", "ab", "2026-07-28"},
		{"the longest id", request{name: "greet", id: `"` + id + `"`}, "tools/call", id, "2026-07-28"},
		{"a longer one", request{name: "greet", id: `"` + id + `i"`}, "tools/call", "", "2026-07-28"},
		{"a number", request{name: "greet", id: "1152921504606846976"}, "tools/call", "1152921504606846976", "2026-07-28"},
		{"a method that is not offered", request{method: "prompts/list"}, "prompts/list", "1", "2026-07-28"},
		{"a method that does not exist", request{method: "tools/secret"}, "", "1", "2026-07-28"},
		{"a version that is not served", request{name: "greet", header: map[string]string{"MCP-Protocol-Version": "2099-01-01"}}, "tools/call", "1", ""},
		{"a handshake client", request{body: `{"jsonrpc":"2.0","id":2,"method":"ping"}`, header: map[string]string{"MCP-Protocol-Version": "2025-06-18", "Mcp-Method": "ping"}}, "ping", "2", "2025-06-18"},
		{"no JSON", request{body: "x"}, "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k.do(tt.request)
			require.Equal(t, tt.method, first.Method)
			require.Equal(t, tt.id, first.RequestID)
			require.Equal(t, tt.method, last.Method)
			require.Equal(t, tt.vers, last.Version)
		})
	}
	require.NotContains(t, k.log(), "tools/secret")
}

// TestObserverTraceparent: what an observer says of the first round's span
// travels in place of the client's, and only that round's.
func TestObserverTraceparent(t *testing.T) {
	const client, server = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-aaaaaaaaaaaaaaaa-01"
	said := server
	k := newKit(t, func(s *mrtr.Server) { tool(s, "greet", greet) }, func(o *mrtr.HandlerOptions) {
		o.Observers = append(o.Observers, func(ctx context.Context, i *mrtr.RoundInfo) (context.Context, func()) {
			i.Traceparent = said
			return ctx, nil
		})
	})
	call := func(params string) *response {
		return k.do(request{name: "greet", params: params})
	}
	for _, tt := range []struct{ said, want string }{{server, server}, {"", client}, {strings.Repeat("0", 56), ""}} {
		said = tt.said
		meta := strings.Replace(metaWith(allCaps), `"_meta":{`, `"_meta":{"traceparent":"`+client+`",`, 1)
		res := k.do(request{name: "greet", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet",` + meta + `}}`})
		state := res.asks(t, "user_name")
		require.Equal(t, tt.want, k.last().Traceparent)
		said = "another"
		call(retry(state, accept("user_name", `{"name":"Alice"}`))).says(t, "Hello, Alice!")
		require.Equal(t, tt.want, k.last().Traceparent)
	}
}

// TestLogContext: the log line is written in the context that observers made.
func TestLogContext(t *testing.T) {
	type key struct{}
	seen := ""
	k := newKit(t, func(s *mrtr.Server) { tool(s, "greet", greet) }, func(o *mrtr.HandlerOptions) {
		o.Observers = append(o.Observers, func(ctx context.Context, _ *mrtr.RoundInfo) (context.Context, func()) {
			return context.WithValue(ctx, key{}, "observed"), nil
		})
		o.Logger = slog.New(contextHandler{o.Logger.Handler(), func(ctx context.Context) { seen, _ = ctx.Value(key{}).(string) }})
	})
	for _, r := range []request{{name: "greet"}, {body: "x"}} {
		seen = ""
		k.do(r)
		require.Equal(t, "observed", seen)
	}
}

// contextHandler shows the context of each record.
type contextHandler struct {
	slog.Handler
	show func(context.Context)
}

func (h contextHandler) Handle(ctx context.Context, r slog.Record) error {
	h.show(ctx)
	return h.Handler.Handle(ctx, r)
}
