package mrtr_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// priced is a tool that confirms a price which is live, and pays it.
func priced(price *int, paid *[]int) func(*mrtr.Server) {
	return flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
		now := *price
		if err := mrtr.Confirm(c, "confirm", fmt.Sprintf("Pay %d?", now)); err != nil {
			return "", err
		}
		*paid = append(*paid, now)
		return fmt.Sprintf("paid %d", now), nil
	})
}

func TestConfirmAmountChanges(t *testing.T) {
	price, paid := 10, []int{}
	h := newFlowHost(t, priced(&price, &paid))
	r := h.call("tool", "", nil)
	require.Equal(t, "Pay 10?", r.message(t, "confirm"))
	old := h.asks(r, "confirm")

	price = 20
	r = h.call("tool", old, flowAnswers{"confirm": flowYes})
	require.Equal(t, "Pay 20?", r.message(t, "confirm"), "the yes to 10 was used for 20")
	require.Empty(t, paid)
	next := h.asks(r, "confirm")
	h.asks(h.call("tool", next, nil), "confirm") // without an answer there is none

	h.says(h.call("tool", next, flowAnswers{"confirm": flowYes}), "paid 20")
	require.Equal(t, []int{20}, paid)

	// A yes to the first text stays a yes to that text alone.
	h.asks(h.call("tool", old, flowAnswers{"confirm": flowYes}), "confirm")
	price = 10
	h.asks(h.call("tool", next, flowAnswers{"confirm": flowYes}), "confirm")
	require.Equal(t, []int{20}, paid)
	h.says(h.call("tool", old, flowAnswers{"confirm": flowYes}), "paid 10")
}

// A yes that was given is not worth more: where the text changes after it and
// before anything follows, it is asked again.
func TestConfirmAmountChangesAfterYes(t *testing.T) {
	price := 10
	h := newFlowHost(t, flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
		text := fmt.Sprintf("Pay %d?", price)
		if err := mrtr.Confirm(c, "confirm", text); err != nil {
			return "", err
		}
		note, err := mrtr.Ask[flowForm](c, "note", "A note?")
		return text + " " + note.Name, err
	}))
	state := h.asks(h.call("tool", "", nil), "confirm")
	state = h.asks(h.call("tool", state, flowAnswers{"confirm": flowYes}), "note")
	h.says(h.call("tool", state, flowAnswers{"note": flowName("x")}), "Pay 10? x")
	price = 20 // "note" follows the confirmation in the log
	require.Equal(t, "diverged", h.restarts(h.call("tool", state, flowAnswers{"note": flowName("x")})))
}

func TestConfirmNeedsToBeShown(t *testing.T) {
	price, paid := 10, []int{}
	h := newFlowHost(t, priced(&price, &paid))
	r := h.call("tool", "", flowAnswers{"confirm": flowYes})
	h.asks(r, "confirm")
	require.Empty(t, paid)
}

