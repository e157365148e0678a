package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// reload writes a flow to a file and reads it back.
func reload(t *testing.T, f *client.Flow) *client.Flow {
	t.Helper()
	file := filepath.Join(t.TempDir(), "flow.json")
	b, err := json.Marshal(f)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, b, 0o600))
	b, err = os.ReadFile(file)
	require.NoError(t, err)
	again := new(client.Flow)
	require.NoError(t, json.Unmarshal(b, again))
	second, err := json.Marshal(again)
	require.NoError(t, err)
	require.JSONEq(t, string(b), string(second))
	return again
}

// TestFlowSaved takes a call in steps, each over a session of its own, from and
// to a file.
func TestFlowSaved(t *testing.T) {
	url := fixtures(t)
	flow, err := client.NewToolCall("test_incomplete_result_multi_round", map[string]any{"n": 1})
	require.NoError(t, err)
	for round := 1; !flow.Done(); round++ {
		flow = reload(t, flow)
		for _, q := range flow.Questions() {
			answer, err := client.Accept(jsontext.Value(fixtureAnswers[q.Key]))
			require.NoError(t, err)
			require.NoError(t, flow.Answer(q.Key, answer))
			flow = reload(t, flow)
		}
		require.NoError(t, flow.Step(t.Context(), connect(t, url, fill(nil), ""), nil))
		require.Equal(t, round, flow.Rounds())
	}
	flow = reload(t, flow)
	out, err := flow.ToolOutcome()
	require.NoError(t, err)
	require.Equal(t, "Hi Ann, your favorite color is red.", text(t, out.Result))
	require.Equal(t, 3, out.Rounds)
	require.ErrorIs(t, flow.Step(t.Context(), nil, nil), client.ErrDone)
}

// TestFlowSavedRestart holds that what a saved flow knows of its answers
// outlives a fresh start, and its bounds a reload.
func TestFlowSavedRestart(t *testing.T) {
	q := ask("s", "name", form("?", nameSchema))
	f := &fake{answer: say(q, restart, q, restart)}
	session := connect(t, f.start(t), fill(nil), "")
	flow, err := client.NewToolCall("t", nil)
	require.NoError(t, err)
	step := func() error {
		flow = reload(t, flow)
		return flow.Step(t.Context(), session, nil)
	}
	require.NoError(t, step())
	answer, err := client.Accept(map[string]string{"name": "x"})
	require.NoError(t, err)
	require.NoError(t, flow.Answer("name", answer))
	require.NoError(t, step())
	require.Equal(t, 1, flow.Restarts())
	require.NoError(t, step())
	require.Empty(t, flow.Questions())
	err = step()
	_, ok := errors.AsType[*client.RestartError](err)
	require.True(t, ok)
	require.False(t, flow.Done())
}

func TestFlowAnswers(t *testing.T) {
	f := &fake{answer: say(ask("s", "b", form("?", nameSchema), "a", form("?", nameSchema),
		"c", `{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}`, "d", `{"method":"roots/list"}`,
		"e", `{"method":"elicitation/create","params":{"mode":"url","message":"","url":"https://a.example/"}}`), done)}
	session := connect(t, f.start(t), fill(nil), "")
	flow, err := client.NewToolCall("t", nil)
	require.NoError(t, err)
	require.Empty(t, flow.Questions())
	out, err := flow.ToolOutcome()
	require.NoError(t, err)
	require.Nil(t, out)
	_, err = flow.PromptOutcome()
	require.IsType(t, &client.ResultError{}, err)
	require.NoError(t, flow.Step(t.Context(), session, nil))
	require.Equal(t, &client.UnansweredError{Keys: []string{"a", "b", "c", "d", "e"}}, flow.Step(t.Context(), session, nil))

	for _, tt := range []struct{ key, answer, problem string }{
		{"a", `[]`, "it is not a JSON object"},
		{"a", ``, "it is not a JSON object"},
		{"a", `{"action":"accept"`, "it is not a JSON object"},
		{"a", `{}`, "/action must be accept, decline or cancel"},
		{"a", `{"action":"Accept","content":{"name":"secret"}}`, "/action must be accept, decline or cancel"},
		{"a", `{"action":"accept"}`, "/name is required"},
		{"a", `{"action":"accept","content":["secret"]}`, "/content must be an object"},
		{"a", `{"action":"accept","content":{"name":7}}`, "/name must be a string"},
		{"a", `{"action":"accept","content":{"name":"secret","secret":1}}`, "there is a field that the form does not have"},
		{"c", `{"role":"assistant","content":{"type":"text","text":"secret"}}`, "/model is required"},
		{"c", `{"role":"assistant","content":"secret","model":"m"}`, "it is not a message of a model"},
		{"d", `{"roots":{}}`, "/roots must be a list of roots"},
		{"d", `{}`, "/roots must be a list of roots"},
		{"e", `{"action":"open"}`, "/action must be accept, decline or cancel"},
		{"z", `{"action":"accept"}`, "no such question is asked"},
	} {
		err := flow.Answer(tt.key, jsontext.Value(tt.answer))
		requireNoSecrets(t, err)
		e, ok := errors.AsType[*client.AnswerError](err)
		require.True(t, ok, tt.answer)
		require.Equal(t, []string{tt.problem}, e.Problems)
		require.Equal(t, tt.key, e.Key)
	}
	require.Len(t, flow.Questions(), 5)
	for key, answer := range map[string]string{
		"a": `{"action":"accept","content":{"name":"x"}}`, "b": `{"action":"decline","content":{"name":"secret"}}`,
		"c": `{"role":"assistant","content":{"type":"text","text":"x"},"model":"m","extra":1}`, "d": `{"roots":[]}`,
		"e": `{"action":"accept","content":{"a":1}}`,
	} {
		require.NoError(t, flow.Answer(key, jsontext.Value(answer)))
	}
	require.NoError(t, flow.Step(t.Context(), session, nil))
	sent := f.calls[1].Params.InputResponses
	require.Equal(t, `{"action":"decline"}`, string(sent["b"]), "what was declined is not sent")
	require.Equal(t, `{"action":"accept"}`, string(sent["e"]))
	require.JSONEq(t, `{"role":"assistant","content":{"type":"text","text":"x"},"model":"m","extra":1}`, string(sent["c"]))
}

