package mrtr

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
)

// Step runs fn once in a flow and gives its value back in every later round,
// from the sealed log: work that is slow, costs something or changes something.
// The value is what JSON makes of it, the first time too. An error is not
// logged, so that the next round tries again, but it is sticky within its
// round: later asks and steps return it as well.
//
// A step runs at least once: where a reply is lost, the round that made it is
// run again. Use IdempotencyKey for effects. fn must not ask, and not step.
func Step[T any](ctx context.Context, c *Call, name string, fn func(context.Context) (T, error)) (T, error) {
	var v T
	if err := c.yieldNear(ctx); err != nil {
		return v, err
	}
	raw, err := c.run.Step(name, func() (jsontext.Value, error) {
		first, err := fn(ctx)
		if err != nil {
			return nil, err
		}
		b, err := json.Marshal(first, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("%w: step %q: %w", replay.ErrMisuse, name, notJSON("its value", first, err))
		}
		if c.handler.opts.Verify {
			if err := survives(name, first, b); err != nil {
				return nil, err
			}
		}
		return b, nil
	})
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		var zero T
		return zero, c.run.Fail(fmt.Errorf("%w: the logged value of step %q does not fit its type", replay.ErrDiverged, name))
	}
	return v, nil
}

// survives reports a value that JSON changes: a field without a name in JSON, a
// time with a monotonic clock, an empty slice in place of nil.
func survives[T any](name string, first T, b []byte) error {
	var second T
	if err := json.Unmarshal(b, &second); err != nil {
		return fmt.Errorf("%w: the value of step %q, a %T, cannot be read back from JSON", replay.ErrMisuse, name, first)
	}
	if !reflect.DeepEqual(first, second) {
		return fmt.Errorf("%w: the value of step %q does not survive JSON: what later rounds see differs from what this one made", replay.ErrMisuse, name)
	}
	return nil
}

// Yield ends the round early, so that the client's automatic retry goes on
// after the last step: work that takes longer than a gateway waits is done in
// pieces. It returns an error for the handler to return, or nil where the round
// simply goes on: when nothing was logged since the last yield, when the flow
// has yielded as often as the server allows, and for clients of the handshake
// era. So a loop may yield in every turn.
func (c *Call) Yield() error {
	if c.request.handshake {
		return nil
	}
	_, err := c.run.Yield(c.handler.opts.MaxYields)
	return err
}

// yieldNear yields where the tool wants that and the request's deadline is
// near.
func (c *Call) yieldNear(ctx context.Context) error {
	if c.target.yieldWithin <= 0 {
		return nil
	}
	if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > c.target.yieldWithin {
		return nil
	}
	return c.Yield()
}
