package replay_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
)

// TestDivergence plays a first handler to a log and a second one over it.
func TestDivergence(t *testing.T) {
	type flow struct {
		first  handler   // of the rounds that made the log
		rounds []answers // what came with each of these rounds; all of them end pending
		then   handler   // of the next round
		fresh  answers
		want   error    // nil: the handler ends well
		says   string   // a part of the error
		asked  []string // with ErrPending: what is asked
	}
	ab := then(ask(form("a")), ask(form("b")))
	ask2 := func(q replay.Question, h ...handler) handler { return then(append([]handler{ask(q)}, h...)...) }
	afterA := []answers{nil, {"a": yes}} // a is closed, the next group is open
	sure := confirm("sure", "Pay 5?")
	resure := confirm("sure", "Pay 6?")

	for name, f := range map[string]flow{
		"the same again":           {first: ab, rounds: afterA, then: ab, fresh: answers{"b": yes}},
		"open entry, other shape":  {first: ab, rounds: afterA, then: then(ask(form("a")), ask(reshaped("b"))), fresh: answers{"b": yes}, want: replay.ErrPending, asked: []string{"b"}},
		"open entry, other key":    {first: ab, rounds: afterA, then: then(ask(form("a")), ask(form("c"))), fresh: answers{"b": yes, "c": yes}, want: replay.ErrPending, asked: []string{"c"}},
		"open entry, one more key": {first: ab, rounds: afterA, then: then(ask(form("a")), ask(form("b"), form("c"))), fresh: answers{"b": yes, "c": yes}, want: replay.ErrPending, asked: []string{"c"}},
		"open entry, now a confirmation": {
			first: ab, rounds: afterA, then: then(ask(form("a")), ask(confirm("b", "Sure?"))), fresh: answers{"b": yes}, want: replay.ErrPending, asked: []string{"b"},
		},
		"open entry, now a step":   {first: ab, rounds: afterA, then: then(ask(form("a")), step("s", `1`)), want: replay.ErrDiverged, says: `at 1 there was question "b", now there is step "s"`},
		"open entry, now nothing":  {first: ab, rounds: afterA, then: ask(form("a")), want: replay.ErrDiverged, says: `ended before question "b" at 1`},
		"closed entry, other key":  {first: ab, rounds: afterA, then: then(ask(form("c")), ask(form("b"))), want: replay.ErrDiverged, says: `at 0 there was question "a", now there is question "c"`},
		"closed entry, reordered":  {first: ab, rounds: afterA, then: then(ask(form("b")), ask(form("a"))), want: replay.ErrDiverged},
		"closed entry, now a step": {first: ab, rounds: afterA, then: step("a", `1`), want: replay.ErrDiverged, says: `at 0 there was question "a", now there is step "a"`},
		"closed entry, other shape": {
			first: ab, rounds: afterA, then: then(ask(reshaped("a")), ask(form("b"))), want: replay.ErrDiverged, says: `question "a" at 0 has another shape`,
		},
		"closed entry, now a confirmation": {
			first: ab, rounds: afterA, then: then(ask(confirm("a", "Sure?")), ask(form("b"))), want: replay.ErrDiverged, says: "another shape",
		},
		"closed entry, one more": {first: ab, rounds: afterA, then: then(ask(form("a"), form("c")), ask(form("b"))), want: replay.ErrDiverged, says: `now there is question "c"`},
		"closed entry, one less": {
			first: then(ask(form("a"), form("c")), ask(form("b"))), rounds: []answers{nil, {"a": yes, "c": yes}},
			then: ab, want: replay.ErrDiverged, says: "has lost questions",
		},
		"closed entry, other order within": {
			first: then(ask(form("a"), form("c")), ask(form("b"))), rounds: []answers{nil, {"a": yes, "c": yes}},
			then: then(ask(form("c"), form("a")), ask(form("b"))), fresh: answers{"b": yes},
		},
		"step renamed":            {first: then(step("s", `1`), ask(form("a"))), rounds: []answers{nil}, then: then(step("t", `1`), ask(form("a"))), want: replay.ErrDiverged, says: `at 0 there was step "s", now there is step "t"`},
		"step now a question":     {first: then(step("s", `1`), ask(form("a"))), rounds: []answers{nil}, then: ask(form("s")), want: replay.ErrDiverged, says: `at 0 there was step "s", now there is question "s"`},
		"step gone":               {first: then(step("s", `1`), ask(form("a"))), rounds: []answers{nil}, then: ask(form("a")), fresh: answers{"a": yes}, want: replay.ErrDiverged},
		"success before the log":  {first: ab, rounds: afterA, then: func(*replay.Run) error { return nil }, want: replay.ErrDiverged, says: `ended before question "a" at 0`},
		"failure before the log":  {first: ab, rounds: afterA, then: func(*replay.Run) error { return errStep }, want: errStep},
		"more at the end is fine": {first: ask(form("a")), rounds: []answers{nil}, then: ask2(form("a"), step("s", `1`), ask(form("b"))), fresh: answers{"a": yes}, want: replay.ErrPending, asked: []string{"b"}},

		"confirmation, same text": {first: ask(sure), rounds: []answers{nil}, then: ask(sure), fresh: answers{"sure": yes}},
		"confirmation, open, other text": {
			first: ask(sure), rounds: []answers{nil}, then: ask(resure), fresh: answers{"sure": yes}, want: replay.ErrPending, asked: []string{"sure"},
		},
		"confirmation, followed, other text": {
			first: then(ask(sure), ask(form("a"))), rounds: []answers{nil, {"sure": yes}}, then: then(ask(resure), ask(form("a"))),
			want: replay.ErrDiverged, says: `the text of confirmation "sure" at 0 has changed`,
		},
		"confirmation, followed by a step, other text": {
			first: then(ask(sure), step("s", `1`), ask(form("a"))), rounds: []answers{nil, {"sure": yes}}, then: then(ask(resure), step("s", `1`), ask(form("a"))),
			want: replay.ErrDiverged, says: "has changed",
		},
		"confirmation, now a form": {
			first: then(ask(sure), ask(form("a"))), rounds: []answers{nil, {"sure": yes}}, then: then(ask(form("sure")), ask(form("a"))), want: replay.ErrDiverged, says: "another shape",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var sealed []byte
			for _, fresh := range f.rounds {
				sealed, _ = pending(t, sealed, fresh, f.first)
			}
			r, err := round(t, sealed, f.fresh, f.then)
			if f.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, f.want)
			require.ErrorContains(t, err, f.says)
			if f.want == replay.ErrPending {
				require.Equal(t, f.asked, keys(r.Pending()))
			}
		})
	}
}

