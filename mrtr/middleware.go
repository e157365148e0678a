package mrtr

import (
	"context"
	"errors"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Method is what a middleware knows of the request that it wraps. The caller is
// in the context; see PrincipalFrom.
type Method struct {
	Name   string // MCP method, such as tools/call
	Target string // registered tool, prompt or resource; empty where there is none
	FlowID string // 32 hex digits; empty in a flow's first round and outside flows
	Round  int    // from 1; 0 outside flows
}

// Middleware wraps every method that a server answers: it calls next, with a
// context of its own if it likes, and returns next's error or another one. An
// error of a tool, a prompt or a resource is treated as its handler's; of other
// methods, an error of Errorf reaches the client, and any other is an internal
// error. A round that asks is no error. Requests that are refused before they
// reach a method (headers, states, unknown names) do not come here; see Observer.
type Middleware func(ctx context.Context, m Method, next func(context.Context) error) error

var errNotCalled = errors.New("a middleware returned neither an error nor called next")

// through serves a method behind the server's middleware, the first outermost.
func (h *handler) through(ctx context.Context, m Method, serve func(context.Context) (jsontext.Value, error)) (jsontext.Value, error) {
	if len(h.opts.Middleware) == 0 {
		return serve(ctx)
	}
	var result jsontext.Value
	next := func(ctx context.Context) (err error) {
		result, err = serve(ctx)
		return err
	}
	for _, wrap := range slices.Backward(h.opts.Middleware) {
		inner := next
		next = func(ctx context.Context) error { return wrap(ctx, m, inner) }
	}
	if err := next(ctx); err != nil {
		return nil, err
	}
	if result == nil {
		return nil, internal("middleware", errNotCalled)
	}
	return result, nil
}
