package mrtr_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// askEverything is what a handler of any kind may do.
func askEverything(ctx context.Context, c *mrtr.Call) (string, error) {
	name, err := mrtr.Ask[flowForm](c, "name", "Name?")
	if err != nil {
		return "", err
	}
	n, err := mrtr.Step(ctx, c, "count", func(context.Context) (int, error) { return 7, nil })
	if err != nil {
		return "", err
	}
	if err := mrtr.Confirm(c, "confirm", fmt.Sprintf("%d for %s?", n, name.Name)); err != nil {
		return "", err
	}
	key, err := c.IdempotencyKey("effect")
	return fmt.Sprintf("%d for %s, %d", n, name.Name, len(key)), err
}

// Everything has one name here, so that nothing but its kind keeps states apart.
const everyName = "test://every/1"

func registerEveryKind(s *mrtr.Server) {
	mrtr.AddTool(s, mrtr.Tool{Name: "every"}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		text, err := askEverything(ctx, c)
		return mrtr.Text(text), err
	})
	for _, name := range []string{"every", everyName} {
		mrtr.AddPrompt(s, mrtr.Prompt{Name: name}, func(ctx context.Context, c *mrtr.Call, _ map[string]string) (*protocol.GetPromptResult, error) {
			text, err := askEverything(ctx, c)
			return &protocol.GetPromptResult{Description: text}, err
		})
	}
	contents := func(ctx context.Context, c *mrtr.Call, uri string) ([]protocol.ResourceContents, error) {
		text, err := askEverything(ctx, c)
		return []protocol.ResourceContents{{URI: uri, Text: text}}, err
	}
	mrtr.AddResource(s, mrtr.Resource{URI: everyName, Name: "every"}, func(ctx context.Context, c *mrtr.Call) ([]protocol.ResourceContents, error) {
		return contents(ctx, c, everyName)
	})
	mrtr.AddResourceTemplate(s, mrtr.ResourceTemplate{URITemplate: "test://every/{n}", Name: "every of them"}, func(ctx context.Context, c *mrtr.Call, uri string, _ map[string]string) ([]protocol.ResourceContents, error) {
		return contents(ctx, c, uri)
	})
}

var everyKind = []struct{ method, name string }{
	{protocol.MethodCallTool, "every"},
	{protocol.MethodGetPrompt, "every"},
	{protocol.MethodGetPrompt, everyName},
	{protocol.MethodReadResource, everyName},
	{protocol.MethodReadResource, "test://every/2"},
}

// Prompts and resources ask as tools do.
func TestFlowEveryKind(t *testing.T) {
	h := newFlowHost(t, registerEveryKind)
	for _, k := range everyKind {
		t.Run(k.method+" "+k.name, func(t *testing.T) {
			h.t, h.method = t, k.method
			state := h.asks(h.call(k.name, "", nil), "name")
			state = h.asks(h.call(k.name, state, flowAnswers{"name": `{"action":"accept"}`}), "name")
			r := h.call(k.name, state, flowAnswers{"name": flowName("Bo")})
			require.Equal(t, "7 for Bo?", r.message(t, "confirm"))
			state = h.asks(r, "confirm")
			r = h.call(k.name, state, flowAnswers{"confirm": flowYes})
			require.Nil(t, r.err, r.body)
			require.Contains(t, r.body, "7 for Bo, 64")
			require.Equal(t, protocol.ResultComplete, r.result.Type)
			require.Equal(t, 4, r.info.Round)

			// A no: a tool's result says so, the others have none that could.
			const no = `The call ended because the question "confirm" was declined.`
			r = h.call(k.name, state, flowAnswers{"confirm": flowNo})
			require.Equal(t, "declined", r.info.Reason)
			if k.method == protocol.MethodCallTool {
				h.fails(r, no)
				return
			}
			require.Equal(t, -32603, r.err.Code)
			require.Equal(t, no, r.err.Message)
		})
	}
}

// A state continues what it was made for and nothing else, be it of one name.
func TestFlowKindsApart(t *testing.T) {
	h := newFlowHost(t, registerEveryKind)
	for _, from := range everyKind {
		h.method = from.method
		state := h.asks(h.call(from.name, "", nil), "name")
		for _, to := range everyKind {
			h.method = to.method
			r := h.call(to.name, state, flowAnswers{"name": flowName("Bo")})
			if from == to {
				h.asks(r, "confirm")
				continue
			}
			why := "target"
			if from.method != to.method {
				why = "wrong_purpose"
			}
			require.Equal(t, why, h.restarts(r), "%v to %v", from, to)
		}
	}
}

// What was given in a round's result reaches the client beside nothing else.
func TestFlowPromptSwallows(t *testing.T) {
	h := newFlowHost(t, func(s *mrtr.Server) {
		mrtr.AddPrompt(s, mrtr.Prompt{Name: "prompt"}, func(_ context.Context, c *mrtr.Call, _ map[string]string) (*protocol.GetPromptResult, error) {
			_, _ = mrtr.Ask[flowForm](c, "name", "Name?")
			return &protocol.GetPromptResult{Description: "a result"}, nil
		})
	})
	h.method = protocol.MethodGetPrompt
	r := h.call("prompt", "", nil)
	h.asks(r, "name")
	require.True(t, r.info.Swallowed)
	var body struct {
		Result map[string]any `json:"result"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.body), &body, json.MatchCaseInsensitiveNames(false)))
	require.NotContains(t, body.Result, "description")
}
