package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

// The binaries that are measured as Lambda functions, each built in its own
// module.
var (
	echoSource     = source{".", "./echo"}
	endpointSource = source{"../..", "./functions/mcp"}
)

type source struct{ dir, pkg string }

// function is a way to run one of them.
type function struct {
	name string
	source
	env  func(testing.TB) (env []string, calls func() int)
	want string // in the reply
}

func noEnv(testing.TB) ([]string, func() int) { return nil, func() int { return 0 } }

// endpointEnv starts a fake KMS and returns what the endpoint needs of its
// environment to use it, and how to count the calls to it.
func endpointEnv(opts kmstest.Options) func(testing.TB) ([]string, func() int) {
	return func(tb testing.TB) ([]string, func() int) {
		server := kmstest.NewServer(opts)
		tb.Cleanup(server.Close)
		key := server.CreateKey(kmstest.KeyOptions{})
		return append(server.Env(), "MRTR_KMS_KEY_ID="+key.ARN, "MRTR_AUDIENCE=bench"), server.Count
	}
}

// build compiles a binary once for a benchmark.
func build(tb testing.TB, s source) string {
	out := filepath.Join(tb.TempDir(), "bootstrap")
	require.NoError(tb, lambdatest.Build(tb.Context(), s.dir, s.pkg, out))
	return out
}

// event returns an HTTP API event of about 2 kB that calls the tool
// test_tool_with_elicitation, with or without the answer to its question.
func event(tb testing.TB, answered bool) []byte {
	const tool = "test_tool_with_elicitation"
	params := map[string]any{
		"name":      tool,
		"arguments": map[string]any{"note": strings.Repeat("n", 600)},
		"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "bench", "version": "1.0.0"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{}},
		},
	}
	if answered {
		params["inputResponses"] = map[string]any{
			"user_name": map[string]any{"action": "accept", "content": map[string]any{"name": "Ada"}},
		}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	require.NoError(tb, err)

	headers := map[string]string{
		"host":              "abcdefghij.execute-api.eu-central-1.amazonaws.com",
		"x-amzn-trace-id":   "Root=1-68aa0000-000000000000000000000000",
		"x-forwarded-for":   "203.0.113.7",
		"x-forwarded-port":  "443",
		"x-forwarded-proto": "https",
		"user-agent":        "bench/1.0.0",
	}
	for name, values := range callHeader(tool) {
		headers[strings.ToLower(name)] = values[0]
	}
	payload, err := json.Marshal(map[string]any{
		"version":        "2.0",
		"routeKey":       "ANY /mcp",
		"rawPath":        "/mcp",
		"rawQueryString": "",
		"headers":        headers,
		"requestContext": map[string]any{
			"accountId":    "123456789012",
			"apiId":        "abcdefghij",
			"domainName":   "abcdefghij.execute-api.eu-central-1.amazonaws.com",
			"domainPrefix": "abcdefghij",
			"http": map[string]any{
				"method": "POST", "path": "/mcp", "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7", "userAgent": "bench/1.0.0",
			},
			"requestId": "JKJaXmPLvHcESHA=",
			"routeKey":  "ANY /mcp",
			"stage":     "$default",
			"time":      "12/Mar/2026:19:03:58 +0000",
			"timeEpoch": 1773342238000,
		},
		"body":            string(body),
		"isBase64Encoded": false,
	})
	require.NoError(tb, err)
	return payload
}

// invoke sends one event and checks that the reply holds want.
func invoke(tb testing.TB, api *lambdatest.API, payload []byte, want string) *lambdatest.Result {
	res, err := api.Invoke(tb.Context(), payload)
	if err != nil {
		tb.Fatal(err)
	}
	if res.FunctionError != nil || !strings.Contains(string(res.Payload), want) {
		tb.Fatalf("reply %s, error %v\n%s", res.Payload, res.FunctionError, res.Logs)
	}
	return res
}

// BenchmarkWarm is invocations of a process that runs, through the Runtime API,
// a block of 100 at a time. child-cpu-ns/event is the processor time of the
// function's process for one of them, in the best block.
func BenchmarkWarm(b *testing.B) {
	for _, f := range []function{
		{"echo", echoSource, noEnv, "test_tool_with_elicitation"},
		{"mcp", endpointSource, endpointEnv(kmstest.Options{}), "Hello, Ada!"},
	} {
		b.Run(f.name, func(b *testing.B) {
			env, calls := f.env(b)
			api, err := lambdatest.Start(context.Background(), lambdatest.Options{Bootstrap: build(b, f.source), Env: env})
			require.NoError(b, err)
			defer api.Close()

			payload := event(b, true)
			var pid int
			for range 500 {
				pid = invoke(b, api, payload, f.want).PID
			}
			const block = 100
			least, asked := int64(math.MaxInt64), calls()
			for b.Loop() {
				before := threadsTime(b, pid)
				for range block {
					invoke(b, api, payload, f.want)
				}
				least = min(least, threadsTime(b, pid)-before)
			}
			b.ReportMetric(float64(least)/block, "child-cpu-ns/event")
			b.ReportMetric(float64(calls()-asked)/float64(b.N*block), "kms-calls/event")
		})
	}
}

// BenchmarkCold is a new process that serves one event. cold-ns/op is the time
// from its start to its reply, the middle one of all; the endpoint asks the fake
// KMS once in it.
func BenchmarkCold(b *testing.B) {
	for _, f := range []function{
		{"echo", echoSource, noEnv, "test_tool_with_elicitation"},
		{"mcp", endpointSource, endpointEnv(kmstest.Options{}), "input_required"},
		{"mcp-kms-30ms-tls", endpointSource, endpointEnv(kmstest.Options{TLS: true, Latency: 30 * time.Millisecond}), "input_required"},
	} {
		b.Run(f.name, func(b *testing.B) {
			env, calls := f.env(b)
			api, err := lambdatest.Start(context.Background(), lambdatest.Options{Bootstrap: build(b, f.source), Env: env, Fresh: true})
			require.NoError(b, err)
			defer api.Close()

			payload := event(b, false)
			invoke(b, api, payload, f.want) // reads the binary into the page cache
			var cold []time.Duration
			asked := calls()
			for b.Loop() {
				res := invoke(b, api, payload, f.want)
				cold = append(cold, res.Init+res.Duration)
			}
			slices.Sort(cold)
			b.ReportMetric(float64(cold[len(cold)/2]), "cold-ns/op")
			b.ReportMetric(float64(calls()-asked)/float64(b.N), "kms-calls/op")
		})
	}
}

// threadsTime returns the processor time of a process that runs, in
// nanoseconds, summed over its threads.
func threadsTime(tb testing.TB, pid int) int64 {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	require.NoError(tb, err)
	require.NotEmpty(tb, files)
	var sum int64
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(tb, err)
		var running int64
		_, err = fmt.Sscan(string(text), &running)
		require.NoError(tb, err)
		sum += running
	}
	return sum
}