// TestConfirmLast: a closed confirmation is the last entry where a handler
// ended its round after it without asking, which a yield does.
func TestConfirmLast(t *testing.T) {
	sure := confirm("sure", "Pay 5?")
	sealed, _ := pending(t, nil, nil, ask(form("a"), sure))
	r, err := round(t, sealed, answers{"a": yes, "sure": yes}, ask(form("a"), sure))
	require.NoError(t, err)
	closed := seal(t, r)

	t.Run("the same text", func(t *testing.T) {
		_, err := round(t, closed, nil, ask(form("a"), sure))
		require.NoError(t, err)
	})
	t.Run("another text is asked anew, the rest is kept", func(t *testing.T) {
		// What comes unasked does not answer the new text.
		again, asked := pending(t, closed, answers{"sure": yes, "a": other}, ask(form("a"), confirm("sure", "Pay 6?")))
		require.Equal(t, []string{"sure"}, asked)
		log, err := replay.Parse(again)
		require.NoError(t, err)
		require.Len(t, log.Entries, 1)
		require.True(t, log.Entries[0].Open)
		require.Equal(t, `{"n":1}`, string(log.Entries[0].Group[0].Value))

		_, err = round(t, again, answers{"sure": yes}, ask(form("a"), confirm("sure", "Pay 6?")))
		require.NoError(t, err)
	})
	t.Run("another text does not open what a no has closed", func(t *testing.T) {
		r, err := round(t, nil, answers{"a": decline}, ask(form("a"), form("b"), sure))
		require.NoError(t, err)
		r, err = round(t, seal(t, r), answers{"b": yes, "sure": yes}, ask(form("a"), form("b"), confirm("sure", "Pay 6?")))
		require.NoError(t, err)
		for _, a := range r.Log().Entries[0].Group[1:] {
			require.Equal(t, replay.Unanswered, a.Outcome, a.Key)
		}
	})
	t.Run("another shape beside it is a divergence", func(t *testing.T) {
		_, err := round(t, closed, nil, ask(reshaped("a"), confirm("sure", "Pay 6?")))
		require.ErrorIs(t, err, replay.ErrDiverged)
	})
}

