package mrtr_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// flowAsks is a tool that asks these keys, one form a round, and returns the
// answers.
func flowAsks(keys ...string) func(*mrtr.Server) {
	return flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
		var out []string
		for _, key := range keys {
			v, err := mrtr.Ask[flowForm](c, key, "The name for "+key+"?")
			if err != nil {
				return "", err
			}
			out = append(out, key+"="+v.Name)
		}
		return strings.Join(out, " "), nil
	})
}

// What is signed stands: a client cannot answer otherwise later on.
func TestFlowSignedAnswerStands(t *testing.T) {
	h := newFlowHost(t, flowAsks("a", "b", "c"))
	state := h.asks(h.call("tool", "", nil), "a")
	state = h.asks(h.call("tool", state, flowAnswers{"a": flowName("first")}), "b")
	state = h.asks(h.call("tool", state, flowAnswers{"a": flowName("second"), "b": flowName("x")}), "c")
	h.says(h.call("tool", state, flowAnswers{"a": flowDecline, "b": flowName("third"), "c": flowName("y")}), "a=first b=x c=y")
}

// Answers to what was not asked yet count in a first round alone, which has no
// state, and never with one.
func TestFlowEarlyAnswers(t *testing.T) {
	h := newFlowHost(t, flowAsks("a", "b", "c"))
	h.says(h.call("tool", "", flowAnswers{"a": flowName("x"), "b": flowName("y"), "c": flowName("z"), "d": flowName("nobody asked")}), "a=x b=y c=z")
	state := h.asks(h.call("tool", "", flowAnswers{"a": flowName("x")}), "b")
	h.asks(h.call("tool", state, flowAnswers{"b": flowName("y"), "c": flowName("too early")}), "c")
}

// An earlier round's state is as good as the latest: the client may go back.
func TestFlowGoesBack(t *testing.T) {
	h := newFlowHost(t, flowAsks("a", "b"))
	first := h.asks(h.call("tool", "", nil), "a")
	for _, name := range []string{"x", "y"} {
		state := h.asks(h.call("tool", first, flowAnswers{"a": flowName(name)}), "b")
		h.says(h.call("tool", state, flowAnswers{"b": flowName("z")}), "a="+name+" b=z")
	}
}

