package mrtr_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

type trip struct {
	City  string `json:"city" form:"maxLength=8"`
	Class string `json:"class" form:"enum=economy|business"`
	Seats int    `json:"seats"`
}

type remark struct {
	Text string `json:"text,omitzero"`
}

// askServer asks one question of each kind.
func askServer(s *mrtr.Server) {
	tool(s, "greet", greet)
	tool(s, "trip", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
		v, err := mrtr.Ask[trip](c, "trip", "Where to?")
		if err != nil {
			return nil, err
		}
		return mrtr.Textf("%d %s to %s", v.Seats, v.Class, v.City), nil
	})
	tool(s, "remark", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
		v, err := mrtr.Ask[remark](c, "remark", "Anything else?")
		if err != nil {
			return nil, err
		}
		return mrtr.Textf("remark: %q", v.Text), nil
	})
	tool(s, "url", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
		if err := mrtr.AskAll(c, mrtr.URL("pay", "Please pay.", "https://pay.example/1")); err != nil {
			return nil, err
		}
		return mrtr.Text("opened"), nil
	})
	tool(s, "confirm", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
		if err := mrtr.Confirm(c, "sure", "Pay 5?"); err != nil {
			return nil, err
		}
		return mrtr.Text("paid"), nil
	})
	tool(s, "model", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
		var m protocol.CreateMessageResult
		p := protocol.CreateMessageParams{MaxTokens: 5, Messages: []protocol.SamplingMessage{{Role: "user", Content: protocol.SamplingContent{protocol.Text("Say hi")}}}}
		if err := mrtr.AskAll(c, mrtr.Sampling("model", p, &m)); err != nil {
			return nil, err
		}
		return mrtr.Textf("%s says %d", m.Model, len(m.Content)), nil
	})
	tool(s, "roots", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
		var roots []protocol.Root
		if err := mrtr.AskAll(c, mrtr.Roots("roots", &roots)); err != nil {
			return nil, err
		}
		return mrtr.Textf("%d roots", len(roots)), nil
	})
}