func TestArguments(t *testing.T) {
	for _, args := range []any{1, "x", []int{1}, make(chan int), jsontext.Value("null"), jsontext.Value("{")} {
		_, err := client.NewToolCall("t", args)
		require.Error(t, err)
	}
	session := func() (*fake, func(any)) {
		f := &fake{answer: say(done)}
		s := connect(t, f.start(t), fill(nil), "")
		return f, func(args any) {
			_, err := client.CallToolWithInputs(t.Context(), s, "t", args, nil, nil)
			require.NoError(t, err)
		}
	}
	f, call := session()
	call(nil)
	call(map[string]int{"b": 1, "a": 2})
	call(struct {
		A string `json:"a"`
	}{"<"})
	call(json.RawMessage(`{"x":1e400}`))
	for i, want := range []string{`{}`, `{"a":2,"b":1}`, `{"a":"<"}`, `{"x":1e400}`} {
		if i == 2 {
			require.JSONEq(t, want, string(f.calls[i].Params.Arguments))
			continue
		}
		require.Equal(t, want, string(f.calls[i].Params.Arguments))
	}
}

func TestSavedFlowsRefused(t *testing.T) {
	for _, in := range []string{
		`[]`, `{}`, `{"version":2,"method":"tools/call","target":"t","arguments":{}}`,
		`{"version":1,"method":"tools/list","target":"t","arguments":{}}`, `{"version":1,"method":"tools/call","target":"t"}`,
		`{"version":1,"method":"tools/call","target":"t","arguments":{},"rounds":-1}`,
		`{"version":1,"method":"tools/call","target":"t","arguments":{},"state":{"a":"secret"}}`,
	} {
		requireNoSecrets(t, json.Unmarshal([]byte(in), new(client.Flow)))
	}
}

// FuzzSavedFlow holds that a flow from a file never panics, and is written as
// it was read.
func FuzzSavedFlow(f *testing.F) {
	for _, seed := range []string{
		`{"version":1,"method":"resources/read","target":"a:b"}`,
		`{"version":1,"method":"tools/call","target":"t","arguments":{"a":1},"rounds":1,"state":"s","asked":[{"key":"a","method":"elicitation/create","params":` + formParams("?", nameSchema) + `}],"answers":{"a":{"action":"decline"}}}`,
		`{"version":1,"method":"prompts/get","target":"t","arguments":{},"given":[{"question":{"key":"a","method":"roots/list"},"answer":{"roots":[]}}],"restarts":1,"pauses":2}`,
		`{"version":1,"method":"tools/call","target":"t","arguments":{},"result":{"resultType":"task"},"task":{"taskId":"1","status":"working"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		flow := new(client.Flow)
		if flow.UnmarshalJSON(in) != nil {
			return
		}
		for _, q := range flow.Questions() {
			_ = flow.Answer(q.Key, client.Cancel())
		}
		_, _ = flow.ToolOutcome()
		once, err := flow.MarshalJSON()
		require.NoError(t, err)
		again := new(client.Flow)
		require.NoError(t, again.UnmarshalJSON(once))
		twice, err := again.MarshalJSON()
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
	})
}

// FuzzResult holds that whatever a server sends gives a result, questions that
// the client takes, or an error.
func FuzzResult(f *testing.F) {
	for _, seed := range []string{
		done, ask(secretState, "a", form("?", nameSchema)), ask("", "z", `{"method":"x"}`), `"result":{}`, restart,
		`"result":{"resultType":"task","taskId":"1","status":"working","ttlMs":null}`, `"error":{"code":-32042,"message":"","data":{"elicitations":[{"mode":"url"}]}}`,
		`"result":{"resultType":"input_required","inputRequests":{},"requestState":"` + secretState + `"}`,
		`"result":{"resultType":"complete"},"error":{"code":1,"message":"x"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		if !jsontext.Value(`{"id":1,` + reply + `}`).IsValid() {
			return
		}
		for _, events := range []bool{false, true} {
			s := &fake{answer: say(reply), events: events}
			h := &client.Handlers{Form: fill(nil).Form}
			flow, err := client.NewToolCall("t", nil)
			require.NoError(t, err)
			err = flow.Step(context.Background(), connect(t, s.start(t), h, ""), nil)
			if err == nil {
				require.True(t, flow.Done() || flow.Rounds() == 1)
				for _, q := range flow.Questions() {
					require.Equal(t, protocol.MethodElicit, q.Method)
				}
			}
		}
	})
}
