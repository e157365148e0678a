package mrtr_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

func TestStepRunsOnce(t *testing.T) {
	type value struct {
		N     int
		Local int `json:"-"`
	}
	runs := 0
	h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		v, err := mrtr.Step(ctx, c, "work", func(context.Context) (value, error) {
			runs++
			return value{N: runs, Local: 7}, nil
		})
		if err != nil {
			return "", err
		}
		name, err := mrtr.Ask[flowForm](c, "name", "Name?")
		return fmt.Sprintf("%s: %d, %d", name.Name, v.N, v.Local), err
	}))
	state := h.asks(h.call("tool", "", nil), "name")
	state = h.asks(h.call("tool", state, nil), "name")
	// What JSON does not carry is not there, in the round that made it either.
	h.says(h.call("tool", state, flowAnswers{"name": flowName("Bo")}), "Bo: 1, 0")
	require.Equal(t, 1, runs)

	// A first round that is sent twice is two flows.
	h.asks(h.call("tool", "", nil), "name")
	require.Equal(t, 2, runs)
}

// A step that fails is run again in the next round; what was logged before it
// stays.
func TestStepFails(t *testing.T) {
	var ran []string
	var broken error
	h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		name, err := mrtr.Ask[flowForm](c, "name", "Name?")
		if err != nil {
			return "", err
		}
		for _, step := range []string{"first", "second"} {
			if _, err := mrtr.Step(ctx, c, step, func(context.Context) (bool, error) {
				ran = append(ran, step)
				if step == "second" {
					return false, broken
				}
				return true, nil
			}); err != nil {
				return "", err
			}
		}
		return name.Name, nil
	}))
	state := h.asks(h.call("tool", "", nil), "name")
	broken = errors.New("the secret reason")
	r := h.call("tool", state, flowAnswers{"name": flowName("Bo")})
	h.fails(r, "The tool failed. The reason is in the server's log.")
	require.Equal(t, "handler_error", r.info.Reason)
	require.ErrorIs(t, r.info.Err, broken)
	broken = nil
	h.says(h.call("tool", state, flowAnswers{"name": flowName("Bo")}), "Bo")
	require.Equal(t, []string{"first", "second", "first", "second"}, ran)
}

// A handler that swallows a step's error gets it again from whatever it asks
// next, and the client sees it; the flow's next round is none the worse.
func TestStepErrorSwallowed(t *testing.T) {
	var broken error
	var later []error
	h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		name, err := mrtr.Ask[flowForm](c, "name", "Name?")
		if err != nil {
			return "", err
		}
		rate, _ := mrtr.Step(ctx, c, "rate", func(context.Context) (int, error) { return 7, broken })
		_, err = mrtr.Step(ctx, c, "never", func(context.Context) (int, error) {
			if broken != nil {
				t.Error("a step ran after one that failed")
			}
			return 0, nil
		})
		later = append(later, err, mrtr.Confirm(c, "confirm", "Sure?"))
		if broken != nil {
			later = append(later, c.Yield())
		}
		return fmt.Sprintf("%s: %d", name.Name, rate), nil
	}))
	first := h.asks(h.call("tool", "", nil), "name")

	broken = mrtr.Errorf("The rate service is down.")
	h.fails(h.call("tool", first, flowAnswers{"name": flowName("Bo")}), "The rate service is down.")
	for _, err := range later {
		require.Equal(t, broken, err)
	}
	broken = errors.New("the secret reason")
	h.fails(h.call("tool", first, flowAnswers{"name": flowName("Bo")}), "The tool failed. The reason is in the server's log.")

	broken, later = nil, nil
	state := h.asks(h.call("tool", first, flowAnswers{"name": flowName("Bo")}), "confirm")
	h.says(h.call("tool", state, flowAnswers{"confirm": flowYes}), "Bo: 7")
}