// TestAnswersThatCount: rule 4.
func TestAnswersThatCount(t *testing.T) {
	t.Run("first call: keys that the run asks", func(t *testing.T) {
		_, err := round(t, nil, answers{"a": yes, "b": yes, "stranger": yes}, then(ask(form("a")), step("s", `1`), ask(form("b"))))
		require.NoError(t, err)
	})
	t.Run("first call: no confirmation", func(t *testing.T) {
		_, asked := pending(t, nil, answers{"a": yes, "sure": yes}, then(ask(form("a")), ask(confirm("sure", "Sure?"))))
		require.Equal(t, []string{"sure"}, asked)
	})
	t.Run("first call: no confirmation in a group either", func(t *testing.T) {
		_, asked := pending(t, nil, answers{"a": yes, "sure": yes}, ask(form("a"), confirm("sure", "Sure?")))
		require.Equal(t, []string{"sure"}, asked)
	})
	t.Run("later: keys of the open group alone", func(t *testing.T) {
		h := then(ask(form("a")), ask(form("b")))
		sealed, asked := pending(t, nil, nil, h)
		require.Equal(t, []string{"a"}, asked)
		_, asked = pending(t, sealed, answers{"a": yes, "b": yes}, h)
		require.Equal(t, []string{"b"}, asked)
	})
	t.Run("later: a signed answer beats a resent one", func(t *testing.T) {
		h := then(ask(form("a")), ask(form("b")))
		sealed, _ := pending(t, nil, nil, h)
		sealed, _ = pending(t, sealed, answers{"a": yes}, h)
		r, err := round(t, sealed, answers{"a": other, "b": yes}, h)
		require.NoError(t, err)
		require.Equal(t, `{"n":1}`, string(r.Log().Entries[0].Group[0].Value))
	})
	t.Run("later: a signed answer of an open group beats a resent one", func(t *testing.T) {
		h := ask(form("a"), form("b"))
		sealed, _ := pending(t, nil, nil, h)
		sealed, asked := pending(t, sealed, answers{"a": yes}, h)
		require.Equal(t, []string{"b"}, asked)
		r, err := round(t, sealed, answers{"a": other, "b": other}, h)
		require.NoError(t, err)
		require.Equal(t, `{"n":1}`, string(r.Log().Entries[0].Group[0].Value))
		require.Equal(t, `{"n":2}`, string(r.Log().Entries[0].Group[1].Value))
	})
	t.Run("later: nothing counts where no group is open", func(t *testing.T) {
		_, asked := pending(t, []byte(`{"y":[1,0]}`), answers{"a": yes}, ask(form("a")))
		require.Equal(t, []string{"a"}, asked)
	})
}

func TestPartialAnswers(t *testing.T) {
	h := ask(form("a"), form("b"), form("c"))
	sealed, asked := pending(t, nil, nil, h)
	require.Equal(t, []string{"a", "b", "c"}, asked)
	sealed, asked = pending(t, sealed, answers{"b": yes}, h)
	require.Equal(t, []string{"a", "c"}, asked)
	sealed, asked = pending(t, sealed, answers{"x": yes}, h)
	require.Equal(t, []string{"a", "c"}, asked)
	sealed, asked = pending(t, sealed, answers{"c": yes}, h)
	require.Equal(t, []string{"a"}, asked)
	var got []replay.Answered
	_, err := round(t, sealed, answers{"a": other}, func(r *replay.Run) (err error) {
		got, err = r.Ask([]replay.Question{form("c"), form("a"), form("b")})
		return err
	})
	require.NoError(t, err)
	require.Equal(t, []string{"c", "a", "b"}, []string{got[0].Key, got[1].Key, got[2].Key}, "answers come in the order of the questions")
	require.Equal(t, `{"n":2}`, string(got[1].Value))
}

// TestInvalidAnswers: rule 6.
func TestInvalidAnswers(t *testing.T) {
	h := ask(form("a"), form("b"))
	sealed, _ := pending(t, nil, nil, h)
	r, err := round(t, sealed, answers{"a": bad, "b": yes}, h)
	require.ErrorIs(t, err, replay.ErrPending)
	require.Equal(t, []string{"a"}, keys(r.Pending()))
	require.Equal(t, map[string][]string{"a": {"is bad"}}, r.Invalid())
	require.NotContains(t, string(seal(t, r)), "bad", "an invalid answer is not kept")

	r, err = round(t, seal(t, r), answers{"a": yes}, h)
	require.NoError(t, err)
	require.Empty(t, r.Invalid())

	t.Run("not judged where it does not count", func(t *testing.T) {
		r, err := round(t, nil, answers{"sure": bad}, ask(confirm("sure", "Sure?")))
		require.ErrorIs(t, err, replay.ErrPending)
		require.Empty(t, r.Invalid())
	})
	t.Run("forgotten with its group", func(t *testing.T) {
		r, err := round(t, nil, answers{"a": bad, "b": decline}, then(ask(form("a"), form("b")), ask(form("c"))))
		require.ErrorIs(t, err, replay.ErrPending)
		require.Equal(t, []string{"c"}, keys(r.Pending()))
		require.Empty(t, r.Invalid())
	})
}