// TestUnusableAnswers: an answer that cannot be used is asked again, the same
// question, and what the client is told names places and never values.
func TestUnusableAnswers(t *testing.T) {
	for _, tt := range []struct{ tool, key, answer, place string }{
		{"trip", "trip", `null`, ``},
		{"trip", "trip", `7`, ``},
		{"trip", "trip", `"secret"`, ``},
		{"trip", "trip", `[]`, ``},
		{"trip", "trip", `true`, ``},
		{"trip", "trip", `{}`, `action`},
		{"trip", "trip", `{"action":null}`, `action`},
		{"trip", "trip", `{"action":"secret"}`, `action`},
		{"trip", "trip", `{"action":"Accept","content":{"city":"Rome","class":"economy","seats":1}}`, `action`},
		{"trip", "trip", `{"Action":"accept","content":{"city":"Rome","class":"economy","seats":1}}`, `action`},
		{"trip", "trip", `{"action":"accept"}`, `/city`},
		{"trip", "trip", `{"action":"accept","content":null}`, `content`},
		{"trip", "trip", `{"action":"accept","content":"secret"}`, `content`},
		{"trip", "trip", `{"action":"accept","content":["secret"]}`, `content`},
		{"trip", "trip", `{"action":"accept","content":{"city":"secret-secret","class":"economy","seats":1}}`, `/city`},
		{"trip", "trip", `{"action":"accept","content":{"city":7,"class":"economy","seats":1}}`, `/city`},
		{"trip", "trip", `{"action":"accept","content":{"city":null,"class":"economy","seats":1}}`, `/city`},
		{"trip", "trip", `{"action":"accept","content":{"city":"Rome","class":"secret","seats":1}}`, `/class`},
		{"trip", "trip", `{"action":"accept","content":{"city":"Rome","class":"economy","seats":1.5}}`, `/seats`},
		{"trip", "trip", `{"action":"accept","content":{"city":"Rome","class":"economy","seats":"1"}}`, `/seats`},
		{"trip", "trip", `{"action":"accept","content":{"city":"Rome","class":"economy","seats":99999999999999999999}}`, ``},
		{"trip", "trip", `{"action":"accept","content":{"City":"Rome","class":"economy","seats":1}}`, `/city`},
		{"confirm", "sure", `{"action":"accept"}`, `/ok`},
		{"confirm", "sure", `{"action":"accept","content":{}}`, `/ok`},
		{"confirm", "sure", `{"action":"accept","content":{"ok":"true"}}`, `/ok`},
		{"confirm", "sure", `{"action":"accept","content":{"ok":null}}`, `/ok`},
		{"confirm", "sure", `{"action":"accept","content":{"ok":1}}`, `/ok`},
		{"confirm", "sure", `{"action":"accept","content":{"OK":true}}`, `/ok`},
		{"url", "pay", `{"action":"secret"}`, `action`},
		{"url", "pay", `null`, ``},
		{"model", "model", `null`, ``},
		{"model", "model", `{"role":"assistant","content":{"type":"text","text":"secret"}}`, `model`},
		{"model", "model", `{"role":"assistant","model":"m"}`, `content`},
		{"model", "model", `{"role":"assistant","model":"m","content":"secret"}`, ``},
		{"model", "model", `{"action":"decline"}`, `role`},
		{"roots", "roots", `[]`, ``},
		{"roots", "roots", `{"roots":null}`, `roots`},
		{"roots", "roots", `{"roots":"secret"}`, ``},
	} {
		t.Run(tt.tool+" "+tt.answer, func(t *testing.T) {
			k := newKit(t, askServer, nil)
			first := k.do(request{name: tt.tool})
			state := first.asks(t, tt.key)
			again := k.do(request{name: tt.tool, params: retry(state, quote(tt.key)+":"+tt.answer)})
			state = again.asks(t, tt.key)
			require.Equal(t, first.Result.InputRequests, again.Result.InputRequests, "the same question")
			require.NotContains(t, again.body, "secret")
			require.NotContains(t, again.body, "Go ")
			require.NotContains(t, again.body, "struct")
			why := string(again.Result.Meta[mrtr.MetaInvalid])
			require.Contains(t, why, quote(tt.key), "the question is named")
			require.Contains(t, why, tt.place)
			require.NotContains(t, string(first.Result.Meta[mrtr.MetaInvalid]), tt.key)
			require.Equal(t, "invalid_answer", k.last().Reason)
			require.NotContains(t, k.log(), "secret")

			// It goes on where it was.
			good := map[string]string{
				"trip": accept("trip", `{"city":"Rome","class":"economy","seats":1}`), "sure": accept("sure", `{"ok":true}`), "pay": `"pay":{"action":"accept"}`,
				"model": `"model":{"role":"assistant","model":"m","content":{"type":"text","text":"hi"}}`, "roots": `"roots":{"roots":[{"uri":"file:///a"}]}`,
			}
			done := k.do(request{name: tt.tool, params: retry(state, good[tt.key])})
			require.Equal(t, "complete", done.Result.ResultType, done.body)
		})
	}
}

func TestAnswersWithoutContent(t *testing.T) {
	k := newKit(t, askServer, nil)
	state := k.do(request{name: "remark"}).asks(t, "remark")
	k.do(request{name: "remark", params: retry(state, `"remark":{"action":"accept"}`)}).says(t, `remark: ""`)
	k.do(request{name: "remark", params: retry(state, accept("remark", `{"text":"x","unknown":1}`))})

	state = k.do(request{name: "url"}).asks(t, "pay")
	k.do(request{name: "url", params: retry(state, `"pay":{"action":"accept"}`)}).says(t, "opened")
}

// TestAskNo: a question that is refused ends the call politely.
func TestAskNo(t *testing.T) {
	for _, tt := range []struct{ tool, key, answer, says string }{
		{"greet", "user_name", `{"action":"decline"}`, `declined`},
		{"greet", "user_name", `{"action":"cancel"}`, `cancelled`},
		{"greet", "user_name", `{"action":"decline","content":{"name":"secret"}}`, `declined`},
		{"url", "pay", `{"action":"decline"}`, `declined`},
		{"confirm", "sure", `{"action":"decline","content":{"ok":true}}`, `declined`},
		{"confirm", "sure", `{"action":"cancel"}`, `cancelled`},
		{"confirm", "sure", `{"action":"accept","content":{"ok":false}}`, `declined`},
	} {
		t.Run(tt.tool+" "+tt.answer, func(t *testing.T) {
			k := newKit(t, askServer, nil)
			state := k.do(request{name: tt.tool}).asks(t, tt.key)
			res := k.do(request{name: tt.tool, params: retry(state, quote(tt.key)+":"+tt.answer)})
			res.failsInWords(t)
			require.Contains(t, res.text(), tt.says)
			require.Contains(t, res.text(), tt.key)
			require.NotContains(t, res.body, "secret")
		})
	}
}