func TestIdempotencyKey(t *testing.T) {
	type keys struct{ refund, again, ship string }
	var got []keys
	h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		if c.Round() == 1 {
			_, err := c.IdempotencyKey("refund")
			require.ErrorIs(t, err, mrtr.ErrNoFlow)
			require.ErrorContains(t, err, "ask something first")
		}
		for _, key := range []string{"a", "b", "c"} {
			if _, err := mrtr.Ask[flowForm](c, key, "Name?"); err != nil {
				return "", err
			}
			var k keys
			var err error
			k.refund, err = c.IdempotencyKey("refund")
			require.NoError(t, err)
			_, err = mrtr.Step(ctx, c, "work "+key, func(context.Context) (bool, error) {
				k.again, err = c.IdempotencyKey("refund")
				return true, err
			})
			require.NoError(t, err)
			k.ship, err = c.IdempotencyKey("ship")
			require.NoError(t, err)
			if k.again != "" { // the step ran in this round
				got = append(got, k)
			}
		}
		return "done", nil
	}))
	flow := func() []keys {
		got = nil
		state := h.asks(h.call("tool", "", nil), "a")
		state = h.asks(h.call("tool", state, flowAnswers{"a": flowName("x")}), "b")
		h.asks(h.call("tool", state, flowAnswers{"b": flowName("other")}), "c") // its reply is lost
		state = h.asks(h.call("tool", state, flowAnswers{"b": flowName("y")}), "c")
		h.says(h.call("tool", state, flowAnswers{"c": flowName("z")}), "done")
		return got
	}
	first := flow()
	require.Len(t, first, 4)
	for _, k := range first {
		require.Equal(t, first[0], k, "keys change within a flow")
	}
	require.Regexp(t, "^[0-9a-f]{64}$", first[0].refund)
	require.Equal(t, first[0].refund, first[0].again)
	require.NotEqual(t, first[0].refund, first[0].ship)
	second := flow()
	require.NotEqual(t, first[0].refund, second[0].refund)
	for _, k := range []string{first[0].refund, first[0].ship, second[0].refund} {
		require.NotContains(t, h.log.String(), k[:8])
	}
}

// A handler that passes on ErrNoFlow fails in words for its author.
func TestIdempotencyKeyInFirstRound(t *testing.T) {
	h := newFlowHost(t, flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
		_, err := c.IdempotencyKey("refund")
		return "", err
	}))
	r := h.call("tool", "", nil)
	h.fails(r, "The tool failed. The reason is in the server's log.")
	require.ErrorIs(t, r.info.Err, mrtr.ErrNoFlow)
}

func TestStepMisuse(t *testing.T) {
	done := func(context.Context) (int, error) { return 1, nil }
	for _, tt := range []struct {
		name   string
		handle func(ctx context.Context, c *mrtr.Call) error
		want   string
	}{
		{"ask inside a step", func(ctx context.Context, c *mrtr.Call) error {
			_, err := mrtr.Step(ctx, c, "outer", func(context.Context) (flowForm, error) { return mrtr.Ask[flowForm](c, "q", "Name?") })
			return err
		}, "inside a step"},
		{"ask inside a step, its error swallowed", func(ctx context.Context, c *mrtr.Call) error {
			_, err := mrtr.Step(ctx, c, "outer", func(context.Context) (int, error) {
				_ = mrtr.Confirm(c, "q", "Sure?")
				return 1, nil
			})
			_ = err
			return nil
		}, "inside a step"},
		{"step inside a step", func(ctx context.Context, c *mrtr.Call) error {
			_, err := mrtr.Step(ctx, c, "outer", func(ctx context.Context) (int, error) { return mrtr.Step(ctx, c, "inner", done) })
			return err
		}, "inside a step"},
		{"yield inside a step", func(ctx context.Context, c *mrtr.Call) error {
			_, err := mrtr.Step(ctx, c, "outer", func(context.Context) (int, error) { return 1, c.Yield() })
			return err
		}, "inside a step"},
		{"one name twice", func(ctx context.Context, c *mrtr.Call) error {
			_, _ = mrtr.Step(ctx, c, "work", done)
			_, err := mrtr.Step(ctx, c, "work", done)
			return err
		}, `step "work" twice`},
		{"no name", func(ctx context.Context, c *mrtr.Call) error {
			_, err := mrtr.Step(ctx, c, "", done)
			return err
		}, "without a name"},
		{"a value that is no JSON", func(ctx context.Context, c *mrtr.Call) error {
			_, err := mrtr.Step(ctx, c, "work", func(context.Context) (func(), error) { return func() {}, nil })
			return err
		}, `step "work": its value`},
		{"one key twice", func(_ context.Context, c *mrtr.Call) error {
			var a, b flowForm
			return mrtr.AskAll(c, mrtr.Form("q", "A?", &a), mrtr.Form("q", "B?", &b))
		}, `question "q" twice`},
		{"no questions", func(_ context.Context, c *mrtr.Call) error { return mrtr.AskAll(c) }, "without questions"},
		{"a question that nothing made", func(_ context.Context, c *mrtr.Call) error {
			return mrtr.AskAll(c, mrtr.Question{})
		}, "no constructor made"},
		{"a form that cannot be asked", func(_ context.Context, c *mrtr.Call) error {
			_, err := mrtr.Ask[struct{ Map map[string]string }](c, "q", "What?")
			return err
		}, "a form cannot ask for a map[string]string"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) { return "done", tt.handle(ctx, c) }))
			require.Contains(t, h.broken(h.call("tool", "", nil), "misuse"), tt.want)
		})
	}
}

