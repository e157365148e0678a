package client_test

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

const wideSchema = `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{
	"text":{"type":"string","minLength":2,"maxLength":4,"default":"abc"},
	"mail":{"type":"string","format":"email"},
	"link":{"type":"string","format":"uri"},
	"day":{"type":"string","format":"date"},
	"time":{"type":"string","format":"date-time"},
	"count":{"type":"integer","minimum":1,"maximum":9,"default":5},
	"rate":{"type":"number","default":0.5},
	"flag":{"type":"boolean","default":true},
	"one":{"type":"string","enum":["x","y"],"default":"y"},
	"titled":{"type":"string","oneOf":[{"const":"p","title":"P"}]},
	"legacy":{"type":"string","enum":["l"],"enumNames":["L"]},
	"many":{"type":"array","items":{"type":"string","enum":["u","v"]},"minItems":1,"default":["u"]},
	"manyTitled":{"type":"array","items":{"anyOf":[{"const":"w","title":"W"}]}}
},"required":["text","count"]}`

// answerTo hands a form to handlers that give it the content.
func answerTo(t *testing.T, schema, text string) (string, error) {
	t.Helper()
	var content jsontext.Value // empty: none
	if text != "" {
		content = jsontext.Value(text)
	}
	h := &client.Handlers{Form: func(context.Context, *client.FormQuestion) (protocol.ElicitResult, error) {
		return protocol.ElicitResult{Action: protocol.ElicitAccept, Content: content}, nil
	}}
	a, err := h.HandleServerRequest(t.Context(), client.Question{Key: "q", Method: protocol.MethodElicit, Params: jsontext.Value(formParams("?", schema))})
	return string(a), err
}

func TestFormDefaults(t *testing.T) {
	const all = `"count":5,"flag":true,"many":["u"],"one":"y","rate":0.5,"text":"abc"`
	for content, want := range map[string]string{
		``:                                `{` + all + `}`,
		`null`:                            `{` + all + `}`,
		`{}`:                              `{` + all + `}`,
		`{"count":7}`:                     `{"count":7,"flag":true,"many":["u"],"one":"y","rate":0.5,"text":"abc"}`,
		`{"flag":null,"rate":null}`:       `{"count":5,"many":["u"],"one":"y","text":"abc"}`,
		`{"mail":null,"legacy":"l"}`:      `{"count":5,"flag":true,"legacy":"l","many":["u"],"one":"y","rate":0.5,"text":"abc"}`,
		`{"flag":false,"one":"x"}`:        `{"count":5,"flag":false,"many":["u"],"one":"x","rate":0.5,"text":"abc"}`,
		`{"titled":"p"}`:                  `{"count":5,"flag":true,"many":["u"],"one":"y","rate":0.5,"text":"abc","titled":"p"}`,
		`{"manyTitled":["w"]}`:            `{"count":5,"flag":true,"many":["u"],"manyTitled":["w"],"one":"y","rate":0.5,"text":"abc"}`,
		`{"mail":"a@example.com"}`:        `{"count":5,"flag":true,"mail":"a@example.com","many":["u"],"one":"y","rate":0.5,"text":"abc"}`,
		`{"day":"2026-07-28"}`:            `{"count":5,"day":"2026-07-28","flag":true,"many":["u"],"one":"y","rate":0.5,"text":"abc"}`,
		`{"link":"urn:a"}`:                `{"count":5,"flag":true,"link":"urn:a","many":["u"],"one":"y","rate":0.5,"text":"abc"}`,
		`{"time":"2026-07-28T01:02:03Z"}`: `{"count":5,"flag":true,"many":["u"],"one":"y","rate":0.5,"text":"abc","time":"2026-07-28T01:02:03Z"}`,
	} {
		got, err := answerTo(t, wideSchema, content)
		require.NoError(t, err, content)
		require.Equal(t, `{"action":"accept","content":`+want+`}`, got)
	}
}

func TestFormChecks(t *testing.T) {
	for content, problem := range map[string]string{
		`{"text":null}`:            "/text is required",
		`{"text":"secret"}`:        "/text is too long",
		`{"text":"s"}`:             "/text is too short",
		`{"text":7}`:               "/text must be a string",
		`{"mail":"secret"}`:        "/mail must be an email address",
		`{"mail":"S <s@x.y>"}`:     "/mail must be an email address",
		`{"link":"secret"}`:        "/link must be an absolute URI",
		`{"day":"secret"}`:         "/day must be a date, as in 2006-01-02",
		`{"day":"2026-02-30"}`:     "/day must be a date, as in 2006-01-02",
		`{"time":"2026-07-28"}`:    "/time must be a date and time with zone, as in 2006-01-02T15:04:05Z",
		`{"count":0}`:              "/count is too small",
		`{"count":10}`:             "/count is too large",
		`{"count":1.5}`:            "/count must be an integer",
		`{"rate":"secret"}`:        "/rate must be a number",
		`{"flag":"true"}`:          "/flag must be true or false",
		`{"one":"secret"}`:         "/one is not one of the allowed values",
		`{"legacy":"L"}`:           "/legacy is not one of the allowed values",
		`{"many":[]}`:              "/many has too few items",
		`{"many":["secret"]}`:      "/many/0 is not one of the allowed values",
		`{"many":"u"}`:             "/many must be a list",
		`{"unknown":"secret"}`:     "there is a field that the form does not have",
		`{"a":1,"a":2}`:            "/content must be an object",
		`["secret"]`:               "/content must be an object",
		`{"many":["u"],"rate":{}}`: "/rate must be a number",
	} {
		_, err := answerTo(t, wideSchema, content)
		e := new(client.AnswerError)
		if content == `{"a":1,"a":2}` { // the encoder refuses it before the check
			requireNoSecrets(t, err)
			continue
		}
		require.ErrorAs(t, err, &e, content)
		require.Equal(t, []string{problem}, e.Problems, content)
		requireNoSecrets(t, err)
	}
}

