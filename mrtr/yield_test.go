package mrtr_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// pieces is a tool that works in n steps and yields after each. ran counts
// steps that ran.
func pieces(n int, ran *int) func(*mrtr.Server) {
	return flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		for i := range n {
			if _, err := mrtr.Step(ctx, c, fmt.Sprintf("piece %d", i), func(context.Context) (int, error) {
				*ran++
				return i, nil
			}); err != nil {
				return "", err
			}
			if err := c.Yield(); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("%d pieces in %d rounds", n, c.Round()), nil
	})
}

// A yield is a round without questions: the empty map, upon which clients retry
// at once, and a state.
func TestYield(t *testing.T) {
	ran := 0
	h := newFlowHost(t, pieces(4, &ran))
	r := h.call("tool", "", nil)
	first := h.asks(r)
	require.Contains(t, r.body, `"inputRequests":{}`)
	require.Contains(t, r.body, `"resultType":"input_required"`)
	require.Equal(t, 1, ran)
	second := h.asks(h.call("tool", first, flowAnswers{}))
	require.Equal(t, 2, ran)
	// A flow yields twice at most: then the rest is done at once.
	h.says(h.call("tool", second, flowAnswers{}), "4 pieces in 3 rounds")
	require.Equal(t, 4, ran)
	// A yield whose reply was lost: only what came after it is done again.
	second = h.asks(h.call("tool", first, nil))
	h.says(h.call("tool", second, nil), "4 pieces in 3 rounds")
	require.Equal(t, 4+3, ran)
}

func TestYieldCap(t *testing.T) {
	for limit, rounds := range map[int]int{0: 3, 1: 2, 5: 6, -1: 1} {
		ran := 0
		h := newFlowHost(t, pieces(8, &ran), func(o *mrtr.HandlerOptions) { o.MaxYields = limit })
		r := h.call("tool", "", nil)
		for r.result.State != "" {
			r = h.call("tool", h.asks(r), nil)
		}
		h.says(r, fmt.Sprintf("8 pieces in %d rounds", rounds))
		require.Equal(t, 8, ran)
	}
}

// A yield is nothing where the log has not grown since the last one: a loop
// that waits cannot spin the client.
func TestYieldWithoutGrowth(t *testing.T) {
	var yields []error
	h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		yields = append(yields, c.Yield()) // nothing is logged yet
		if _, err := mrtr.Step(ctx, c, "work", func(context.Context) (int, error) { return 1, nil }); err != nil {
			return "", err
		}
		if err := c.Yield(); err != nil {
			return "", err
		}
		yields = append(yields, c.Yield(), c.Yield())
		name, err := mrtr.Ask[flowForm](c, "name", "Name?")
		if err != nil {
			return "", err
		}
		yields = append(yields, c.Yield()) // an answer is growth
		return name.Name, nil
	}), func(o *mrtr.HandlerOptions) { o.MaxYields = 9 })
	state := h.asks(h.call("tool", "", nil))
	state = h.asks(h.call("tool", state, nil), "name")
	require.Equal(t, make([]error, 4), yields)
	h.asks(h.call("tool", state, flowAnswers{"name": flowName("Bo")}))
	require.Error(t, yields[len(yields)-1])
}

// A handler that swallows a yield's error has yielded all the same.
func TestYieldSwallowed(t *testing.T) {
	h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		_, _ = mrtr.Step(ctx, c, "first", func(context.Context) (int, error) { return 1, nil })
		_ = c.Yield()
		_, _ = mrtr.Step(ctx, c, "second", func(context.Context) (int, error) {
			if c.Round() == 1 {
				t.Error("a step ran after a yield")
			}
			return 1, nil
		})
		return "done", nil
	}))
	r := h.call("tool", "", nil)
	state := h.asks(r)
	require.True(t, r.info.Swallowed)
	h.says(h.call("tool", state, nil), "done")
}

// A yield counts as a round, and answers that come with its retry count for
// nothing that was not asked.
func TestYieldAndAnswers(t *testing.T) {
	h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		if _, err := mrtr.Step(ctx, c, "work", func(context.Context) (int, error) { return 1, nil }); err != nil {
			return "", err
		}
		if err := c.Yield(); err != nil {
			return "", err
		}
		name, err := mrtr.Ask[flowForm](c, "name", "Name?")
		return name.Name, err
	}))
	state := h.asks(h.call("tool", "", nil))
	state = h.asks(h.call("tool", state, flowAnswers{"name": flowName("too early")}), "name")
	r := h.call("tool", state, flowAnswers{"name": flowName("Bo")})
	h.says(r, "Bo")
	require.Equal(t, 3, r.info.Round)
}

// Clients of the handshake era know no round without questions.
func TestYieldHandshake(t *testing.T) {
	ran := 0
	h := newFlowHost(t, pieces(4, &ran))
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool"}}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	h.says(h.do(r), "4 pieces in 1 rounds")
	require.Equal(t, 4, ran)
}

// YieldWithin: a step that would begin near the request's deadline is left to
// the next round.
func TestYieldWithin(t *testing.T) {
	for _, tt := range []struct {
		name   string
		within time.Duration
		left   time.Duration // 0: no deadline
		rounds int
	}{
		{"near", time.Hour, time.Minute, 3},
		{"far", time.Second, time.Minute, 1},
		{"no deadline", time.Hour, 0, 1},
		{"not wanted", 0, time.Minute, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ran := 0
			h := newFlowHost(t, flowToolOf(mrtr.Tool{Name: "tool", YieldWithin: tt.within}, func(ctx context.Context, c *mrtr.Call) (string, error) {
				for i := range 5 {
					if _, err := mrtr.Step(ctx, c, fmt.Sprintf("piece %d", i), func(context.Context) (int, error) {
						ran++
						return i, nil
					}); err != nil {
						return "", err
					}
				}
				return fmt.Sprintf("%d rounds", c.Round()), nil
			}))
			ctx := t.Context()
			if tt.left > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, tt.left)
				defer cancel()
			}
			r := h.callContext(ctx, "tool", "", nil)
			for r.result.State != "" {
				r = h.callContext(ctx, "tool", h.asks(r), nil)
			}
			h.says(r, fmt.Sprintf("%d rounds", tt.rounds))
			require.Equal(t, 5, ran)
		})
	}
}