// TestNo: rule 5.
func TestNo(t *testing.T) {
	for name, no := range map[string]jsontext.Value{"decline": decline, "cancel": cancel} {
		t.Run(name, func(t *testing.T) {
			want := map[string]replay.Outcome{"decline": replay.Declined, "cancel": replay.Cancelled}[name]

			t.Run("closes the group", func(t *testing.T) {
				h := then(ask(form("a"), form("b"), form("c")), ask(form("d")))
				sealed, _ := pending(t, nil, nil, h)
				sealed, asked := pending(t, sealed, answers{"a": yes, "b": no}, h)
				require.Equal(t, []string{"d"}, asked)

				// Nothing of the group is asked again, whatever comes.
				var got []replay.Answered
				_, err := round(t, sealed, answers{"b": yes, "c": yes, "d": yes}, func(r *replay.Run) (err error) {
					if got, err = r.Ask([]replay.Question{form("a"), form("b"), form("c")}); err != nil {
						return err
					}
					return ask(form("d"))(r)
				})
				require.NoError(t, err)
				require.Equal(t, []replay.Outcome{replay.Accepted, want, replay.Unanswered}, []replay.Outcome{got[0].Outcome, got[1].Outcome, got[2].Outcome})
				require.Nil(t, got[1].Value, "content of a no is never used")
			})
			t.Run("of an optional question leaves the group open", func(t *testing.T) {
				h := ask(optional("a"), form("b"))
				sealed, _ := pending(t, nil, nil, h)
				sealed, asked := pending(t, sealed, answers{"a": no}, h)
				require.Equal(t, []string{"b"}, asked)
				r, err := round(t, sealed, answers{"a": yes, "b": yes}, h)
				require.NoError(t, err)
				require.Equal(t, want, r.Log().Entries[0].Group[0].Outcome, "a no is an answer, and signed")
			})
			t.Run("of all optional questions closes it", func(t *testing.T) {
				_, err := round(t, nil, answers{"a": no, "b": no}, ask(optional("a"), optional("b")))
				require.NoError(t, err)
			})
			t.Run("beside a missing answer, in the first call", func(t *testing.T) {
				_, err := round(t, nil, answers{"b": no}, ask(form("a"), form("b")))
				require.NoError(t, err)
			})
		})
	}
}

// TestSticky: rule 7.
func TestSticky(t *testing.T) {
	swallow := func(h handler) handler {
		return func(r *replay.Run) error {
			_ = h(r)
			return nil
		}
	}
	failing := func(r *replay.Run) error {
		_, err := r.Step("s", func() (jsontext.Value, error) { return nil, errStep })
		return err
	}
	for name, tt := range map[string]struct {
		first handler
		want  error
	}{
		"pending":    {ask(form("a")), replay.ErrPending},
		"misuse":     {ask(), replay.ErrMisuse},
		"step error": {failing, errStep},
		"own error":  {func(r *replay.Run) error { return r.Fail(errStep) }, errStep},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := round(t, nil, answers{"b": yes}, func(r *replay.Run) error {
				require.ErrorIs(t, tt.first(r), tt.want)
				_, err := r.Ask([]replay.Question{form("b")})
				require.ErrorIs(t, err, tt.want)
				_, err = r.Step("later", func() (jsontext.Value, error) {
					t.Error("a step ran")
					return jsontext.Value(`1`), nil
				})
				require.ErrorIs(t, err, tt.want)
				require.ErrorIs(t, r.Guard(func() { t.Error("a guard committed") }), tt.want)
				require.ErrorIs(t, r.Fail(errors.New("another")), tt.want)
				return nil
			})
			require.ErrorIs(t, err, tt.want, "it beats the handler's success")
			require.LessOrEqual(t, len(r.Log().Entries), 1)
		})
	}
	t.Run("divergence", func(t *testing.T) {
		sealed, _ := pending(t, nil, nil, then(step("s", `1`), ask(form("a"))))
		_, err := round(t, sealed, nil, then(swallow(step("t", `1`)), swallow(step("s", `1`)), swallow(ask(form("a")))))
		require.ErrorIs(t, err, replay.ErrDiverged)
		require.ErrorContains(t, err, `now there is step "t"`)
	})
	t.Run("pending beats the handler's own error", func(t *testing.T) {
		_, err := round(t, nil, nil, func(r *replay.Run) error { _ = ask(form("a"))(r); return errStep })
		require.ErrorIs(t, err, replay.ErrPending)
	})
	t.Run("a step's error does not beat the handler's own", func(t *testing.T) {
		mine := errors.New("mine")
		_, err := round(t, nil, nil, func(r *replay.Run) error { _ = failing(r); return mine })
		require.Equal(t, mine, err)
	})
	t.Run("a step's error is not kept", func(t *testing.T) {
		r, err := round(t, nil, nil, failing)
		require.ErrorIs(t, err, errStep)
		require.Empty(t, r.Log().Entries)
	})
}

