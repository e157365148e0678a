package mrtr_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// observed counts what an observer was told, and keeps the end.
type observed struct {
	begins, ends int
	atBegin      mrtr.RoundInfo
	atEnd        mrtr.RoundInfo
}

// TestObserver: whatever becomes of a request, the observer hears of it once,
// and what it hears in the end is complete.
func TestObserver(t *testing.T) {
	const (
		first  = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		second = "00-1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01"
	)
	var got observed
	observer := func(ctx context.Context, info *mrtr.RoundInfo) (context.Context, func()) {
		got.begins++
		got.atBegin = *info
		return context.WithValue(ctx, flowContextKey{}, "observed"), func() {
			got.ends++
			got.atEnd = *info
		}
	}
	srv := mrtr.NewServer(protocol.Implementation{Name: "observed", Version: "1"}, nil)
	flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		require.Equal(t, "observed", ctx.Value(flowContextKey{}))
		name, err := mrtr.Ask[flowForm](c, "q", "Name?")
		if err != nil {
			return "", err
		}
		switch name.Name {
		case "fails":
			return "", mrtr.Errorf("It failed.")
		case "breaks":
			return "", errors.New("it broke")
		case "panics":
			panic("it panicked")
		}
		return "done", nil
	})(srv)
	handler, err := srv.Handler(mrtr.HandlerOptions{
		Keys: flowKeys(t), Audience: "observed", Observers: []mrtr.Observer{observer}, Logger: slog.New(slog.DiscardHandler), MaxBodyBytes: 10_000,
	})
	require.NoError(t, err)
	send := func(body, traceparent string) (int, string) {
		got = observed{}
		body = strings.Replace(body, "META", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"traceparent":"`+traceparent+`"}`, 1)
		r := httptest.NewRequest(http.MethodPost, "/mcp", io.NopCloser(strings.NewReader(body)))
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "*/*", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "tool"} {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		require.Equal(t, 1, got.begins, body)
		require.Equal(t, 1, got.ends, body)
		require.Equal(t, w.Code, got.atEnd.Status)
		require.Equal(t, w.Body.Len(), got.atEnd.BytesOut)
		if len(body) <= 10_000 {
			require.Equal(t, len(body), got.atEnd.BytesIn)
		}
		require.Positive(t, got.atEnd.Duration)
		require.LessOrEqual(t, got.atEnd.Handler, got.atEnd.Duration)
		require.False(t, got.atEnd.Start.IsZero())
		return w.Code, w.Body.String()
	}

	_, body := send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool",META}}`, first)
	var reply struct {
		Result protocol.InputRequiredResult `json:"result"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &reply))
	state := reply.Result.RequestState
	require.NotEmpty(t, state)
	require.Equal(t, first, got.atBegin.Trace.Traceparent)
	require.False(t, got.atBegin.Start.IsZero())
	asked := got.atEnd
	require.Equal(t, len(state), asked.StateBytes)
	require.Regexp(t, "^[0-9a-f]{32}$", asked.FlowID)
	require.Equal(t, first, asked.Traceparent)

	answered := func(answer string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool","inputResponses":{"q":` + answer + `},"requestState":"` + state + `",META}}`
	}
	call := func(round int, outcome mrtr.Outcome, reason string, code int) mrtr.RoundInfo {
		return mrtr.RoundInfo{Method: "tools/call", Target: "tool", Round: round, FlowID: asked.FlowID, Traceparent: first, Outcome: outcome, Reason: reason, Code: code}
	}
	for _, tt := range []struct {
		name, body string
		want       mrtr.RoundInfo // of what is compared below
	}{
		{"asked again", answered(`{"action":"accept","content":{}}`), call(2, mrtr.OutcomeInputRequired, "invalid_answer", 0)},
		{"done", answered(flowName("x")), call(2, mrtr.OutcomeComplete, "", 0)},
		{"declined", answered(flowDecline), call(2, mrtr.OutcomeToolError, "declined", 0)},
		{"cancelled", answered(flowCancel), call(2, mrtr.OutcomeToolError, "cancelled", 0)},
		{"a public error", answered(flowName("fails")), call(2, mrtr.OutcomeToolError, "", 0)},
		{"another error", answered(flowName("breaks")), call(2, mrtr.OutcomeToolError, "handler_error", 0)},
		{"a panic", answered(flowName("panics")), call(2, mrtr.OutcomeRPCError, "panic", -32603)},
		{"a forged state", strings.Replace(answered(flowName("x")), state, state[:len(state)-4]+"AAAA", 1),
			mrtr.RoundInfo{Method: "tools/call", Target: "tool", Outcome: mrtr.OutcomeRefused, Reason: "forged", Code: -32602}},
		{"headers unlike the body", `{"jsonrpc":"2.0","id":1,"method":"tools/call2","params":{META}}`, mrtr.RoundInfo{Outcome: mrtr.OutcomeRPCError, Code: -32020}},
		{"no JSON", `{`, mrtr.RoundInfo{Outcome: mrtr.OutcomeRPCError, Code: -32700}},
		{"too large", strings.Repeat(" ", 10_001), mrtr.RoundInfo{Outcome: mrtr.OutcomeRPCError, Code: -32600}},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{META}}`, mrtr.RoundInfo{Method: "notifications/cancelled", Outcome: mrtr.OutcomeNotification}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			send(tt.body, second)
			i := got.atEnd
			require.Equal(t, tt.want, mrtr.RoundInfo{
				Method: i.Method, Target: i.Target, Round: i.Round, FlowID: i.FlowID, Traceparent: i.Traceparent,
				Outcome: i.Outcome, Reason: i.Reason, Code: i.Code,
			})
			require.Equal(t, i.Outcome == mrtr.OutcomeInputRequired, i.StateBytes > 0)
			if i.Method != "" {
				require.Equal(t, second, i.Trace.Traceparent)
			}
		})
	}
}

// TestObserverOrder: begun first, ended last; each sees the context of those
// before it; one without an end is fine.
func TestObserverOrder(t *testing.T) {
	var trace []string
	observe := func(name string) mrtr.Observer {
		return func(ctx context.Context, _ *mrtr.RoundInfo) (context.Context, func()) {
			before, _ := ctx.Value(flowContextKey{}).(string)
			trace = append(trace, before+name+" begins")
			return context.WithValue(ctx, flowContextKey{}, before+name), func() { trace = append(trace, name+" ends") }
		}
	}
	h := newFlowHost(t, flowTool(func(ctx context.Context, _ *mrtr.Call) (string, error) {
		trace = append(trace, "handler of "+ctx.Value(flowContextKey{}).(string))
		return "done", nil
	}), func(o *mrtr.HandlerOptions) {
		o.Observers = append(o.Observers, observe("a"), func(ctx context.Context, _ *mrtr.RoundInfo) (context.Context, func()) { return ctx, nil }, observe("b"))
	})
	h.says(h.call("tool", "", nil), "done")
	require.Equal(t, []string{"a begins", "ab begins", "handler of ab", "b ends", "a ends"}, trace)
}
