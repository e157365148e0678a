package lambdatest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

var bootstrap string

func TestMain(m *testing.M) {
	os.Unsetenv("AWS_CA_BUNDLE")
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "lambdatest")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	bootstrap = filepath.Join(dir, "bootstrap")
	if err := lambdatest.Build(context.Background(), ".", "./testdata/bootstrap", bootstrap); err != nil {
		panic(err)
	}
	return m.Run()
}

func start(t *testing.T, opts lambdatest.Options) *lambdatest.API {
	t.Helper()
	opts.Bootstrap = bootstrap
	api, err := lambdatest.Start(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { api.Close() })
	return api
}

func ev(do, text string) []byte {
	b, err := json.Marshal(map[string]string{"Do": do, "Text": text})
	if err != nil {
		panic(err)
	}
	return b
}

func invoke(t *testing.T, api *lambdatest.API, do, text string) *lambdatest.Result {
	t.Helper()
	res, err := api.Invoke(t.Context(), ev(do, text))
	require.NoError(t, err)
	return res
}

func TestWarm(t *testing.T) {
	api := start(t, lambdatest.Options{})
	first := invoke(t, api, "echo", `{"a":1}`)
	require.Equal(t, `{"a":1}`, string(first.Payload))
	require.Nil(t, first.FunctionError)
	require.True(t, first.Cold)
	require.Equal(t, "init\nhandling echo\n", first.Logs)
	require.Positive(t, first.Init)

	second := invoke(t, api, "echo", `2`)
	require.Equal(t, first.PID, second.PID)
	require.False(t, second.Cold)
	require.Equal(t, "handling echo\n", second.Logs)
	require.NotEqual(t, first.RequestID, second.RequestID)
}

func TestFresh(t *testing.T) {
	api := start(t, lambdatest.Options{Fresh: true})
	first, second := invoke(t, api, "echo", `1`), invoke(t, api, "echo", `2`)
	require.NotEqual(t, first.PID, second.PID)
	require.True(t, second.Cold)
	require.Equal(t, "init\nhandling echo\n", second.Logs)
	require.Positive(t, api.CPUTime())
}