// TestFirstCallWithAnswers: keys that the tool then asks for are used, others
// ignored, and nothing confirms what was not shown.
func TestFirstCallWithAnswers(t *testing.T) {
	k := newKit(t, askServer, nil)
	name := accept("user_name", `{"name":"Alice"}`)
	k.do(request{name: "greet", params: `"inputResponses":{` + name + `,"stranger":null}`}).says(t, "Hello, Alice!")
	k.do(request{name: "greet", params: `"inputResponses":{"stranger":{"action":"decline"}}`}).asks(t, "user_name")
	k.do(request{name: "greet", params: `"inputResponses":{}`}).asks(t, "user_name")
	k.do(request{name: "url", params: `"inputResponses":{"pay":{"action":"accept"}}`}).says(t, "opened")

	sure := accept("sure", `{"ok":true}`)
	state := k.do(request{name: "confirm", params: `"inputResponses":{` + sure + `}`}).asks(t, "sure")
	k.do(request{name: "confirm", params: retry(state, sure)}).says(t, "paid")
}

// TestAskPartial: only what is missing is asked again, and what was
// answered stays.
func TestAskPartial(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "three", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			var a, b, d nameForm
			var answered bool
			if err := mrtr.AskAll(c, mrtr.Form("a", "A?", &a), mrtr.Form("b", "B?", &b), mrtr.Optional(mrtr.Form("d", "D?", &d), &answered)); err != nil {
				return nil, err
			}
			return mrtr.Textf("%s %s %s %t", a.Name, b.Name, d.Name, answered), nil
		})
	}, nil)
	state := k.do(request{name: "three"}).asks(t, "a", "b", "d")
	state2 := k.do(request{name: "three", params: retry(state, accept("b", `{"name":"B"}`))}).asks(t, "a", "d")
	state3 := k.do(request{name: "three", params: retry(state2, accept("b", `{"name":"other"}`), `"d":{"action":"decline"}`)}).asks(t, "a")
	k.do(request{name: "three", params: retry(state3, accept("a", `{"name":"A"}`), accept("d", `{"name":"D"}`))}).says(t, "A B  false")

	// An earlier state goes its own way.
	k.do(request{name: "three", params: retry(state2, accept("a", `{"name":"A"}`), accept("d", `{"name":"D"}`))}).says(t, "A B D true")
	res := k.do(request{name: "three", params: retry(state, `"b":{"action":"decline"}`)})
	res.failsInWords(t)
	require.Contains(t, res.text(), `"b" was declined`)
}

// TestAskWording: rewording a form is harmless, rewording a confirmation asks it
// anew, and another shape of what is answered is refused.
func TestAskWording(t *testing.T) {
	type other struct {
		Name string `json:"name"`
		Age  int    `json:"age"`
	}
	var text, shape string
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "t", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			var err error
			if shape == "other" {
				_, err = mrtr.Ask[other](c, "name", text)
			} else {
				_, err = mrtr.Ask[nameForm](c, "name", text)
			}
			if err != nil {
				return nil, err
			}
			if err := mrtr.Confirm(c, "sure", text); err != nil {
				return nil, err
			}
			return mrtr.Text("done"), nil
		})
	}, nil)
	name, sure := accept("name", `{"name":"Alice"}`), accept("sure", `{"ok":true}`)
	text = "first"
	state := k.do(request{name: "t"}).asks(t, "name")
	text = "second"
	state = k.do(request{name: "t", params: retry(state, name)}).asks(t, "sure")
	k.do(request{name: "t", params: retry(state, sure)}).says(t, "done")
	text = "third"
	again := k.do(request{name: "t", params: retry(state, sure)})
	again.asks(t, "sure")
	require.Contains(t, again.body, "third")
	shape = "other"
	res := k.do(request{name: "t", params: retry(state, sure)})
	require.Equal(t, frozen, res.body)
	require.Equal(t, "diverged", k.last().Reason)
}

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

