package main_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

// TestHandshakeWalkthrough is a client of 2025-11-25 with nothing but curl: it
// shakes hands, calls a tool that asks back, and calls again with the answer.
// Each request meets a process that has seen no other.
func TestHandshakeWalkthrough(t *testing.T) {
	os.Unsetenv("AWS_CA_BUNDLE")
	bootstrap := filepath.Join(t.TempDir(), "bootstrap")
	require.NoError(t, lambdatest.Build(t.Context(), ".", ".", bootstrap))
	kms := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(kms.Close)
	key := kms.CreateKey(kmstest.KeyOptions{})
	api, err := lambdatest.Start(t.Context(), lambdatest.Options{
		Bootstrap: bootstrap, Fresh: true,
		Env: append(kms.Env(), "MRTR_KMS_KEY_ID="+key.ARN, "MRTR_AUDIENCE=walkthrough"),
	})
	require.NoError(t, err)
	t.Cleanup(func() { api.Close() })

	processes := map[int]bool{}
	post := func(session, body string) (int, http.Header, []byte) {
		t.Helper()
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		event, err := lambdatest.Event(lambdatest.HTTPAPI, r, []byte(body))
		require.NoError(t, err)
		res, err := api.Invoke(t.Context(), event)
		require.NoError(t, err)
		require.Nil(t, res.FunctionError)
		require.False(t, processes[res.PID], "process %d again", res.PID)
		processes[res.PID] = true
		require.NotContains(t, res.Logs, "Alice")
		reply, err := res.Reply()
		require.NoError(t, err)
		return reply.Status, reply.Header, reply.Body
	}

	// 1. The handshake.
	status, header, body := post("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
		"capabilities":{"elicitation":{},"sampling":{},"roots":{}},"clientInfo":{"name":"curl","version":"8"}}}`)
	require.Equal(t, http.StatusOK, status, "%s", body)
	require.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
		"capabilities":{"completions":{},"logging":{},"prompts":{},"resources":{},"tools":{}},
		"serverInfo":{"name":"mrtr-conformance","title":"MRTR conformance fixture","version":"0.1.0"}}}`, string(body))
	session := header.Get("Mcp-Session-Id")
	require.Regexp(t, "^[A-Za-z0-9_-]{100,}$", session)

	status, header, body = post(session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	require.Equal(t, http.StatusAccepted, status)
	require.Empty(t, body)
	require.Empty(t, header.Get("Mcp-Session-Id"))

	// 2. The call: words for a model, and the question and the state for a
	// client that knows what to do with them.
	status, header, body = post(session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"test_tool_with_elicitation","arguments":{}}}`)
	require.Equal(t, http.StatusOK, status, "%s", body)
	require.Empty(t, header.Get("Mcp-Session-Id"))
	var asked struct {
		Result struct {
			Content       jsontext.Value `json:"content"`
			IsError       bool           `json:"isError"`
			ResultType    string         `json:"resultType"`
			InputRequests jsontext.Value `json:"inputRequests"`
			RequestState  string         `json:"requestState"`
		} `json:"result"`
	}
	require.NoError(t, json.Unmarshal(body, &asked))
	require.JSONEq(t, `[{"type":"text","text":"This tool needs input before it can finish:\n- user_name: What is your name?"}]`, string(asked.Result.Content))
	require.True(t, asked.Result.IsError)
	require.Equal(t, "input_required", asked.Result.ResultType)
	require.JSONEq(t, `{"user_name":{"method":"elicitation/create","params":{"mode":"form","message":"What is your name?",
		"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}}`, string(asked.Result.InputRequests))

	// 3. The same call with the answer.
	state, err := json.Marshal(asked.Result.RequestState)
	require.NoError(t, err)
	var retry bytes.Buffer
	retry.WriteString(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"test_tool_with_elicitation","arguments":{},
		"inputResponses":{"user_name":{"action":"accept","content":{"name":"Alice"}}},"requestState":`)
	retry.Write(state)
	retry.WriteString(`}}`)
	status, header, body = post(session, retry.String())
	require.Equal(t, http.StatusOK, status)
	require.Empty(t, header.Get("Mcp-Session-Id"))
	require.JSONEq(t, `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"Hello, Alice!"}]}}`, string(body))

	// What was sealed for the session is no flow's state, and the reverse.
	status, _, body = post(asked.Result.RequestState, `{"jsonrpc":"2.0","id":4,"method":"ping"}`)
	require.Equal(t, http.StatusNotFound, status)
	require.Empty(t, body)
}