// TestFlowDeploy continues a flow of one version of a tool with another.
func TestFlowDeploy(t *testing.T) {
	form := func(key, message string) func(*mrtr.Call) error {
		return func(c *mrtr.Call) error {
			_, err := mrtr.Ask[flowForm](c, key, message)
			return err
		}
	}
	other := func(key string) func(*mrtr.Call) error {
		return func(c *mrtr.Call) error {
			_, err := mrtr.Ask[struct {
				Name string `json:"name"`
				Age  int    `json:"age,omitzero"`
			}](c, key, "Name and age?")
			return err
		}
	}
	confirm := func(key, message string) func(*mrtr.Call) error {
		return func(c *mrtr.Call) error { return mrtr.Confirm(c, key, message) }
	}
	step := func(name string) func(*mrtr.Call) error {
		return func(c *mrtr.Call) error {
			_, err := mrtr.Step(context.Background(), c, name, func(context.Context) (int, error) { return 1, nil })
			return err
		}
	}
	type code = []func(*mrtr.Call) error
	serve := func(c code) *flowHost {
		return newFlowHost(t, flowTool(func(_ context.Context, call *mrtr.Call) (string, error) {
			for _, do := range c {
				if err := do(call); err != nil {
					return "", err
				}
			}
			return "done", nil
		}))
	}
	answers := map[string]string{"a": flowName("x"), "b": flowName("y"), "c": flowName("z"), "sure": flowYes}
	for _, tt := range []struct {
		name    string
		old     code
		rounds  int // of old, each answered, before next takes over
		next    code
		asked   []string // next's questions in its first round; nil: it is done
		diverge string   // what the log names instead
	}{
		{"two asks change places", code{form("a", "A?"), form("b", "B?")}, 2, code{form("b", "B?"), form("a", "A?")}, nil, `at 0 there was question "a", now there is question "b"`},
		{"two open asks change places", code{form("a", "A?"), form("b", "B?")}, 1, code{form("b", "B?"), form("a", "A?")}, []string{"b"}, ""},
		{"a later question is reworded", code{form("a", "A?"), form("b", "B?"), form("c", "C?")}, 2, code{form("a", "A?"), form("b", "B?"), form("c", "And C?")}, []string{"c"}, ""},
		{"the open question is reworded", code{form("a", "A?"), form("b", "B?")}, 2, code{form("a", "A?"), form("b", "And B?")}, nil, ""},
		{"an answered question is reworded", code{form("a", "A?"), form("b", "B?")}, 2, code{form("a", "Please, A?"), form("b", "B?")}, nil, ""},
		{"the open question is another form", code{form("a", "A?"), form("b", "B?")}, 2, code{form("a", "A?"), other("b")}, []string{"b"}, ""},
		{"an answered question is another form", code{form("a", "A?"), form("b", "B?")}, 2, code{other("a"), form("b", "B?")}, nil, `question "a" at 0 has another shape`},
		{"the open confirmation is reworded", code{form("a", "A?"), confirm("sure", "Pay 1?")}, 2, code{form("a", "A?"), confirm("sure", "Pay 2?")}, []string{"sure"}, ""},
		{"the last confirmation is reworded", code{confirm("sure", "Pay 1?"), step("pay"), form("a", "A?")}, 1, code{confirm("sure", "Pay 2?"), step("pay"), form("a", "A?")}, []string{"sure"}, ""},
		{"a confirmation is reworded after a step", code{confirm("sure", "Pay 1?"), step("pay"), form("a", "A?")}, 2, code{confirm("sure", "Pay 2?"), step("pay"), form("a", "A?")}, nil, `the text of confirmation "sure" at 0 has changed`},
		{"a question becomes a confirmation", code{form("a", "A?"), form("b", "B?")}, 2, code{confirm("a", "A?"), form("b", "B?")}, nil, `question "a" at 0 has another shape`},
		{"a step is new", code{form("a", "A?"), form("b", "B?")}, 2, code{form("a", "A?"), step("work"), form("b", "B?")}, nil, `at 1 there was question "b", now there is step "work"`},
		{"a step is new behind all", code{form("a", "A?"), form("b", "B?")}, 2, code{form("a", "A?"), form("b", "B?"), step("work")}, nil, ""},
		{"a step is gone", code{form("a", "A?"), step("work"), form("b", "B?")}, 2, code{form("a", "A?"), form("b", "B?")}, nil, `at 1 there was step "work", now there is question "b"`},
		{"a step has another name", code{step("work"), form("a", "A?")}, 1, code{step("labour"), form("a", "A?")}, nil, `at 0 there was step "work", now there is step "labour"`},
		{"a question is gone", code{form("a", "A?"), form("b", "B?"), form("c", "C?")}, 3, code{form("a", "A?"), form("c", "C?")}, nil, `at 1 there was question "b", now there is question "c"`},
		{"the end comes sooner", code{form("a", "A?"), form("b", "B?")}, 2, code{form("a", "A?")}, nil, `the handler ended before question "b" at 1`},
		{"a question is new at the end", code{form("a", "A?"), form("b", "B?")}, 2, code{form("a", "A?"), form("b", "B?"), form("c", "C?")}, []string{"c"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			old, next := serve(tt.old), serve(tt.next)
			old.t, next.t = t, t
			r := old.call("tool", "", nil)
			for range tt.rounds - 1 {
				sent := flowAnswers{}
				for _, q := range *r.result.Requests {
					sent[q.Key] = answers[q.Key]
				}
				r = old.call("tool", r.result.State, sent)
			}
			sent := flowAnswers{}
			require.NotEmpty(t, *r.result.Requests, "the old code has no question in round %d", tt.rounds)
			for _, q := range *r.result.Requests {
				sent[q.Key] = answers[q.Key]
			}
			got := next.call("tool", r.result.State, sent)
			switch {
			case tt.diverge != "":
				require.Equal(t, "diverged", next.restarts(got))
				require.ErrorContains(t, got.info.Err, tt.diverge)
				require.Contains(t, next.log.String(), "reason=diverged")
			case tt.asked != nil:
				next.asks(got, tt.asked...)
			default:
				next.says(got, "done")
			}
		})
	}
}