// TestAskSwallowed: a handler that overlooks that it had to ask still asks.
func TestAskSwallowed(t *testing.T) {
	k := newKit(t, func(s *mrtr.Server) {
		tool(s, "t", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			v, _ := mrtr.Ask[nameForm](c, "user_name", "?")
			w, _ := mrtr.Ask[nameForm](c, "later", "?")
			return mrtr.Textf("%s %s", v.Name, w.Name), nil
		})
	}, nil)
	state := k.do(request{name: "t"}).asks(t, "user_name")
	require.True(t, k.last().Swallowed)
	state = k.do(request{name: "t", params: retry(state, accept("user_name", `{"name":"A"}`))}).asks(t, "later")
	k.do(request{name: "t", params: retry(state, accept("later", `{"name":"B"}`))}).says(t, "A B")
	require.False(t, k.last().Swallowed)
}

// TestAskMisuse: what an author must not do is an internal error, with the reason
// in the log, in the first round already.
func TestAskMisuse(t *testing.T) {
	for name, tt := range map[string]struct {
		h   func(context.Context, *mrtr.Call) error
		log string
	}{
		"one key twice": {func(_ context.Context, c *mrtr.Call) error {
			var a, b nameForm
			return mrtr.AskAll(c, mrtr.Form("k", "?", &a), mrtr.Form("k", "?", &b))
		}, `question \"k\" twice`},
		"no questions":        {func(_ context.Context, c *mrtr.Call) error { return mrtr.AskAll(c) }, "without questions"},
		"a zero Question":     {func(_ context.Context, c *mrtr.Call) error { return mrtr.AskAll(c, mrtr.Question{}) }, "no constructor"},
		"a form of no struct": {func(_ context.Context, c *mrtr.Call) error { _, err := mrtr.Ask[[]string](c, "k", "?"); return err }, `question \"k\"`},
		"a form with a struct": {func(_ context.Context, c *mrtr.Call) error {
			_, err := mrtr.Ask[struct{ A struct{ B int } }](c, "k", "?")
			return err
		}, `question \"k\"`},
		"an http address": {func(_ context.Context, c *mrtr.Call) error {
			return mrtr.AskAll(c, mrtr.URL("k", "?", "http://pay.example/"))
		}, "https address"},
		"credentials in an address": {func(_ context.Context, c *mrtr.Call) error {
			return mrtr.AskAll(c, mrtr.URL("k", "?", "https://user:secret@pay.example/"))
		}, "https address"},
		"asking in a step": {func(ctx context.Context, c *mrtr.Call) error {
			_, err := mrtr.Step(ctx, c, "s", func(context.Context) (int, error) {
				_, err := mrtr.Ask[nameForm](c, "k", "?")
				return 1, err
			})
			return err
		}, "inside a step"},
		"a step that is no JSON": {func(ctx context.Context, c *mrtr.Call) error {
			_, err := mrtr.Step(ctx, c, "s", func(context.Context) (chan int, error) { return nil, nil })
			return err
		}, `step \"s\"`},
		"a guard after a step": {func(ctx context.Context, c *mrtr.Call) error {
			if _, err := mrtr.Step(ctx, c, "s", func(context.Context) (int, error) { return 1, nil }); err != nil {
				return err
			}
			return c.RequestInput(protocol.InputRequests{{Key: "k", Method: protocol.MethodListRoots}}, nil)
		}, "RequestInput after"},
		"a guard without requests": {func(_ context.Context, c *mrtr.Call) error { return c.RequestInput(nil, nil) }, "without requests"},
		"a guard with one key twice": {func(_ context.Context, c *mrtr.Call) error {
			return c.RequestInput(protocol.InputRequests{{Key: "k", Method: protocol.MethodListRoots}, {Key: "k", Method: protocol.MethodListRoots}}, nil)
		}, "twice"},
		"a key that is not UTF-8": {func(_ context.Context, c *mrtr.Call) error { _, err := mrtr.Ask[nameForm](c, "\xff", "?"); return err }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, func(s *mrtr.Server) {
				tool(s, "t", func(ctx context.Context, c *mrtr.Call) (*mrtr.Result, error) {
					if err := tt.h(ctx, c); err != nil {
						return nil, err
					}
					return mrtr.Text("done"), nil
				})
			}, nil)
			res := k.do(request{name: "t"})
			res.failed(t, 200, -32603)
			require.Equal(t, "Internal error", res.Error.Message)
			require.Contains(t, k.log(), tt.log)
			require.NotContains(t, k.log(), "secret")
		})
	}
}

