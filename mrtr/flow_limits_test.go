package mrtr_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// TestFlowIdempotencyKey: one a flow and step, none before there is a flow.
func TestFlowIdempotencyKey(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "pay", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			key, err := c.IdempotencyKey("charge")
			if c.Round() == 1 {
				require.ErrorIs(t, err, mrtr.ErrNoFlow)
				require.Empty(t, key)
			}
			if _, err := mrtr.Ask[nameForm](c, "user_name", "Who pays?"); err != nil {
				return nil, err
			}
			if _, err := mrtr.Ask[nameForm](c, "second", "Who gets it?"); err != nil {
				return nil, mrtr.Errorf("%w", err)
			}
			refund, _ := c.IdempotencyKey("refund")
			return mrtr.Text(key + " " + refund), nil
		})
	}, nil)
	play := func() (third, twin string) {
		state := k.do(request{name: "pay"}).asks(t, "user_name")
		state = k.do(request{name: "pay", params: retry(state, accept("user_name", `{"name":"a"}`))}).asks(t, "second")
		last := request{name: "pay", params: retry(state, accept("second", `{"name":"b"}`))}
		return k.do(last).text(), k.do(last).text()
	}
	one, twin := play()
	require.Equal(t, one, twin, "a retry has the same keys")
	require.Regexp(t, `^[0-9a-f]{64} [0-9a-f]{64}$`, one)
	require.NotEqual(t, one[:64], one[65:], "another step has another key")
	two, _ := play()
	require.NotEqual(t, one, two, "another flow has other keys")
	require.NotContains(t, k.log(), one[:64])
}

// TestFlowLimits: rounds and size end a flow with an error for the log.
func TestFlowLimits(t *testing.T) {
	register := func(s *mrtr.Server) {
		tool(s, "endless", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			for i := 0; ; i++ {
				if _, err := mrtr.Ask[nameForm](c, fmt.Sprint("q", i), "And?"); err != nil {
					return nil, err
				}
			}
		})
	}
	answer := func(i int, text string) string {
		return accept(fmt.Sprint("q", i), `{"name":`+quote(text)+`}`)
	}
	t.Run("rounds", func(t *testing.T) {
		k := newKit(t, register, func(o *mrtr.HandlerOptions) { o.MaxRounds = 4 })
		state := k.do(request{name: "endless"}).asks(t, "q0")
		for i := range 2 {
			state = k.do(request{name: "endless", params: retry(state, answer(i, "x"))}).asks(t, fmt.Sprint("q", i+1))
		}
		res := k.do(request{name: "endless", params: retry(state, answer(2, "x"))})
		res.failed(t, 200, -32603)
		require.Equal(t, "too_many_rounds", k.last().Reason)
	})
	t.Run("size", func(t *testing.T) {
		k := newKit(t, register, func(o *mrtr.HandlerOptions) { o.MaxStateBytes = 4000 })
		state := k.do(request{name: "endless"}).asks(t, "q0")
		state = k.do(request{name: "endless", params: retry(state, answer(0, "small"))}).asks(t, "q1")
		state = k.do(request{name: "endless", params: retry(state, answer(1, strings.Repeat("m", 1000)))}).asks(t, "q2")
		res := k.do(request{name: "endless", params: retry(state, answer(2, strings.Repeat("l", 2000)))})
		res.failed(t, 200, -32603)
		require.NotContains(t, res.body, "q2")
		require.Equal(t, "state_too_large", k.last().Reason)
		require.Regexp(t, `largest entries: \\"q2\\" 20\d\d, \\"q1\\" 10\d\d, \\"q0\\" \d\d[,"]`, k.log())
		require.NotContains(t, k.log(), "mmm")
		require.NotContains(t, k.log(), "lll")
	})
	t.Run("the default number of rounds", func(t *testing.T) {
		k := newKit(t, register, nil)
		res := k.do(request{name: "endless"})
		for i := range 48 {
			res = k.do(request{name: "endless", params: retry(res.asks(t, fmt.Sprint("q", i)), answer(i, "x"))})
		}
		k.do(request{name: "endless", params: retry(res.asks(t, "q48"), answer(48, "x"))}).failed(t, 200, -32603)
	})
}

// TestTokenSize holds tokens to the design's budget: 4/3 of (JSON of answers
// and step results + 90 bytes and the key an entry), plus at most 700 bytes,
// target and revision, and 95 for each further open question.
func TestTokenSize(t *testing.T) {
	const target, revision = "forty_rounds", "2026-11"
	k := newKit(t, func(s *mrtr.Server) {
		mrtr.AddTool(s, mrtr.Tool{Name: target, Revision: revision}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
			for i := range 40 {
				if i%10 == 9 {
					if _, err := mrtr.Step(ctx, c, fmt.Sprint("step", i), func(context.Context) (string, error) { return strings.Repeat("s", 100), nil }); err != nil {
						return nil, err
					}
				}
				if _, err := mrtr.Ask[nameForm](c, fmt.Sprintf("question%02d", i), "And?"); err != nil {
					return nil, err
				}
			}
			var a, b, d, e nameForm
			if err := mrtr.AskAll(c, mrtr.Form("last_a", "?", &a), mrtr.Form("last_b", "?", &b), mrtr.Form("last_d", "?", &d), mrtr.Form("last_e", "?", &e)); err != nil {
				return nil, err
			}
			return mrtr.Text("done"), nil
		})
	}, nil)
	content := `{"name":"` + strings.Repeat("n", 200-len(`{"name":""}`)) + `"}`
	require.Len(t, content, 200)

	payload := 0 // JSON of answers and results, 90 bytes and the key an entry
	budget := func(openKeys ...string) int {
		open := 90 + len(openKeys[0])
		return (payload+open)*4/3 + 700 + len(target) + len(revision) + 95*(len(openKeys)-1)
	}
	traceparent := `,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`
	res := k.do(request{name: target, body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + target + `",` + strings.TrimSuffix(metaWith(allCaps), "}") + traceparent + `}}}`})
	const entry = len(`["a","question00","",],`) + 22 + 200 // what a round adds to the log
	last := 0
	for i := range 40 {
		key := fmt.Sprintf("question%02d", i)
		if i%10 == 9 {
			payload += 102 + 90 + len(fmt.Sprint("step", i))
		}
		state := res.asks(t, key)
		require.LessOrEqual(t, len(state), budget(key), "round %d", i+1)
		if i > 0 && i%10 != 9 {
			require.InDelta(t, entry*4/3, len(state)-last, 8, "round %d: the token does not grow in a line", i+1)
		}
		last = len(state)
		res = k.do(request{name: target, params: retry(state, accept(key, content))})
		payload += 200 + 90 + len(key)
	}
	state := res.asks(t, "last_a", "last_b", "last_d", "last_e")
	require.LessOrEqual(t, len(state), budget("last_a", "last_b", "last_d", "last_e"))
	require.Greater(t, len(state), 40*200, "the answers are in it")
	require.Less(t, len(state), requeststate.DefaultMaxSize)
}