// Two goroutines on one call are reported, whoever wins.
func TestStepTwoGoroutines(t *testing.T) {
	h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		inside, outside := make(chan struct{}), make(chan struct{})
		go func() {
			<-inside
			_ = mrtr.Confirm(c, "q", "Sure?")
			close(outside)
		}()
		_, err := mrtr.Step(ctx, c, "work", func(context.Context) (int, error) {
			close(inside)
			<-outside
			return 1, nil
		})
		return "done", err
	}))
	require.Contains(t, h.broken(h.call("tool", "", nil), "misuse"), "two goroutines at once")
}

// A call that has ended is of no use any more.
func TestStepAfterTheCall(t *testing.T) {
	var kept *mrtr.Call
	h := newFlowHost(t, flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
		kept = c
		return "done", nil
	}))
	h.says(h.call("tool", "", nil), "done")
	_, err := mrtr.Step(t.Context(), kept, "late", func(context.Context) (int, error) {
		t.Error("the step ran")
		return 0, nil
	})
	require.ErrorContains(t, err, "the call has ended")
	require.ErrorContains(t, mrtr.Confirm(kept, "late", "Sure?"), "the call has ended")
	require.ErrorContains(t, kept.Yield(), "the call has ended")
}

func TestStepVerify(t *testing.T) {
	type hidden struct {
		Shown  int
		Hidden int `json:"-"`
	}
	step := func(v any) func(*mrtr.Server) {
		return flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
			var err error
			switch v := v.(type) {
			case hidden:
				_, err = mrtr.Step(ctx, c, "work", func(context.Context) (hidden, error) { return v, nil })
			case time.Time:
				_, err = mrtr.Step(ctx, c, "work", func(context.Context) (time.Time, error) { return v, nil })
			case []string:
				_, err = mrtr.Step(ctx, c, "work", func(context.Context) ([]string, error) { return v, nil })
			}
			return "done", err
		})
	}
	verify := func(o *mrtr.HandlerOptions) { o.Verify = true }
	for _, v := range []any{hidden{1, 2}, time.Now(), []string(nil)} {
		h := newFlowHost(t, step(v), verify)
		require.Contains(t, h.broken(h.call("tool", "", nil), "misuse"), `the value of step "work" does not survive JSON`)
		h = newFlowHost(t, step(v))
		h.says(h.call("tool", "", nil), "done")
	}
	for _, v := range []any{hidden{1, 0}, time.Unix(1_700_000_000, 5).UTC(), []string{"a"}} {
		h := newFlowHost(t, step(v), verify)
		h.says(h.call("tool", "", nil), "done")
	}
}

// The next round's code reads a step's value as another type.
func TestStepOtherType(t *testing.T) {
	build := func(text bool) *flowHost {
		return newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
			var err error
			if text {
				_, err = mrtr.Step(ctx, c, "work", func(context.Context) (string, error) { return "one", nil })
			} else {
				_, err = mrtr.Step(ctx, c, "work", func(context.Context) (int, error) { return 1, nil })
			}
			if err != nil {
				return "", err
			}
			_, err = mrtr.Ask[flowForm](c, "name", "Name?")
			return "done", err
		}))
	}
	old, next := build(true), build(false)
	state := old.asks(old.call("tool", "", nil), "name")
	r := next.call("tool", state, flowAnswers{"name": flowName("Bo")})
	require.Equal(t, "diverged", next.restarts(r))
	require.ErrorContains(t, r.info.Err, `the logged value of step "work" does not fit its type`)
	require.NotContains(t, next.log.String(), "one", "the value is not for the log")
	old.says(old.call("tool", state, flowAnswers{"name": flowName("Bo")}), "done")
}
