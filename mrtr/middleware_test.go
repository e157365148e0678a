package mrtr_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

type flowContextKey struct{}

func wrapped(ms ...mrtr.Middleware) func(*mrtr.HandlerOptions) {
	return func(o *mrtr.HandlerOptions) { o.Middleware = ms }
}

// named is a middleware that notes that it was there, and passes its name on.
func named(name string, trace *[]string) mrtr.Middleware {
	return func(ctx context.Context, m mrtr.Method, next func(context.Context) error) error {
		*trace = append(*trace, name+" in")
		before, _ := ctx.Value(flowContextKey{}).(string)
		err := next(context.WithValue(ctx, flowContextKey{}, before+name))
		*trace = append(*trace, name+" out")
		return err
	}
}

func TestMiddlewareOrder(t *testing.T) {
	var trace []string
	h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		trace = append(trace, "handler")
		if _, err := mrtr.Ask[flowForm](c, "q", "Name?"); err != nil {
			return "", err
		}
		return ctx.Value(flowContextKey{}).(string), nil
	}), wrapped(named("a", &trace), named("b", &trace), named("c", &trace)))
	state := h.asks(h.call("tool", "", nil), "q") // a round that asks is no error
	around := []string{"a in", "b in", "c in", "handler", "c out", "b out", "a out"}
	require.Equal(t, around, trace)
	h.says(h.call("tool", state, flowAnswers{"q": flowName("x")}), "abc")
	require.Equal(t, append(around, around...), trace)
}

func TestMiddlewareSees(t *testing.T) {
	var seen []mrtr.Method
	var callers []mrtr.Principal
	h := newFlowHost(t, func(s *mrtr.Server) {
		ask := func(c *mrtr.Call) error {
			_, err := mrtr.Ask[flowForm](c, "q", "Name?")
			return err
		}
		flowTool(func(_ context.Context, c *mrtr.Call) (string, error) { return "done", ask(c) })(s)
		mrtr.AddPrompt(s, mrtr.Prompt{Name: "prompt"}, func(_ context.Context, c *mrtr.Call, _ map[string]string) (*protocol.GetPromptResult, error) {
			return &protocol.GetPromptResult{}, ask(c)
		})
		mrtr.AddResource(s, mrtr.Resource{URI: "test://one", Name: "one"}, func(_ context.Context, c *mrtr.Call) ([]protocol.ResourceContents, error) {
			return []protocol.ResourceContents{{URI: "test://one", Text: "1"}}, ask(c)
		})
		mrtr.AddResourceTemplate(s, mrtr.ResourceTemplate{URITemplate: "test://n/{n}", Name: "n"}, func(_ context.Context, c *mrtr.Call, uri string, _ map[string]string) ([]protocol.ResourceContents, error) {
			return []protocol.ResourceContents{{URI: uri, Text: "n"}}, ask(c)
		})
	}, wrapped(func(ctx context.Context, m mrtr.Method, next func(context.Context) error) error {
		seen = append(seen, m)
		p, _ := mrtr.PrincipalFrom(ctx)
		callers = append(callers, p)
		return next(ctx)
	}))
	for _, tt := range []struct{ method, name, target string }{
		{protocol.MethodCallTool, "tool", "tool"},
		{protocol.MethodGetPrompt, "prompt", "prompt"},
		{protocol.MethodReadResource, "test://one", "test://one"},
		{protocol.MethodReadResource, "test://n/7", "test://n/{n}"},
	} {
		seen, callers, h.method = nil, nil, tt.method
		first := h.call(tt.name, "", nil)
		state := h.asks(first, "q")
		last := h.call(tt.name, state, flowAnswers{"q": flowName("x")})
		require.Nil(t, last.err, last.body)
		flow := first.info.FlowID
		require.Regexp(t, "^[0-9a-f]{32}$", flow)
		require.Equal(t, []mrtr.Method{
			{Name: tt.method, Target: tt.target, Round: 1},
			{Name: tt.method, Target: tt.target, FlowID: flow, Round: 2},
		}, seen)
		require.Equal(t, []mrtr.Principal{flowAlice, flowAlice}, callers)
	}
}