// TestSteps: rule 8, as far as it is the log's.
func TestSteps(t *testing.T) {
	ran := 0
	h := func(r *replay.Run) error {
		v, err := r.Step("draw", func() (jsontext.Value, error) {
			ran++
			return jsontext.Value(fmt.Sprintf(`{"n":%d}`, ran)), nil
		})
		if err != nil {
			return err
		}
		require.Equal(t, `{"n":1}`, string(v))
		return ask(form("a"))(r)
	}
	sealed, _ := pending(t, nil, nil, h)
	sealed, _ = pending(t, sealed, answers{"a": bad}, h)
	_, err := round(t, sealed, answers{"a": yes}, h)
	require.NoError(t, err)
	require.Equal(t, 1, ran)

	t.Run("a step after the open group runs once it is closed", func(t *testing.T) {
		h := then(ask(form("a")), func(r *replay.Run) error {
			_, err := r.Step("s", func() (jsontext.Value, error) { ran++; return jsontext.Value(`1`), nil })
			return err
		}, ask(form("b")))
		ran = 0
		sealed, _ := pending(t, nil, nil, h)
		require.Zero(t, ran)
		sealed, _ = pending(t, sealed, answers{"a": yes}, h)
		_, err := round(t, sealed, answers{"b": yes}, h)
		require.NoError(t, err)
		require.Equal(t, 1, ran)
	})
	t.Run("a panic in a step leaves the run usable for End", func(t *testing.T) {
		r := replay.NewRun(replay.Log{}, false, nil)
		require.Panics(t, func() { r.Step("s", func() (jsontext.Value, error) { panic("x") }) })
		require.NoError(t, r.End(false))
		require.Empty(t, r.Log().Entries)
	})
}

// TestGuard: handlers that keep a state of their own.
func TestGuard(t *testing.T) {
	commits := 0
	guard := func(r *replay.Run) error {
		if err := r.Guard(func() { commits++ }); err != nil {
			return err
		}
		return replay.ErrPending
	}
	_, err := round(t, nil, nil, guard)
	require.ErrorIs(t, err, replay.ErrPending)
	require.Equal(t, 1, commits)

	own := []byte(`{"o":"YQ","g":["k"]}`)
	_, err = round(t, own, nil, guard)
	require.ErrorIs(t, err, replay.ErrPending)
	_, err = round(t, own, nil, func(*replay.Run) error { return nil })
	require.NoError(t, err)
	for name, sealed := range map[string][]byte{"own state": []byte(`{"o":""}`), "keys": []byte(`{"g":["k"]}`)} {
		t.Run("asks after "+name, func(t *testing.T) {
			_, err = round(t, sealed, nil, ask(form("a")))
			require.ErrorIs(t, err, replay.ErrDiverged)
			_, err = round(t, sealed, nil, step("s", `1`))
			require.ErrorIs(t, err, replay.ErrDiverged)
		})
	}
	commits = 0
	_, err = round(t, nil, nil, then(step("s", `1`), guard))
	require.ErrorIs(t, err, replay.ErrMisuse)
	sealed, _ := pending(t, nil, nil, ask(form("a")))
	_, err = round(t, sealed, nil, guard)
	require.ErrorIs(t, err, replay.ErrDiverged)
	require.Zero(t, commits)
}
