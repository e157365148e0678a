package main_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

// startLimits starts testdata/limits.
func startLimits(t *testing.T, opts lambdatest.Options) *lambdatest.API {
	t.Helper()
	fake := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(fake.Close)
	opts.Bootstrap = limits
	opts.Env = append(append(fake.Env(), "MRTR_KMS_KEY_ID="+fake.CreateKey(kmstest.KeyOptions{}).ARN, "MRTR_AUDIENCE=limits", "MRTR_AUTH=none"), opts.Env...)
	api, err := lambdatest.Start(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { api.Close() })
	return api
}

// event is the event of a call of a tool.
func event(t *testing.T, kind lambdatest.Kind, tool, arguments string) []byte {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,"_meta":{` +
		`"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool,
	} {
		r.Header.Set(name, value)
	}
	b, err := lambdatest.Event(kind, r, []byte(body))
	require.NoError(t, err)
	return b
}

// answered is what came of a call.
type answered struct {
	text   string // of the result
	code   int    // of the error
	reason string // in the log
	pid    int
	body   string
	logs   string
}

// call invokes a tool. The function must answer with HTTP 200 and live on.
func call(t *testing.T, api *lambdatest.API, kind lambdatest.Kind, tool, arguments string) (a answered) {
	t.Helper()
	res, err := api.Invoke(t.Context(), event(t, kind, tool, arguments))
	require.NoError(t, err)
	require.Nil(t, res.FunctionError)
	require.False(t, res.Exited)
	reply, err := res.Reply()
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, reply.Status)
	a.pid, a.body, a.logs = res.PID, string(reply.Body), res.Logs
	last := a.body
	if strings.HasPrefix(reply.Header.Get("Content-Type"), "text/event-stream") {
		_, last, _ = strings.Cut(a.body[strings.LastIndex(a.body, "data:"):], "data:")
	}
	var m struct {
		Result struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"result"`
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(last), &m), "%.200s", last)
	a.code = m.Error.Code
	if len(m.Result.Content) > 0 {
		a.text = m.Result.Content[0].Text
	}
	for line := range strings.Lines(a.logs) {
		var rec record
		if json.Unmarshal([]byte(line), &rec) == nil && rec.Message == "mcp request" {
			a.reason = rec.Reason
		}
	}
	return a
}

// TestHandlersThatTakeTooLong: the function answers before Lambda ends it and
// before a gateway gives up, and serves on.
func TestHandlersThatTakeTooLong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		opts lambdatest.Options
		kind lambdatest.Kind
	}{
		// Only the gateway's limit can end these: Lambda's is beyond the test's.
		{"the HTTP API gives up", lambdatest.Options{Timeout: time.Hour, Env: []string{"MRTR_GATEWAY_TIMEOUT=1s"}}, lambdatest.HTTPAPI},
		{"the REST API gives up", lambdatest.Options{Timeout: time.Hour, Env: []string{"MRTR_GATEWAY_TIMEOUT=1s"}}, lambdatest.REST},
		{"the REST API gives up on a stream", lambdatest.Options{Timeout: time.Hour, Env: []string{"MRTR_GATEWAY_TIMEOUT=1s", "MRTR_RESPONSE_MODE=stream"}}, lambdatest.REST},
		{"Lambda's time is up", lambdatest.Options{Timeout: 6 * time.Second}, lambdatest.HTTPAPI},
		{"Lambda's time is up in a stream", lambdatest.Options{Timeout: 6 * time.Second, Env: []string{"MRTR_RESPONSE_MODE=stream"}}, lambdatest.FunctionURL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			api := startLimits(t, tt.opts)
			pid := call(t, api, tt.kind, "plain", `{"size":5}`).pid
			for _, tool := range []string{"waits", "hangs", "begins"} {
				got := call(t, api, tt.kind, tool, `{}`)
				require.Equal(t, -32603, got.code, tool)
				require.Equal(t, "timeout", got.reason)
				require.Equal(t, tool == "begins", strings.Contains(got.body, "one of two"))
				require.Equal(t, pid, got.pid)
			}
			require.Equal(t, "xxxxx", call(t, api, tt.kind, "plain", `{"size":5}`).text)
		})
	}
}

// TestTimeForHandlers asks a handler how long it has, since it is called.
func TestTimeForHandlers(t *testing.T) {
	t.Parallel()
	const function = 5 * time.Minute
	for _, tt := range []struct {
		name string
		env  []string
		kind lambdatest.Kind
		most time.Duration
	}{
		{"HTTP API", nil, lambdatest.HTTPAPI, 29 * time.Second},
		{"REST API", nil, lambdatest.REST, 29 * time.Second},
		{"REST API with a raised limit", []string{"MRTR_GATEWAY_TIMEOUT=2m"}, lambdatest.REST, 2 * time.Minute},
		{"a gateway that outwaits the function", []string{"MRTR_GATEWAY_TIMEOUT=15m"}, lambdatest.FunctionURL, function},
		{"a stream", []string{"MRTR_RESPONSE_MODE=stream"}, lambdatest.REST, function},
		{"a stream with a limit", []string{"MRTR_RESPONSE_MODE=stream", "MRTR_GATEWAY_TIMEOUT=1m"}, lambdatest.FunctionURL, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			api := startLimits(t, lambdatest.Options{Timeout: function, Env: tt.env})
			has, err := time.ParseDuration(call(t, api, tt.kind, "deadline", `{}`).text)
			require.NoError(t, err)
			most := tt.most - 500*time.Millisecond
			require.LessOrEqual(t, has, most)
			require.Greater(t, has, most-15*time.Second)
		})
	}
}

// TestRepliesThatAreTooLarge: what Lambda would refuse is an error of this
// server's, counted as Lambda counts. What streams is not limited.
func TestRepliesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	api := startLimits(t, lambdatest.Options{})
	for _, kind := range []lambdatest.Kind{lambdatest.HTTPAPI, lambdatest.REST, lambdatest.FunctionURL} {
		for _, tt := range []struct {
			tool, arguments string
			fits            bool
		}{
			{"plain", `{"size":6200000}`, true},
			{"plain", `{"size":6290000}`, false},
			{"plain", `{"size":30000000}`, false},
			{"quotes", `{"size":1550000}`, true},
			{"quotes", `{"size":1572000}`, false}, // half of the limit as a JSON-RPC response
		} {
			got := call(t, api, kind, tt.tool, tt.arguments)
			if tt.fits {
				require.Zero(t, got.code)
				require.Greater(t, len(got.text), 1_500_000)
				continue
			}
			require.Equal(t, -32603, got.code)
			require.Equal(t, "reply_too_large", got.reason)
			require.Less(t, len(got.body), 1000)
		}
	}

	api = startLimits(t, lambdatest.Options{Env: []string{"MRTR_RESPONSE_MODE=stream"}})
	for _, kind := range []lambdatest.Kind{lambdatest.REST, lambdatest.FunctionURL} {
		require.Len(t, call(t, api, kind, "plain", `{"size":7000000}`).text, 7_000_000)
	}
}

// TestPanic: a function error would be logged as it is.
func TestPanic(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"buffered", "stream"} {
		api := startLimits(t, lambdatest.Options{Env: []string{"MRTR_RESPONSE_MODE=" + mode}})
		got := call(t, api, lambdatest.FunctionURL, "panics", `{}`)
		require.Equal(t, -32603, got.code)
		require.Equal(t, "panic", got.reason)
		require.NotContains(t, got.logs+got.body, "not-a-secret")
		require.Equal(t, got.pid, call(t, api, lambdatest.FunctionURL, "plain", `{}`).pid)
	}
}

// TestEventsOfOtherShapes: whatever the function is invoked with, it answers,
// repeats nothing of it, and serves on.
func TestEventsOfOtherShapes(t *testing.T) {
	fake := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(fake.Close)
	for _, mode := range []string{"buffered", "stream"} {
		t.Run(mode, func(t *testing.T) {
			api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: bootstrap, Env: append(fake.Env(),
				"MRTR_KMS_KEY_ID="+fake.CreateKey(kmstest.KeyOptions{}).ARN, "MRTR_AUDIENCE=shapes", "MRTR_RESPONSE_MODE="+mode)})
			require.NoError(t, err)
			t.Cleanup(func() { api.Close() })
			pid := 0
			for name, payload := range map[string]string{
				"nothing":              ``,
				"null":                 `null`,
				"true":                 `true`,
				"number":               `5`,
				"string":               `"not-a-secret"`,
				"array":                `["not-a-secret"]`,
				"empty object":         `{}`,
				"warmer":               `{"warmer":true,"concurrency":5,"note":"not-a-secret"}`,
				"JSON-RPC itself":      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"not-a-secret"}}`,
				"scheduled":            `{"version":"0","id":"1","detail-type":"Scheduled Event","source":"aws.events","detail":{"a":"not-a-secret"}}`,
				"SQS":                  `{"Records":[{"messageId":"1","body":"not-a-secret","eventSource":"aws:sqs"}]}`,
				"SNS":                  `{"Records":[{"EventSource":"aws:sns","Sns":{"Message":"not-a-secret"}}]}`,
				"load balancer":        `{"requestContext":{"elb":{"targetGroupArn":"a"}},"httpMethod":"POST","path":"/mcp","headers":{},"body":"not-a-secret","isBase64Encoded":false}`,
				"WebSocket":            `{"requestContext":{"routeKey":"$default","eventType":"MESSAGE","connectionId":"1","stage":"prod"},"body":"not-a-secret","isBase64Encoded":false}`,
				"REST authorizer":      `{"type":"TOKEN","methodArn":"arn:aws:execute-api:eu-central-1:1:a/prod/POST/mcp","authorizationToken":"not-a-secret"}`,
				"another version":      `{"version":"3.0","rawPath":"/mcp","requestContext":{"http":{"method":"POST"}},"body":"not-a-secret"}`,
				"members of no type":   `{"version":"2.0","rawPath":7,"headers":"not-a-secret","requestContext":{"http":{"method":"POST"}}}`,
				"a context of no type": `{"version":"2.0","rawPath":"/mcp","requestContext":"not-a-secret"}`,
				"deep":                 strings.Repeat(`{"a":`, 9000) + `"not-a-secret"` + strings.Repeat(`}`, 9000),
				"a name twice":         `{"version":"2.0","version":"not-a-secret","rawPath":"/mcp","requestContext":{"http":{"method":"POST"}}}`,
			} {
				t.Run(name, func(t *testing.T) {
					res, err := api.Invoke(t.Context(), []byte(payload))
					require.NoError(t, err)
					require.False(t, res.Exited, res.Logs)
					require.True(t, pid == 0 || pid == res.PID, "a process ended")
					pid = res.PID
					if mode == "stream" && payload == "" {
						// Said by the loop, of which Lambda asks no such thing: it makes {} of nothing.
						require.NotNil(t, res.FunctionError)
						require.Equal(t, "EOF", res.FunctionError.Message)
						return
					}
					require.Nil(t, res.FunctionError)
					reply, err := res.Reply()
					require.NoError(t, err)
					require.Equal(t, http.StatusBadRequest, reply.Status)
					require.NotContains(t, string(res.Payload)+res.Logs, "not-a-secret")
				})
			}
			res, err := api.Invoke(t.Context(), event(t, lambdatest.FunctionURL, "unheard-of", `{}`))
			require.NoError(t, err)
			require.Equal(t, pid, res.PID)
			require.Contains(t, string(res.Payload), "-32602", "which the caller of an unknown tool is told")
		})
	}
}
