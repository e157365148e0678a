package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// TestClientCompletes plays the suite's 14 input-required-result scenarios with
// our client against our server. Where the suite misbehaves as a client, a
// meddler does so on the way, and the client must still come to the end.
func TestClientCompletes(t *testing.T) {
	elicitation := &client.Handlers{Form: everyone().Form}
	const elicit, greeting = "test_input_required_result_elicitation", "Hello, Alice!"
	scenarios := []struct {
		name     string
		tool     string           // empty: play
		handlers *client.Handlers // nil: everyone
		meddle   func(params map[string]any)
		want     string
		rounds   int
		restarts int
		play     func(*testing.T, *mcp.ClientSession)
	}{
		{name: "basic-elicitation", tool: elicit, want: greeting, rounds: 2},
		{name: "basic-sampling", tool: "test_input_required_result_sampling", want: "The model says: Paris", rounds: 2},
		{name: "basic-list-roots", tool: "test_input_required_result_list_roots", want: "Roots: file:///a", rounds: 2},
		{name: "request-state", tool: "test_input_required_result_request_state", want: "state-ok, confirmed", rounds: 2},
		{name: "multiple-input-requests", tool: "test_input_required_result_multiple_inputs", want: "Name: Alice. Greeting: Paris. Roots: file:///a", rounds: 2},
		{name: "multi-round", tool: "test_input_required_result_multi_round", want: "Hi Alice, your favorite color is blue.", rounds: 3},
		{name: "missing-input-response", tool: elicit, want: greeting, rounds: 3, meddle: func(params map[string]any) {
			params["inputResponses"] = map[string]any{"wrong_key": map[string]any{"action": "accept", "content": map[string]any{"x": "y"}}}
		}},
		{name: "non-tool-request", play: playPrompt},
		{name: "result-type", play: playResultTypes},
		{name: "unsupported-methods", play: playLists},
		{name: "tampered-state", tool: "test_input_required_result_tampered_state", want: "state-ok, confirmed", rounds: 4, restarts: 1, meddle: func(params map[string]any) {
			state := []byte(params["requestState"].(string))
			state[len(state)/2] ^= 1
			params["requestState"] = string(state)
		}},
		{name: "capability-check", tool: "test_input_required_result_capabilities", handlers: elicitation, want: "Answers: 1", rounds: 2},
		{name: "ignore-extra-params", tool: elicit, want: greeting, rounds: 2, meddle: func(params map[string]any) {
			params["inputResponses"].(map[string]any)["extra"] = map[string]any{"action": "accept", "content": map[string]any{"foo": "bar"}}
		}},
		{name: "validate-input", tool: elicit, want: greeting, rounds: 3, meddle: func(params map[string]any) {
			params["inputResponses"].(map[string]any)["user_name"] = map[string]any{"action": "accept", "content": map[string]any{"name": 12345}}
		}},
	}
	require.Len(t, scenarios, 14)
	for _, tt := range scenarios {
		t.Run(tt.name, func(t *testing.T) {
			h := tt.handlers
			if h == nil {
				h = everyone()
			}
			m := &meddler{meddle: tt.meddle}
			session := connect(t, h, m)
			if tt.play != nil {
				tt.play(t, session)
				return
			}
			out, err := client.CallToolWithInputs(t.Context(), session, tt.tool, nil, client.DefaultInputHandler(h), nil)
			require.NoError(t, err)
			require.Equal(t, &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: tt.want}}}, bare(out.Result))
			require.Equal(t, tt.rounds, out.Rounds)
			require.Equal(t, tt.restarts, out.Restarts)
			require.Equal(t, tt.meddle != nil, m.meddled)
		})
	}
}

func playPrompt(t *testing.T, session *mcp.ClientSession) {
	out, err := client.GetPromptWithInputs(t.Context(), session, "test_input_required_result_prompt", nil, client.DefaultInputHandler(everyone()), nil)
	require.NoError(t, err)
	require.Equal(t, 2, out.Rounds)
	require.Equal(t, &mcp.TextContent{Text: "Use this context: the weather"}, out.Result.Messages[0].Content)
}