// Every method that is answered is wrapped, not calls alone.
func TestMiddlewareMethods(t *testing.T) {
	var seen []mrtr.Method
	h := newFlowHost(t, flowTool(func(context.Context, *mrtr.Call) (string, error) { return "done", nil }), wrapped(
		func(ctx context.Context, m mrtr.Method, next func(context.Context) error) error {
			seen = append(seen, m)
			return next(ctx)
		}))
	for _, method := range []string{protocol.MethodDiscover, protocol.MethodListTools, protocol.MethodSubscriptionsListen} {
		seen = nil
		body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{}}}`
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "*/*", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method} {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, r)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		require.Equal(t, []mrtr.Method{{Name: method}}, seen)
	}
	// What is refused before a method is reached is not.
	seen = nil
	require.Equal(t, "unknown_version", h.restarts(h.call("tool", "AAAA", nil)))
	require.NotNil(t, h.call("unknown", "", nil).err)
	require.Empty(t, seen)
}

func TestMiddlewareErrors(t *testing.T) {
	internal := "error -32603: Internal error"
	for _, tt := range []struct {
		name   string
		wrap   func(ctx context.Context, next func(context.Context) error) error
		runs   bool   // the handler
		text   string // of a result with isError
		err    string // of the request; empty: none
		reason string
	}{
		{"a public error in place of the call", func(context.Context, func(context.Context) error) error { return mrtr.Errorf("Come back later.") }, false, "Come back later.", "", ""},
		{"another error in place of the call", func(context.Context, func(context.Context) error) error { return errors.New("hidden") }, false, "The tool failed. The reason is in the server's log.", "", "handler_error"},
		{"neither error nor call", func(context.Context, func(context.Context) error) error { return nil }, false, "", internal, "middleware"},
		{"an error after the call", func(ctx context.Context, next func(context.Context) error) error {
			if err := next(ctx); err != nil {
				return err
			}
			return mrtr.Errorf("Too late.")
		}, true, "Too late.", "", ""},
		{"the handler's error, wrapped", func(ctx context.Context, next func(context.Context) error) error {
			return fmt.Errorf("wrapping: %w", next(ctx))
		}, true, "Not today.", "", ""},
		{"the handler's error in place of another", func(ctx context.Context, next func(context.Context) error) error {
			err := next(ctx)
			if errors.Is(err, errNotToday) {
				return mrtr.Errorf("But tomorrow.")
			}
			return err
		}, true, "But tomorrow.", "", ""},
		{"a panic", func(context.Context, func(context.Context) error) error { panic("hidden") }, false, "", internal, "panic"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ran := false
			var fail error
			if strings.HasPrefix(tt.name, "the handler's error") {
				fail = errNotToday
			}
			h := newFlowHost(t, flowTool(func(context.Context, *mrtr.Call) (string, error) {
				ran = true
				return "done", fail
			}), wrapped(func(ctx context.Context, _ mrtr.Method, next func(context.Context) error) error {
				return tt.wrap(ctx, next)
			}))
			r := h.call("tool", "", nil)
			require.Equal(t, tt.runs, ran)
			require.Equal(t, tt.reason, r.info.Reason)
			require.NotContains(t, r.body, "hidden")
			if tt.err != "" {
				require.EqualError(t, r.err, tt.err)
				return
			}
			h.fails(r, tt.text)
		})
	}
}

var errNotToday = mrtr.Errorf("Not today.")

// A middleware that stops a round that asked sends no state.
func TestMiddlewareStopsQuestions(t *testing.T) {
	h := newFlowHost(t, flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
		_, err := mrtr.Ask[flowForm](c, "q", "Name?")
		return "", err
	}), wrapped(func(ctx context.Context, _ mrtr.Method, next func(context.Context) error) error {
		if err := next(ctx); err != nil {
			return err
		}
		return mrtr.Errorf("No questions today.")
	}))
	r := h.call("tool", "", nil)
	h.fails(r, "No questions today.")
	require.Empty(t, r.result.State)
	require.Zero(t, r.info.StateBytes)
}
