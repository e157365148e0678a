package mrtr_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// fortyKeys are question keys of one length.
func fortyKeys() (keys []string) {
	for i := range 40 {
		keys = append(keys, fmt.Sprintf("q%02d", i))
	}
	return keys
}

// 40 rounds of answers of 200 bytes: each works, and the state grows by the same
// for each and stays within the budget that DESIGN gives.
func TestFlowFortyRounds(t *testing.T) {
	keys := fortyKeys()
	h := newFlowHost(t, flowAsks(keys...))
	name := strings.Repeat("n", 200-len(`{"name":""}`))
	r := h.call("tool", "", nil)
	var sizes []int
	var want []string
	logged := 0 // bytes of answers in JSON, 90 for each and its key
	for _, key := range keys {
		state := h.asks(r, key)
		sizes = append(sizes, len(state))
		require.LessOrEqual(t, len(state), 4*logged/3+700+len("tool"))
		r = h.call("tool", state, flowAnswers{key: flowName(name)})
		logged += 200 + 90 + len(key)
		want = append(want, key+"="+name)
	}
	h.says(r, strings.Join(want, " "))
	first := sizes[1] - sizes[0]
	for i := 1; i < len(sizes); i++ {
		require.InDelta(t, first, sizes[i]-sizes[i-1], 2, "round %d", i+1)
	}
}

// Over the limit the client gets a fixed text, and the author the largest
// entries.
func TestFlowTooLarge(t *testing.T) {
	h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		for _, work := range []struct {
			name string
			size int
		}{{"small", 10}, {"huge", 900}, {"large", 300}, {"tiny", 1}} {
			if _, err := mrtr.Step(ctx, c, work.name, func(context.Context) (string, error) { return strings.Repeat("s", work.size), nil }); err != nil {
				return "", err
			}
		}
		for _, key := range []string{"first", "second"} {
			if _, err := mrtr.Ask[flowForm](c, key, "Name?"); err != nil {
				return "", err
			}
		}
		return "done", nil
	}), func(o *mrtr.HandlerOptions) { o.MaxStateBytes = 3000 })
	state := h.asks(h.call("tool", "", nil), "first")
	r := h.call("tool", state, flowAnswers{"first": flowName(strings.Repeat("n", 1500))})
	why := h.broken(r, "state_too_large")
	require.Regexp(t, `the largest entries: "first" 15\d\d, "huge" 9\d\d, "large" 3\d\d$`, why)
	require.NotContains(t, why, "nnn")
	require.NotContains(t, why, "sss")
	require.NotContains(t, r.body, "huge")
	// The state of the round before is as good as ever.
	h.asks(h.call("tool", state, flowAnswers{"first": flowName("n")}), "second")
}
