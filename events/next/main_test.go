package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

const (
	event   = "../http-api-test_tool_with_elicitation.json"
	answers = `{"user_name":{"action":"accept","content":{"name":"Ada"}}}`
)

// file writes a file and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

func TestNext(t *testing.T) {
	reply := file(t, `{"statusCode":200,"body":"{\"result\":{\"requestState\":\"AQtoken\"}}"}`)
	var out bytes.Buffer
	require.NoError(t, run([]string{"-answers", answers, event, reply}, &out))

	var before, after struct {
		RawPath string
		Headers map[string]string
		Body    string
	}
	text, err := os.ReadFile(event)
	require.NoError(t, err)
	insensitive := json.MatchCaseInsensitiveNames(true)
	require.NoError(t, json.Unmarshal(text, &before, insensitive))
	require.NoError(t, json.Unmarshal(out.Bytes(), &after, insensitive))
	require.Equal(t, before.RawPath, after.RawPath)

	var request struct {
		ID     int            `json:"id"`
		Params map[string]any `json:"params"`
	}
	require.NoError(t, json.Unmarshal([]byte(after.Body), &request))
	require.Equal(t, 2, request.ID, "another than the first round's")
	require.Equal(t, "AQtoken", request.Params["requestState"])
	require.Equal(t, map[string]any{"user_name": map[string]any{"action": "accept", "content": map[string]any{"name": "Ada"}}}, request.Params["inputResponses"])
	require.Equal(t, "test_tool_with_elicitation", request.Params["name"])
	require.NotEqual(t, before.Headers["content-length"], after.Headers["content-length"])
	require.Equal(t, strconv.Itoa(len(after.Body)), after.Headers["content-length"])

	// The next round's event can be taken for the one after it.
	out.Reset()
	require.NoError(t, run([]string{file(t, string(text)), reply}, &out))
	require.NotContains(t, out.String(), "inputResponses")
}

func TestNextErrors(t *testing.T) {
	reply := `{"statusCode":200,"body":"{\"result\":{\"requestState\":\"AQtoken\"}}"}`
	text, err := os.ReadFile(event)
	require.NoError(t, err)
	for name, tc := range map[string]struct{ event, reply, answers, want string }{
		"done":           {string(text), `{"body":"{\"result\":{\"content\":[]}}"}`, "", "asks nothing"},
		"refused":        {string(text), `{"body":"{\"error\":{}}"}`, "", "asks nothing"},
		"no reply":       {string(text), ``, "", "reading the reply"},
		"no JSON body":   {string(text), `{"body":"gone"}`, "", "reading the reply's body"},
		"answers":        {string(text), reply, "[]", "-answers is no JSON object"},
		"broken answers": {string(text), reply, `{"a":`, "-answers is no JSON object"},
		"no event":       {`{}`, reply, "", "no body or no headers"},
		"base64":         {`{"headers":{},"body":"","isBase64Encoded":true}`, reply, "", "base64"},
		"no call":        {`{"headers":{},"body":"{\"id\":1}"}`, reply, "", "no call"},
	} {
		t.Run(name, func(t *testing.T) {
			err := run([]string{"-answers", tc.answers, file(t, tc.event), file(t, tc.reply)}, &bytes.Buffer{})
			require.ErrorContains(t, err, tc.want)
		})
	}
	require.ErrorContains(t, run([]string{event}, &bytes.Buffer{}), "name the event and the reply")
	require.ErrorContains(t, run([]string{event, "none.json"}, &bytes.Buffer{}), "reading the reply")
}