// playResultTypes looks at the type that each round's result names.
func playResultTypes(t *testing.T, session *mcp.ClientSession) {
	var types []string
	_, err := client.CallToolWithInputs(t.Context(), session, "test_input_required_result_elicitation", nil, client.DefaultInputHandler(everyone()),
		&client.Options{OnRound: func(x client.Exchange) {
			var m struct {
				Result struct {
					Type string `json:"resultType"`
				} `json:"result"`
			}
			require.NoError(t, json.Unmarshal(x.Response, &m))
			types = append(types, m.Result.Type)
		}})
	require.NoError(t, err)
	require.Equal(t, []string{"input_required", "complete"}, types)
}

// playLists makes the requests that may not ask back.
func playLists(t *testing.T, session *mcp.ClientSession) {
	tools, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.NotEmpty(t, tools.Tools)
	prompts, err := session.ListPrompts(t.Context(), nil)
	require.NoError(t, err)
	require.NotEmpty(t, prompts.Prompts)
	resources, err := session.ListResources(t.Context(), nil)
	require.NoError(t, err)
	require.NotEmpty(t, resources.Resources)
}

// everyone answers all that the tools ask.
func everyone() *client.Handlers {
	forms := map[string]string{
		"user_name": `{"name":"Alice"}`, "step1": `{"name":"Alice"}`, "step2": `{"color":"blue"}`,
		"confirm": `{"ok":true}`, "user_context": `{"context":"the weather"}`,
	}
	return &client.Handlers{
		Form: func(_ context.Context, q *client.FormQuestion) (protocol.ElicitResult, error) {
			return protocol.ElicitResult{Action: protocol.ElicitAccept, Content: jsontext.Value(forms[q.Key])}, nil
		},
		Sampling: func(context.Context, *protocol.CreateMessageParams) (*protocol.CreateMessageResult, error) {
			return &protocol.CreateMessageResult{Role: protocol.RoleAssistant, Model: "m", Content: protocol.SamplingContent{protocol.Text("Paris")}}, nil
		},
		Roots: func(context.Context) ([]protocol.Root, error) { return []protocol.Root{{URI: "file:///a"}}, nil },
	}
}

// connect connects a client to the server, over m.
func connect(t *testing.T, h *client.Handlers, m *meddler) *mcp.ClientSession {
	secret := make([]byte, requeststate.MinSecretSize)
	_, _ = rand.Read(secret)
	keys, err := requeststate.NewStaticKeys(secret)
	require.NoError(t, err)
	handler, err := newServer().Handler(mrtr.HandlerOptions{Keys: keys, Audience: "test", Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	c := client.New(&mcp.Implementation{Name: "fixtures", Version: "1"}, h, nil)
	session, err := c.Connect(t.Context(), client.Transport(&mcp.StreamableClientTransport{
		Endpoint: web.URL, HTTPClient: &http.Client{Transport: m},
	}), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// bare returns a result without what every result has.
func bare(r *mcp.CallToolResult) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: r.Content, StructuredContent: r.StructuredContent, IsError: r.IsError}
}

// meddler changes the first round that has answers. It serves one call at a time.
type meddler struct {
	meddle  func(params map[string]any) // nil: nothing is changed
	meddled bool
}

func (m *meddler) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.meddle == nil || m.meddled || r.Body == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var message map[string]any
	if err := json.Unmarshal(body, &message); err != nil {
		return nil, err
	}
	if params, ok := message["params"].(map[string]any); ok && params["inputResponses"] != nil {
		m.meddle(params)
		m.meddled = true
		if body, err = json.Marshal(message); err != nil {
			return nil, err
		}
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return http.DefaultTransport.RoundTrip(r)
}
