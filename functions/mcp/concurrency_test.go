package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
)

// concurrency is AWS_LAMBDA_MAX_CONCURRENCY here.
const concurrency = 8

// raceBinary returns the endpoint's binary, built with the race detector where
// this test is.
func raceBinary(t *testing.T) string {
	t.Helper()
	info, ok := debug.ReadBuildInfo()
	require.True(t, ok)
	for _, s := range info.Settings {
		if s.Key != "-race" || s.Value != "true" {
			continue
		}
		out := filepath.Join(t.TempDir(), "bootstrap")
		cmd := exec.CommandContext(t.Context(), "go", "build", "-race", "-tags", "lambda.norpc", "-o", out, ".")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", output)
		return out
	}
	return bootstrap
}

// TestConcurrentFlows plays flows side by side in one process, which gets
// several requests at one time from its very start.
func TestConcurrentFlows(t *testing.T) {
	needContract(t)
	t.Parallel()
	binary := raceBinary(t)
	for _, mode := range []string{"buffered", "stream"} {
		for _, keys := range []string{"derived", "strict"} {
			t.Run(mode+" "+keys, func(t *testing.T) {
				fake := kmstest.NewServer(kmstest.Options{Latency: 5 * time.Millisecond})
				t.Cleanup(fake.Close)
				api, err := lambdatest.Start(t.Context(), lambdatest.Options{
					Bootstrap: binary, Concurrency: concurrency,
					Env: append(fake.Env(), "MRTR_KMS_KEY_ID="+fake.CreateKey(kmstest.KeyOptions{}).ARN, "MRTR_AUDIENCE=concurrency",
						"MRTR_AUTH=none", "MRTR_RESPONSE_MODE="+mode, "MRTR_KMS_MODE="+keys, "GORACE=halt_on_error=1"),
				})
				require.NoError(t, err)
				t.Cleanup(func() { api.Close() })
				gateway := api.HTTPHandler(lambdatest.FunctionURL)

				var wg sync.WaitGroup
				for i := range 3 * concurrency {
					name, color := fmt.Sprintf("Name-%d", i), fmt.Sprintf("color-%d", i)
					wg.Go(func() {
						played := mrtrtest.Play(t, mrtrtest.Handler(gateway), mrtrtest.Call{
							Name:    multiRound,
							Answers: mrtrtest.Answers{"step1": map[string]any{"name": name}, "step2": map[string]any{"color": color}},
						})
						if want := "Hi " + name + ", your favorite color is " + color + "."; played.Text() != want {
							t.Errorf("%q, want %q", played.Text(), want)
						}
					})
				}
				wg.Wait()

				res, err := api.Invoke(t.Context(), event(t, lambdatest.FunctionURL, multiRound, `{}`))
				require.NoError(t, err)
				require.False(t, res.Cold, "a process ended")
				if keys == "derived" {
					require.LessOrEqual(t, fake.Count(), 2, "one call an epoch, whoever asks first")
				}
			})
		}
	}
}

// TestConcurrentCalls: handlers that wait for each other all run at one time.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	var (
		mu   sync.Mutex
		here int
		all  = make(chan struct{})
	)
	meeting := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if here++; here == concurrency {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(meeting.Close)
	api := startLimits(t, lambdatest.Options{Concurrency: concurrency, Env: []string{"TEST_MEETING=" + meeting.URL}})
	payload := event(t, lambdatest.HTTPAPI, "meets", `{}`)
	results := make([]*lambdatest.Result, concurrency)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			res, err := api.Invoke(t.Context(), payload)
			if err == nil {
				results[i] = res
			}
		})
	}
	wg.Wait()
	for _, res := range results {
		require.NotNil(t, res)
		require.Nil(t, res.FunctionError)
		require.Contains(t, string(res.Payload), `met`)
		require.Equal(t, results[0].PID, res.PID)
		for line := range strings.Lines(res.Logs) {
			require.True(t, jsontext.Value(line).IsValid(), "a line of several: %s", line)
		}
	}
}
