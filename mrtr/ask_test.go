package mrtr_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
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
	k.do(request{name: "remark", params: retry(state, accept("remark", `{"text":"x","unknown":1}`))}).says(t, `remark: "x"`)

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