// A loop over N items with keys made from them, which a no ends.
func TestFlowLoop(t *testing.T) {
	for _, n := range []int{0, 1, 20} {
		for _, no := range []int{-1, 0, n / 2, n - 1} { // item that is declined; -1: none
			t.Run(fmt.Sprintf("%d items, no to %d", n, no), func(t *testing.T) {
				type item struct {
					Quantity int `json:"quantity" form:"min=1"`
				}
				h := newFlowHost(t, flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
					total := 0
					for i := range n {
						v, err := mrtr.Ask[item](c, fmt.Sprintf("item %d", i), "How many?")
						if err != nil {
							return "", err
						}
						total += v.Quantity
					}
					return fmt.Sprint(total), nil
				}))
				r := h.call("tool", "", nil)
				for i := range n {
					key := fmt.Sprintf("item %d", i)
					state := h.asks(r, key)
					if i == no {
						h.fails(h.call("tool", state, flowAnswers{key: flowDecline}), `The call ended because the question "`+key+`" was declined.`)
						return
					}
					r = h.call("tool", state, flowAnswers{key: fmt.Sprintf(`{"action":"accept","content":{"quantity":%d}}`, i+1)})
				}
				h.says(r, fmt.Sprint(n*(n+1)/2))
			})
		}
	}
}

// The same loop where a no is the end of the list, not of the call.
func TestFlowLoopUntilNo(t *testing.T) {
	for _, n := range []int{0, 1, 20} {
		h := newFlowHost(t, flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
			var names []string
			for {
				var v flowForm
				var more bool
				if err := mrtr.AskAll(c, mrtr.Optional(mrtr.Form(fmt.Sprintf("item %d", len(names)), "Another?", &v), &more)); err != nil {
					return "", err
				}
				if !more {
					return strings.Join(names, ","), nil
				}
				names = append(names, v.Name)
			}
		}))
		r := h.call("tool", "", nil)
		var want []string
		for i := range n {
			key := fmt.Sprintf("item %d", i)
			want = append(want, fmt.Sprint(i))
			r = h.call("tool", h.asks(r, key), flowAnswers{key: flowName(fmt.Sprint(i))})
		}
		key := fmt.Sprintf("item %d", n)
		h.says(h.call("tool", h.asks(r, key), flowAnswers{key: flowDecline}), strings.Join(want, ","))
	}
}

func TestFlowOptional(t *testing.T) {
	h := newFlowHost(t, flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
		var name, nick flowForm
		var greeting protocol.CreateMessageResult
		hasNick, hasGreeting := true, true
		err := mrtr.AskAll(c,
			mrtr.Form("name", "Name?", &name),
			mrtr.Optional(mrtr.Form("nick", "Nick name?", &nick), &hasNick),
			mrtr.Optional(mrtr.Sampling("greeting", protocol.CreateMessageParams{MaxTokens: 5}, &greeting), &hasGreeting),
		)
		return fmt.Sprintf("%q %q %v %v", name.Name, nick.Name, hasNick, hasGreeting), err
	}))
	message := `{"role":"assistant","content":{"type":"text","text":"Hi"},"model":"m"}`
	state := h.asks(h.call("tool", "", nil), "name", "nick", "greeting")
	h.says(h.call("tool", state, flowAnswers{"name": flowName("Bo"), "nick": flowName("B"), "greeting": message}), `"Bo" "B" true true`)
	h.says(h.call("tool", state, flowAnswers{"name": flowName("Bo"), "nick": flowCancel, "greeting": message}), `"Bo" "" false true`)
	// A no to a question that is not optional ends the group.
	h.fails(h.call("tool", state, flowAnswers{"name": flowDecline}), `The call ended because the question "name" was declined.`)
	// An answer that is missing is asked for again; what was answered is kept.
	state = h.asks(h.call("tool", state, flowAnswers{"nick": flowDecline}), "name", "greeting")
	h.says(h.call("tool", state, flowAnswers{"name": flowName("Bo"), "nick": flowName("late"), "greeting": message}), `"Bo" "" false true`)
}