func TestConfirmAnswers(t *testing.T) {
	const (
		declined  = `The call ended because the question "confirm" was declined.`
		cancelled = `The call ended because the question "confirm" was cancelled.`
	)
	for _, tt := range []struct {
		name, answer string
		ends         string // the text with which the call ends; empty: asked again
		wrong        string // what the client is told of its answer
	}{
		{"ok is false", flowNo, declined, ""},
		{"a decline", flowDecline, declined, ""},
		{"a decline with a yes in it", `{"action":"decline","content":{"ok":true}}`, declined, ""},
		{"a cancel", flowCancel, cancelled, ""},
		{"a cancel with a yes in it", `{"action":"cancel","content":{"ok":true}}`, cancelled, ""},
		{"no content", `{"action":"accept"}`, "", `["/ok is required"]`},
		{"an empty content", `{"action":"accept","content":{}}`, "", `["/ok is required"]`},
		{"another field", `{"action":"accept","content":{"OK":true}}`, "", `["/ok is required"]`},
		{"a string", `{"action":"accept","content":{"ok":"true"}}`, "", `["/ok must be true or false"]`},
		{"a number", `{"action":"accept","content":{"ok":1}}`, "", `["/ok must be true or false"]`},
		{"null", `{"action":"accept","content":{"ok":null}}`, "", `["/ok must be true or false"]`},
		{"a list of it", `{"action":"accept","content":[true]}`, "", `["content must be an object"]`},
		{"no action", `{"content":{"ok":true}}`, "", `["action must be accept, decline or cancel"]`},
		{"another action", `{"action":"Accept","content":{"ok":true}}`, "", `["action must be accept, decline or cancel"]`},
		{"no answer at all", `true`, "", `["must be an object with an action"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			price, paid := 10, []int{}
			h := newFlowHost(t, priced(&price, &paid))
			state := h.asks(h.call("tool", "", nil), "confirm")
			r := h.call("tool", state, flowAnswers{"confirm": tt.answer})
			require.Empty(t, paid)
			if tt.ends != "" {
				h.fails(r, tt.ends)
				return
			}
			h.asks(r, "confirm")
			require.JSONEq(t, `{"confirm":`+tt.wrong+`}`, string(r.result.Meta[mrtr.MetaInvalid]))
			require.Equal(t, "invalid_answer", r.info.Reason)
		})
	}
}

func TestConfirmNoIsAnError(t *testing.T) {
	for answer, want := range map[string]error{flowNo: mrtr.ErrDeclined, flowDecline: mrtr.ErrDeclined, flowCancel: mrtr.ErrCancelled} {
		var got error
		h := newFlowHost(t, flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
			got = mrtr.Confirm(c, "confirm", "Sure?")
			return "went on", nil
		}))
		state := h.asks(h.call("tool", "", nil), "confirm")
		h.says(h.call("tool", state, flowAnswers{"confirm": answer}), "went on")
		require.ErrorIs(t, got, want)
		var outcome *mrtr.OutcomeError
		require.ErrorAs(t, got, &outcome)
		require.Equal(t, "confirm", outcome.Key)
	}
}

// A text that differs in every run is never confirmed: the cap on rounds ends
// the flow, and the log tells the author.
func TestConfirmLiveText(t *testing.T) {
	runs := 0
	h := newFlowHost(t, flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
		runs++
		return "paid", mrtr.Confirm(c, "confirm", "Pay now, "+strconv.Itoa(runs)+"?")
	}), func(o *mrtr.HandlerOptions) { o.MaxRounds = 5 })
	var state string
	for range 4 {
		state = h.asks(h.call("tool", state, flowAnswers{"confirm": flowYes}), "confirm")
	}
	why := h.broken(h.call("tool", state, flowAnswers{"confirm": flowYes}), "too_many_rounds")
	require.Contains(t, why, `"tool"`)
	require.Contains(t, why, `"confirm"`)
	require.Contains(t, why, "round 5")
	require.Contains(t, why, "text")
	require.Equal(t, 5, runs)
	require.NotContains(t, h.log.String(), "Pay now", "what is asked is not for the log")
}

// Confirm, pay, ask again: a live balance in the confirmation's text changes by
// the payment itself, and something follows, so the flow diverges. A step keeps
// the balance as it was when it was confirmed.
func TestConfirmOwnEffect(t *testing.T) {
	for _, stepped := range []bool{false, true} {
		t.Run(fmt.Sprintf("stepped=%v", stepped), func(t *testing.T) {
			balance, paid := 100, 0
			read := func(context.Context) (int, error) { return balance, nil }
			h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
				have, err := read(ctx)
				if stepped {
					have, err = mrtr.Step(ctx, c, "balance", read)
				}
				if err != nil {
					return "", err
				}
				if err := mrtr.Confirm(c, "confirm", fmt.Sprintf("Pay 30 of %d?", have)); err != nil {
					return "", err
				}
				if _, err := mrtr.Step(ctx, c, "pay", func(context.Context) (bool, error) {
					balance, paid = balance-30, paid+1
					return true, nil
				}); err != nil {
					return "", err
				}
				note, err := mrtr.Ask[flowForm](c, "note", "Paid. A note for the records?")
				return fmt.Sprintf("%s: %d left", note.Name, balance), err
			}))
			state := h.asks(h.call("tool", "", nil), "confirm")
			state = h.asks(h.call("tool", state, flowAnswers{"confirm": flowYes}), "note")
			r := h.call("tool", state, flowAnswers{"note": flowName("rent")})
			require.Equal(t, 1, paid)
			if stepped {
				h.says(r, "rent: 70 left")
				return
			}
			require.Equal(t, "diverged", h.restarts(r))
			require.ErrorContains(t, r.info.Err, `the text of confirmation "confirm" at 0 has changed after later questions or steps`)
		})
	}
}

func TestAnonymous(t *testing.T) {
	tools := map[string]func(*mrtr.Call) error{
		"confirm": func(c *mrtr.Call) error { return mrtr.Confirm(c, "q", "Sure?") },
		"url": func(c *mrtr.Call) error {
			return mrtr.AskAll(c, mrtr.URL("q", "Sign in, please.", "https://login.example"))
		},
		"optional url": func(c *mrtr.Call) error {
			var did bool
			return mrtr.AskAll(c, mrtr.Optional(mrtr.URL("q", "Sign in, please.", "https://login.example"), &did))
		},
		"swallowed": func(c *mrtr.Call) error {
			_ = mrtr.Confirm(c, "q", "Sure?")
			return nil
		},
	}
	for name, ask := range tools {
		t.Run(name, func(t *testing.T) {
			register := flowTool(func(_ context.Context, c *mrtr.Call) (string, error) { return "done", ask(c) })
			h := newFlowHost(t, register)
			h.principal = nil
			for range 2 {
				h.fails(h.call("tool", "", flowAnswers{"q": flowYes}), "This tool needs a caller who is signed in.")
			}
			h.principal = &flowAlice
			state := h.asks(h.call("tool", "", nil), "q")
			h.says(h.call("tool", state, flowAnswers{"q": flowYes}), "done")
			h.principal = nil
			require.Equal(t, "principal_absent", h.restarts(h.call("tool", state, flowAnswers{"q": flowYes})))

			h = newFlowHost(t, register, func(o *mrtr.HandlerOptions) { o.AllowAnonymous = true })
			h.principal = nil
			state = h.asks(h.call("tool", "", nil), "q")
			h.says(h.call("tool", state, flowAnswers{"q": flowYes}), "done")
		})
	}
}

// A form asks for nothing that binds a person.
func TestAnonymousForm(t *testing.T) {
	h := newFlowHost(t, flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
		v, err := mrtr.Ask[flowForm](c, "q", "Name?")
		return v.Name, err
	}))
	h.principal = nil
	state := h.asks(h.call("tool", "", nil), "q")
	h.says(h.call("tool", state, flowAnswers{"q": flowName("Bo")}), "Bo")
}

func TestURL(t *testing.T) {
	signedIn := false // only the tool can tell: an accept says that the user agreed to go there
	h := newFlowHost(t, flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		for _, key := range []string{"first", "second"} {
			if err := mrtr.AskAll(c, mrtr.URL(key, "Sign in, please.", "https://login.example/start?flow=7")); err != nil {
				return "", err
			}
			done, err := mrtr.Step(ctx, c, "check "+key, func(context.Context) (bool, error) { return signedIn, nil })
			if done || err != nil {
				return "signed in", err
			}
		}
		return "not signed in", nil
	}))
	r := h.call("tool", "", nil)
	state := h.asks(r, "first")
	q, _ := r.result.Requests.Get("first")
	require.Equal(t, protocol.MethodElicit, q.Method)
	require.JSONEq(t, `{"mode":"url","message":"Sign in, please.","url":"https://login.example/start?flow=7"}`, string(q.Params))

	h.fails(h.call("tool", state, flowAnswers{"first": flowDecline}), `The call ended because the question "first" was declined.`)
	state = h.asks(h.call("tool", state, flowAnswers{"first": `{"action":"accept"}`}), "second")
	h.says(h.call("tool", state, flowAnswers{"second": `{"action":"accept"}`}), "not signed in")
	signedIn = true
	h.says(h.call("tool", state, flowAnswers{"second": `{"action":"accept"}`}), "signed in")

	h.caps = `{"elicitation":{"form":{}}}`
	r = h.call("tool", "", nil)
	require.Equal(t, 400, r.status)
	require.Equal(t, -32021, r.err.Code)
	require.JSONEq(t, `{"requiredCapabilities":{"elicitation":{"url":{}}}}`, string(r.err.Data))
}

func TestURLAddress(t *testing.T) {
	for _, address := range []string{
		"http://login.example", "//login.example", "login.example", "https://", "https:login.example", "",
		"https://user@login.example", "https://user:word@login.example", "javascript:alert(1)", "file:///etc/passwd",
		"HTTP://login.example", "https://login.example/%zz", " https://login.example", "mailto:a@b.example",
	} {
		h := newFlowHost(t, flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
			return "", mrtr.AskAll(c, mrtr.URL("q", "Go.", address))
		}))
		require.Contains(t, h.broken(h.call("tool", "", nil), "misuse"), "https address without credentials", "%q", address)
	}
	h := newFlowHost(t, flowTool(func(_ context.Context, c *mrtr.Call) (string, error) {
		return "", mrtr.AskAll(c, mrtr.URL("q", "Go.", "HTTPS://Login.Example:8443/a?b#c"))
	}))
	h.asks(h.call("tool", "", nil), "q")
}

// A confirmation may stand beside other questions of one round.
func TestConfirmationInGroup(t *testing.T) {
	srv := mrtr.NewServer(protocol.Implementation{Name: "test", Version: "1"}, nil)
	mrtr.AddTool(srv, mrtr.Tool{Name: "both"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		var note struct {
			Text string `json:"text"`
		}
		if err := mrtr.AskAll(c, mrtr.Form("note", "A note?", &note), mrtr.Confirmation("sure", "Send it?")); err != nil {
			return nil, err
		}
		return mrtr.Text("sent " + note.Text), nil
	})
	note := map[string]any{"text": "hi"}
	for _, tt := range []struct {
		name   string
		sure   any
		want   string
		rounds int
	}{
		{"yes", map[string]any{"ok": true}, "sent hi", 2},
		{"no", map[string]any{"ok": false}, `The call ended because the question "sure" was declined.`, 2},
		{"cancel", mrtrtest.Cancel, `The call ended because the question "sure" was cancelled.`, 2},
		{"unanswered at first", mrtrtest.Sequence(nil, map[string]any{"ok": true}), "sent hi", 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			played := mrtrtest.Play(t, mrtrtest.Local(srv), mrtrtest.Call{Name: "both", Answers: mrtrtest.Answers{"note": note, "sure": tt.sure}})
			require.Equal(t, tt.want, played.Text())
			require.Len(t, played.Rounds, tt.rounds)
		})
	}
	refused := mrtrtest.Local(srv, func(o *mrtr.HandlerOptions) { o.AllowAnonymous = false })
	require.Contains(t, mrtrtest.Play(t, refused, mrtrtest.Call{Name: "both"}).Text(), "signed in")
}
