package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
)

// yield ends the round where that is allowed.
func yield(max int) handler {
	return func(r *replay.Run) error {
		_, err := r.Yield(max)
		return err
	}
}

// TestYield: a yield ends a round without a question, where the log has grown
// since the last one, and as often as is allowed.
func TestYield(t *testing.T) {
	h := then(yield(2), step("s", `1`), yield(2), yield(2), step("t", `2`), yield(2), step("u", `3`), yield(2), ask(form("a")))
	sealed, asked := pending(t, nil, nil, h)
	require.Empty(t, asked)
	require.Equal(t, `{"l":[["s","s",1]],"y":[1,1]}`, string(sealed))
	sealed, asked = pending(t, sealed, nil, h)
	require.Empty(t, asked)
	require.Equal(t, `{"l":[["s","s",1],["s","t",2]],"y":[2,2]}`, string(sealed))
	sealed, asked = pending(t, sealed, nil, h) // two is all
	require.Equal(t, []string{"a"}, asked)
	_, err := round(t, sealed, answers{"a": yes}, h)
	require.NoError(t, err)

	t.Run("never", func(t *testing.T) {
		for _, max := range []int{0, -1} {
			_, err := round(t, nil, nil, then(step("s", `1`), yield(max)))
			require.NoError(t, err)
		}
	})
	t.Run("not before the log is passed", func(t *testing.T) {
		h := then(ask(form("a")), yield(1), ask(form("b")))
		sealed, _ := pending(t, nil, nil, h)
		sealed, asked := pending(t, sealed, answers{"a": yes}, h)
		require.Empty(t, asked)
		_, asked = pending(t, sealed, answers{"b": yes}, h)
		require.Equal(t, []string{"b"}, asked, "no group was open: no answer counts")
	})
	t.Run("sticky", func(t *testing.T) {
		_, err := round(t, nil, nil, func(r *replay.Run) error {
			require.NoError(t, step("s", `1`)(r))
			yielded, err := r.Yield(1)
			require.True(t, yielded)
			require.ErrorIs(t, err, replay.ErrPending)
			require.ErrorIs(t, step("t", `1`)(r), replay.ErrPending)
			return nil
		})
		require.ErrorIs(t, err, replay.ErrPending)
	})
	t.Run("after End", func(t *testing.T) {
		r := replay.NewRun(replay.Log{}, false, nil)
		require.NoError(t, r.End(true))
		_, err := r.Yield(1)
		require.ErrorIs(t, err, replay.ErrMisuse)
	})
}

// TestYieldAfterConfirm: a confirmation that a yield has left as the last entry
// is asked anew when its text changes; once a step follows, that diverges.
func TestYieldAfterConfirm(t *testing.T) {
	h := func(text string) handler {
		return then(ask(confirm("sure", text)), yield(1), step("pay", `1`), ask(form("a")))
	}
	sealed, _ := pending(t, nil, nil, h("Pay 5?"))
	yielded, asked := pending(t, sealed, answers{"sure": yes}, h("Pay 5?"))
	require.Empty(t, asked)
	_, asked = pending(t, yielded, answers{"sure": yes}, h("Pay 6?"))
	require.Equal(t, []string{"sure"}, asked)
	paid, asked := pending(t, yielded, nil, h("Pay 5?"))
	require.Equal(t, []string{"a"}, asked)
	_, err := round(t, paid, answers{"a": yes}, h("Pay 6?"))
	require.ErrorIs(t, err, replay.ErrDiverged)
}