// TestAnswersAreNotLogged plays flows whose arguments, answers, results of
// steps and own states hold a word, and ends them in every way. The word and
// the states are nowhere in the log.
func TestAnswersAreNotLogged(t *testing.T) {
	const word = "xyzzy"
	k := newKit(t, func(s *mrtr.Server) {
		mrtr.AddTool(s, mrtr.Tool{Name: "flow"}, func(ctx context.Context, c *mrtr.Call, in struct {
			End  string `json:"end"`
			Note string `json:"note"`
		}) (*mrtr.Result, error) {
			var name nameForm
			if err := mrtr.AskAll(c, mrtr.Form("name", "About "+in.Note+"?", &name)); err != nil {
				return nil, err
			}
			if _, err := mrtr.Step(ctx, c, "step", func(context.Context) (string, error) { return name.Name, nil }); err != nil {
				return nil, err
			}
			if err := mrtr.Confirm(c, "sure", "With "+name.Name+"?"); err != nil {
				return nil, err
			}
			switch in.End {
			case "panic":
				panic(name.Name)
			case "panic_error":
				panic(fmt.Errorf("%s", name.Name))
			case "public":
				return nil, mrtr.Errorf("public: %s", name.Name)
			case "diverge":
				if c.Round() > 2 {
					_, err := mrtr.Ask[nameForm](c, "another "+in.End, name.Name)
					return nil, err
				}
			case "misuse":
				_, err := mrtr.Ask[nameForm](c, "name", name.Name)
				return nil, err
			}
			return mrtr.Text("done " + name.Name), nil
		})
		tool(s, "guard", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			if v, ok := c.InputResponse("k"); ok {
				return mrtr.Text(string(v) + string(c.RequestState())), nil
			}
			return nil, c.RequestInput(protocol.InputRequests{{Key: "k", Method: protocol.MethodListRoots, Params: jsontext.Value(`{}`)}}, []byte(word))
		})
	}, nil)
	var states []string
	note := func(state string) string {
		states = append(states, state)
		return state
	}
	for _, end := range []string{"ok", "panic", "panic_error", "public", "diverge", "misuse"} {
		args := `"arguments":{"end":"` + end + `","note":"` + word + `"},`
		first := k.do(request{name: "flow", params: strings.TrimSuffix(args, ",")})
		state := note(first.asks(t, "name"))
		state = note(k.do(request{name: "flow", params: args + retry(state, accept("name", `{"name":["`+word+`"],"`+word+`":1}`), `"`+word+`":"`+word+`"`)}).asks(t, "name"))
		res := k.do(request{name: "flow", params: args + retry(state, accept("name", `{"name":"`+word+`"}`))})
		state = note(res.asks(t, "sure"))
		k.do(request{name: "flow", params: args + retry(state, accept("sure", `{"ok":true}`))})
		k.do(request{name: "flow", params: args + retry(state, `"sure":{"action":"decline","content":{"ok":"`+word+`"}}`)})
		// Refused ones: other arguments, a broken state, no object.
		k.do(request{name: "flow", params: retry(state)})
		k.do(request{name: "flow", params: args + retry(state[:len(state)-4]+"AAAA")})
		k.do(request{name: "flow", params: args + retry(word)})
	}
	k.do(request{name: "flow", params: `"arguments":{"` + word + `":"` + word + `"}`})
	k.do(request{name: word})
	k.do(request{method: word})
	k.do(request{method: "prompts/get", name: word})
	k.do(request{name: "flow", header: map[string]string{"Mcp-Name": word}})
	k.do(request{body: `{"` + word + `":`})
	guard := note(k.do(request{name: "guard"}).asks(t, "k"))
	k.do(request{name: "guard", params: retry(guard, `"k":"`+word+`"`)})

	log := k.log()
	require.Greater(t, strings.Count(log, "\n"), 50, "every request has its line")
	require.NotContains(t, log, word)
	for _, state := range states {
		require.NotContains(t, log, state)
		require.NotContains(t, log, state[len(state)-40:])
	}
	for _, i := range k.rounds {
		require.NotContains(t, fmt.Sprintf("%+v", i), word)
	}
}
