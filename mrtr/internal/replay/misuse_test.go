package replay_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
)

func TestMisuse(t *testing.T) {
	for name, tt := range map[string]struct {
		h    handler
		says string
	}{
		"the same key in one group":  {ask(form("a"), form("a")), `question "a" twice`},
		"the same key in two groups": {then(ask(form("a")), ask(form("a"))), `question "a" twice`},
		"the same step twice":        {then(step("s", `1`), step("s", `1`)), `step "s" twice`},
		"a group without questions":  {ask(), "without questions"},
		"a step without a name":      {step("", `1`), "without a name"},
		"a result that is no JSON":   {step("s", `{`), `step "s" is not JSON`},
		"a result that is nothing":   {step("s", ``), `step "s" is not JSON`},
		"asking in a step": {func(r *replay.Run) error {
			_, err := r.Step("s", func() (jsontext.Value, error) {
				if err := ask(form("a"))(r); err != nil {
					return nil, err
				}
				return jsontext.Value(`1`), nil
			})
			return err
		}, "inside a step"},
		"stepping in a step": {func(r *replay.Run) error {
			_, err := r.Step("s", func() (jsontext.Value, error) {
				return r.Step("t", func() (jsontext.Value, error) { return jsontext.Value(`1`), nil })
			})
			return err
		}, "inside a step"},
		"a guard in a step": {func(r *replay.Run) error {
			_, err := r.Step("s", func() (jsontext.Value, error) { return jsontext.Value(`1`), r.Guard(func() {}) })
			return err
		}, "inside a step"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := round(t, nil, answers{"a": yes}, tt.h)
			require.ErrorIs(t, err, replay.ErrMisuse)
			require.ErrorContains(t, err, tt.says)

			// Swallowed by the handler, it is reported all the same.
			r, err := round(t, nil, answers{"a": yes}, func(r *replay.Run) error {
				_ = tt.h(r)
				require.ErrorIs(t, ask(form("z"))(r), replay.ErrMisuse)
				return nil
			})
			require.ErrorIs(t, err, replay.ErrMisuse)
			require.LessOrEqual(t, len(r.Log().Entries), 1)
		})
	}
	t.Run("a question and a step may have one name", func(t *testing.T) {
		_, err := round(t, nil, answers{"a": yes}, then(ask(form("a")), step("a", `1`)))
		require.NoError(t, err)
	})
	t.Run("swallowed within a step", func(t *testing.T) {
		r, err := round(t, nil, answers{"a": yes}, func(r *replay.Run) error {
			_, err := r.Step("s", func() (jsontext.Value, error) {
				_ = ask(form("a"))(r)
				return jsontext.Value(`1`), nil
			})
			require.ErrorIs(t, err, replay.ErrMisuse)
			return nil
		})
		require.ErrorIs(t, err, replay.ErrMisuse)
		require.Empty(t, r.Log().Entries)
	})
}

// uses are all methods of a run that a handler reaches, each with the error.
func uses(r *replay.Run) []error {
	_, asked := r.Ask([]replay.Question{form("late")})
	_, stepped := r.Step("late", func() (jsontext.Value, error) { panic("ran after the end") })
	return []error{asked, stepped, r.Guard(func() { panic("committed after the end") }), r.Fail(errStep)}
}

func TestAfterEnd(t *testing.T) {
	r := replay.NewRun(replay.Log{}, false, nil)
	require.ErrorIs(t, ask(form("a"))(r), replay.ErrPending)
	require.ErrorIs(t, r.End(false), replay.ErrPending)
	before := seal(t, r)
	for _, err := range uses(r) {
		require.ErrorIs(t, err, replay.ErrMisuse)
		require.ErrorContains(t, err, "has ended")
	}
	require.Equal(t, before, seal(t, r))
	require.NoError(t, r.End(true), "the second End has nothing to add")
}

// TestTwoGoroutines: one goroutine is in a step when another one comes.
func TestTwoGoroutines(t *testing.T) {
	r := replay.NewRun(replay.Log{}, false, answers{"late": yes})
	inStep, goOn := make(chan struct{}), make(chan struct{})
	stepped := make(chan error)
	go func() {
		_, err := r.Step("s", func() (jsontext.Value, error) {
			close(inStep)
			<-goOn
			return jsontext.Value(`1`), nil
		})
		stepped <- err
	}()
	<-inStep
	for _, err := range uses(r) {
		require.ErrorIs(t, err, replay.ErrMisuse)
		require.ErrorContains(t, err, "two goroutines")
	}
	close(goOn)
	require.ErrorIs(t, <-stepped, replay.ErrMisuse)
	require.ErrorIs(t, r.End(true), replay.ErrMisuse)
	require.Empty(t, r.Log().Entries)
}

// TestHandlerLeavesGoroutine: the handler returns while a step of it still runs.
func TestHandlerLeavesGoroutine(t *testing.T) {
	for name, end := range map[string]func(*replay.Run) error{
		"End":   func(r *replay.Run) error { return r.End(true) },
		"Close": func(r *replay.Run) error { r.Close(); return r.End(true) },
	} {
		t.Run(name, func(t *testing.T) {
			r := replay.NewRun(replay.Log{}, false, nil)
			inStep, goOn := make(chan struct{}), make(chan struct{})
			stepped := make(chan error)
			go func() {
				_, err := r.Step("s", func() (jsontext.Value, error) {
					close(inStep)
					<-goOn
					return jsontext.Value(`1`), nil
				})
				stepped <- err
			}()
			<-inStep
			err := end(r) // does not wait for the step
			if name == "End" {
				require.ErrorIs(t, err, replay.ErrMisuse)
			} else {
				require.NoError(t, err, "a run closed early has nothing to add")
			}
			before := seal(t, r)
			close(goOn)
			require.ErrorIs(t, <-stepped, replay.ErrMisuse)
			require.Equal(t, before, seal(t, r), "a late step changes nothing")
		})
	}
}

// TestRaces has no order of its own: the race detector judges it.
func TestRaces(t *testing.T) {
	for range 200 {
		r := replay.NewRun(replay.Log{}, false, answers{"a": yes, "b": yes})
		done := make(chan struct{})
		for _, h := range []handler{ask(form("a")), ask(form("b")), step("s", `1`), func(r *replay.Run) error { return r.Guard(func() {}) }} {
			go func() {
				_ = h(r)
				done <- struct{}{}
			}()
		}
		_ = r.End(true)
		before := seal(t, r)
		_, _ = r.Pending(), r.Invalid()
		for range 4 {
			<-done
		}
		require.Equal(t, before, seal(t, r), "nothing changes after End")
	}
}