func TestInstances(t *testing.T) {
	api := start(t, lambdatest.Options{Instances: 2})
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		pids = map[int]bool{}
		both = make(chan struct{})
	)
	for range 2 {
		wg.Go(func() {
			// Each holds its process in mid-reply until the other has got there.
			res, err := api.InvokeFunc(t.Context(), ev("reader", "x"), func(string, []byte) {
				mu.Lock()
				pids[len(pids)] = true
				if len(pids) == 2 {
					close(both)
				}
				mu.Unlock()
				<-both
			})
			if err == nil {
				mu.Lock()
				pids[res.PID] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, pids, 4, "two invocations at one time, on two processes")
}

// TestConcurrency: one process has several invocations at one time, and one that
// ends takes the others with it.
func TestConcurrency(t *testing.T) {
	const n = 3
	api := start(t, lambdatest.Options{Concurrency: n, Fresh: true})
	together := func(do string) [n]*lambdatest.Result {
		var (
			wg   sync.WaitGroup
			here sync.WaitGroup
			got  [n]*lambdatest.Result
		)
		here.Add(n)
		for i := range n {
			wg.Go(func() {
				res, err := api.InvokeFunc(t.Context(), ev(do, fmt.Sprint(i)), func(string, []byte) {
					here.Done()
					here.Wait() // each is held in mid-reply until all have got there
				})
				if err == nil {
					got[i] = res
				}
			})
		}
		wg.Wait()
		return got
	}
	pids, cold := map[int]bool{}, 0
	for i, res := range together("reader") {
		require.NotNil(t, res)
		require.Equal(t, fmt.Sprint(i), string(res.Payload))
		require.False(t, res.Exited)
		pids[res.PID] = true
		if res.Cold {
			cold++
		}
	}
	require.Len(t, pids, 1)
	require.Equal(t, 1, cold)

	var wg sync.WaitGroup
	wg.Go(func() {
		res, err := api.InvokeFunc(t.Context(), ev("stuck", "x"), func(string, []byte) {
			wg.Go(func() { _, _ = api.Invoke(t.Context(), ev("exit", "")) })
		})
		if err != nil || res.FunctionError == nil {
			t.Errorf("%v, %+v", err, res)
		}
	})
	wg.Wait()
	res := invoke(t, api, "echo", "1")
	require.Nil(t, res.FunctionError)
	require.True(t, res.Cold)
	require.NotContains(t, pids, res.PID)
}

func TestEnvironment(t *testing.T) {
	t.Setenv("AWS_CA_BUNDLE", "/nonexistent")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "inherited")
	api := start(t, lambdatest.Options{Env: []string{"X=1", "AWS_REGION=eu-west-1", "X=2"}, Timeout: time.Hour})
	before := time.Now()
	res := invoke(t, api, "context", "")
	var got struct {
		ID, ARN, Trace string
		Has            bool
		Deadline       int64
		Env            []string
	}
	require.NoError(t, json.Unmarshal(res.Payload, &got))
	require.Equal(t, res.RequestID, got.ID)
	require.Equal(t, "arn:aws:lambda:eu-central-1:123456789012:function:lambdatest", got.ARN)
	require.Regexp(t, `^Root=1-[0-9a-f]{8}-[0-9a-f]{24};Parent=[0-9a-f]{16};Sampled=0$`, got.Trace)
	require.True(t, got.Has)
	require.GreaterOrEqual(t, got.Deadline, before.Add(time.Hour).UnixMilli())
	require.Contains(t, got.Env, "X=2")
	require.NotContains(t, got.Env, "X=1")
	require.Contains(t, got.Env, "AWS_REGION=eu-west-1")
	require.Contains(t, got.Env, "_HANDLER=bootstrap")
	require.NotContains(t, strings.Join(got.Env, "\n"), "AWS_CA_BUNDLE")
	require.NotContains(t, strings.Join(got.Env, "\n"), "inherited")
}

func TestFunctionErrors(t *testing.T) {
	api := start(t, lambdatest.Options{})
	pid := invoke(t, api, "echo", `1`).PID
	for _, tc := range []struct {
		do, text   string
		kind, says string
		exited     bool
		restarted  bool // the process had ended before
	}{
		{do: "fail", text: "oops", kind: "errorString", says: "oops"},
		{do: "reader", text: "x", kind: "errorString", says: "mid-stream"},
		{do: "panic", text: "boom", kind: "string", says: "boom", exited: true},
		{do: "exit", kind: "Runtime.ExitError", says: "exit status 5", exited: true, restarted: true},
		{do: "large", kind: "Function.ResponseSizeTooLarge", says: "6291556", exited: true, restarted: true},
		{do: "fail", text: "again", kind: "errorString", says: "again", restarted: true},
	} {
		t.Run(tc.do, func(t *testing.T) {
			res := invoke(t, api, tc.do, tc.text)
			require.NotNil(t, res.FunctionError)
			require.Equal(t, tc.kind, res.FunctionError.Type)
			require.Contains(t, res.FunctionError.Message, tc.says)
			require.Contains(t, res.Logs, "handling "+tc.do)
			require.Equal(t, tc.exited, res.Exited)
			require.Equal(t, tc.restarted, res.PID != pid)
			require.Equal(t, tc.restarted, res.Cold)
		})
	}
}

func TestTrailer(t *testing.T) {
	api := start(t, lambdatest.Options{})
	res := invoke(t, api, "reader", "begun")
	require.Equal(t, "begun", string(res.Payload))
	require.Equal(t, "errorString", res.Trailer.Get("Lambda-Runtime-Function-Error-Type"))
	require.JSONEq(t, `{"errorMessage":"mid-stream","errorType":"errorString"}`, string(res.FunctionError.Body))
	require.False(t, res.Exited)
}

func TestTimeout(t *testing.T) {
	api := start(t, lambdatest.Options{Timeout: 300 * time.Millisecond})
	res := invoke(t, api, "hang", "")
	require.Equal(t, "Sandbox.Timedout", res.FunctionError.Type)
	require.Contains(t, res.FunctionError.Message, "Task timed out after 0.30 seconds")
	require.Equal(t, "init\nhandling hang\n", res.Logs)
	require.True(t, res.Exited)
	require.NotEqual(t, res.PID, invoke(t, api, "echo", `1`).PID)
}

func TestCancel(t *testing.T) {
	api := start(t, lambdatest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := api.InvokeFunc(ctx, ev("stuck", "x"), func(string, []byte) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "1", string(invoke(t, api, "echo", `1`).Payload))
}

func TestClose(t *testing.T) {
	api := start(t, lambdatest.Options{})
	res, err := api.InvokeFunc(t.Context(), ev("stuck", "begun"), func(string, []byte) { go api.Close() })
	require.NoError(t, err)
	require.Equal(t, "begun", string(res.Payload))
	require.Equal(t, "Runtime.TruncatedResponse", res.FunctionError.Type)
	require.True(t, res.Exited)
}

func TestInitErrors(t *testing.T) {
	for _, tc := range []struct {
		env, kind, says, logs string
	}{
		{"FAIL_INIT=1", "Config.Missing", "no key", "init\n"},
		{"EXIT_INIT=1", "Runtime.ExitError", "exit status 4", "init\nbootstrap: no key\n"},
		{"HANG_INIT=1", "Sandbox.Timedout", "init timed out after 500ms", "init\n"},
	} {
		t.Run(tc.env, func(t *testing.T) {
			opts := lambdatest.Options{Bootstrap: bootstrap, Env: []string{tc.env}, InitTimeout: 10 * time.Second}
			if tc.kind == "Sandbox.Timedout" {
				opts.InitTimeout = 500 * time.Millisecond
			}
			check := func(err error) {
				var e *lambdatest.InitError
				require.ErrorAs(t, err, &e)
				require.Equal(t, tc.kind, e.Type)
				require.Contains(t, e.Message, tc.says)
				require.Equal(t, tc.logs, e.Logs)
			}
			_, err := lambdatest.Start(t.Context(), opts)
			check(err)
			opts.Fresh = true
			api, err := lambdatest.Start(t.Context(), opts)
			require.NoError(t, err)
			defer api.Close()
			_, err = api.Invoke(t.Context(), ev("echo", `1`))
			check(err)
		})
	}
}

func TestRefusals(t *testing.T) {
	_, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: filepath.Join(t.TempDir(), "none")})
	require.ErrorContains(t, err, "no bootstrap")
	for _, fresh := range []bool{false, true} {
		api := start(t, lambdatest.Options{Fresh: fresh})
		_, err = api.Invoke(t.Context(), make([]byte, lambdatest.MaxEvent+1))
		require.ErrorContains(t, err, "over the limit")
		require.NoError(t, api.Close())
		_, err = api.Invoke(t.Context(), ev("echo", `1`))
		require.ErrorIs(t, err, lambdatest.ErrClosed)
	}
}

func TestBuildFails(t *testing.T) {
	err := lambdatest.Build(t.Context(), ".", "./testdata/nothing", filepath.Join(t.TempDir(), "x"))
	require.ErrorContains(t, err, "building")
}

func ExampleStart() {
	ctx := context.Background()
	api, err := lambdatest.Start(ctx, lambdatest.Options{Bootstrap: "bin/mcp/bootstrap", Fresh: true})
	if err != nil {
		fmt.Println("no binary yet: see Build")
		return
	}
	defer api.Close()
	res, err := api.Invoke(ctx, []byte(`{"version":"2.0"}`))
	var initErr *lambdatest.InitError
	if errors.As(err, &initErr) {
		fmt.Println(initErr.Logs)
		return
	}
	fmt.Println(string(res.Payload), res.FunctionError)
	// Output: no binary yet: see Build
}
