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
)

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