func TestFormsRefused(t *testing.T) {
	for _, schema := range []string{
		`null`, `[]`, `"x"`, `{}`, `{"type":"object"}`, `{"type":"array","properties":{}}`, `{"type":"object","properties":[]}`,
		`{"type":"object","properties":null}`, `{"type":["object"],"properties":{}}`,
		`{"type":"object","properties":{"a":{"type":"string","maxLength":"x"}}}`,
		`{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}`,
	} {
		_, err := answerTo(t, schema, `{}`)
		require.ErrorIs(t, err, client.ErrMalformed, schema)
	}
}

// TestFormFields shows that fields come in the server's order.
func TestFormFields(t *testing.T) {
	var got *client.FormQuestion
	h := &client.Handlers{Form: func(_ context.Context, q *client.FormQuestion) (protocol.ElicitResult, error) {
		got = q
		return protocol.ElicitResult{Action: protocol.ElicitCancel}, nil
	}}
	const schema = `{"type":"object","properties":{"z":{"type":"string","default":"d"},"a":{"type":"integer"}}}`
	a, err := h.HandleServerRequest(t.Context(), client.Question{Key: "q", Method: protocol.MethodElicit, Params: jsontext.Value(formParams("Hi", schema)), Invalid: []string{"no"}})
	require.NoError(t, err)
	require.Equal(t, `{"action":"cancel"}`, string(a))
	require.Equal(t, "q", got.Key)
	require.Equal(t, "Hi", got.Message)
	require.Equal(t, []string{"no"}, got.Invalid)
	require.Equal(t, "z", got.Schema.Properties[0].Name)
	require.Equal(t, "a", got.Schema.Properties[1].Name)
	require.Equal(t, protocol.Object{"z": jsontext.Value(`"d"`)}, got.Defaults())
	require.JSONEq(t, schema, string(got.Raw))
	require.Empty(t, got.Check(protocol.Object{"a": jsontext.Value("1")}))
	require.Equal(t, []string{"/a must be an integer"}, got.Check(protocol.Object{"a": jsontext.Value(`"1"`)}))
}

func TestHandlersWithout(t *testing.T) {
	var h client.Handlers
	for method, params := range map[string]string{
		protocol.MethodElicit:        formParams("?", nameSchema),
		protocol.MethodCreateMessage: `{"messages":[],"maxTokens":1}`,
		protocol.MethodListRoots:     `{}`,
	} {
		_, err := h.HandleServerRequest(t.Context(), client.Question{Method: method, Params: jsontext.Value(params)})
		require.ErrorIs(t, err, client.ErrNoHandler)
	}
	_, err := h.HandleServerRequest(t.Context(), client.Question{Method: protocol.MethodElicit, Params: jsontext.Value(`{"mode":"url","url":"https://a.example"}`)})
	require.ErrorIs(t, err, client.ErrNoHandler)
	_, err = h.HandleServerRequest(t.Context(), client.Question{Method: "ping"})
	require.ErrorIs(t, err, client.ErrUnknownMethod)
	_, err = h.HandleServerRequest(t.Context(), client.Question{Method: protocol.MethodCreateMessage, Params: jsontext.Value(`{"messages":1}`)})
	require.ErrorIs(t, err, client.ErrMalformed)
}

func TestCapabilities(t *testing.T) {
	require.Equal(t, &mcp.ClientCapabilities{}, new(client.Handlers).Capabilities())
	h := fill(nil)
	h.SamplingTools, h.SamplingContext = true, true
	require.Equal(t, &mcp.ClientCapabilities{
		Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		Sampling:    &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}, Context: &mcp.SamplingContextCapabilities{}},
		RootsV2:     &mcp.RootCapabilities{},
	}, h.Capabilities())
	require.Equal(t, &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}, (&client.Handlers{URL: h.URL}).Capabilities().Elicitation)
}

// TestSamplingNeeds holds what sampling takes beyond sampling itself.
func TestSamplingNeeds(t *testing.T) {
	for _, tt := range []struct {
		params string
		h      client.Handlers
		lacks  string
	}{
		{`{"messages":[],"maxTokens":1}`, client.Handlers{}, ""},
		{`{"messages":[],"maxTokens":1,"includeContext":"none"}`, client.Handlers{}, ""},
		{`{"messages":[],"maxTokens":1,"includeContext":"allServers"}`, client.Handlers{}, "sampling.context"},
		{`{"messages":[],"maxTokens":1,"includeContext":"thisServer"}`, client.Handlers{SamplingContext: true}, ""},
		{`{"messages":[],"maxTokens":1,"tools":[]}`, client.Handlers{}, "sampling.tools"},
		{`{"messages":[],"maxTokens":1,"toolChoice":{}}`, client.Handlers{}, "sampling.tools"},
		{`{"messages":[],"maxTokens":1,"toolChoice":{}}`, client.Handlers{SamplingTools: true}, ""},
	} {
		f := &fake{answer: say(ask("", "q", `{"method":"sampling/createMessage","params":`+tt.params+`}`), done)}
		h := tt.h
		h.Sampling = fill(nil).Sampling
		_, err := client.CallToolWithInputs(t.Context(), connect(t, f.start(t), &h, ""), "t", nil, client.DefaultInputHandler(&h), nil)
		if tt.lacks == "" {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, &client.QuestionError{Key: "q", Method: "sampling/createMessage", Err: client.ErrUndeclared, Detail: tt.lacks}, err)
	}
}
