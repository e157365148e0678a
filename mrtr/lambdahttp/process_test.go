package lambdahttp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

// modeEnv makes this test binary a bootstrap.
const modeEnv = "LAMBDAHTTP_TEST_MODE"

func TestMain(m *testing.M) {
	if mode := os.Getenv(modeEnv); mode != "" {
		lambdahttp.Start(bootstrapHandler(os.Getenv("LAMBDAHTTP_TEST_CONTROL")), lambdahttp.Mode(mode), lambdahttp.Options{})
	}
	os.Unsetenv("AWS_CA_BUNDLE")
	os.Exit(m.Run())
}

// bootstrapHandler is what the processes serve. It asks at the control URL when
// it may go on, so that a test can hold it between two chunks.
func bootstrapHandler(control string) http.Handler {
	wait := func() {
		resp, err := http.Get(control)
		if err != nil {
			panic(err)
		}
		resp.Body.Close()
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		inv, _ := lambdahttp.RequestContext(r.Context())
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("X-Id", inv.LambdaRequestID)
		_, _ = io.Copy(w, r.Body)
	})
	mux.HandleFunc("/chunks", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, s := range []string{"one", "two", "three"} {
			_, _ = io.WriteString(w, s)
			w.(http.Flusher).Flush()
			wait()
		}
		switch strings.TrimSuffix(r.URL.RawQuery, "=") {
		case "panic":
			panic("secret")
		case "abort":
			panic(http.ErrAbortHandler)
		}
	})
	mux.HandleFunc("/panic", func(http.ResponseWriter, *http.Request) { panic("secret") })
	mux.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, strings.Repeat("x", 7<<20))
	})
	return mux
}

// launch starts processes of this test binary.
func launch(t *testing.T, mode lambdahttp.Mode, opts lambdatest.Options) *lambdatest.API {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	opts.Bootstrap, opts.Env = self, append(opts.Env, modeEnv+"="+string(mode))
	api, err := lambdatest.Start(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { api.Close() })
	return api
}

// control returns a URL whose requests end one for each value sent to step.
func control(t *testing.T) (env string, step chan<- struct{}) {
	t.Helper()
	ch := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-ch:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(srv.Close)
	return "LAMBDAHTTP_TEST_CONTROL=" + srv.URL, ch
}

func call(t *testing.T, api *lambdatest.API, event []byte) *lambdatest.Result {
	t.Helper()
	res, err := api.Invoke(t.Context(), event)
	require.NoError(t, err)
	require.False(t, res.Exited, res.Logs)
	return res
}

func TestProcessBuffered(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		api := launch(t, lambdahttp.ModeBuffered, lambdatest.Options{Fresh: fresh})
		pids := make(map[int]bool)
		for _, body := range []string{"first", "second"} {
			res := call(t, api, request("POST", "/echo", body))
			require.Nil(t, res.FunctionError)
			got := parseReply(t, res.Payload)
			require.Equal(t, 200, got.StatusCode)
			require.Equal(t, body, got.Body)
			require.Equal(t, res.RequestID, got.Headers["X-Id"])
			pids[res.PID] = true
		}
		require.Equal(t, fresh, len(pids) == 2)

		res := call(t, api, request("POST", "/panic", ""))
		require.Nil(t, res.FunctionError)
		require.Equal(t, 500, parseReply(t, res.Payload).StatusCode)
		require.Contains(t, res.Logs, "lambdahttp: handler panicked")
		require.Contains(t, res.Logs, "request_id="+res.RequestID)
		require.NotContains(t, res.Logs, "secret")

		res = call(t, api, request("POST", "/large", ""))
		require.Nil(t, res.FunctionError)
		require.Equal(t, `{"message":"reply too large"}`, parseReply(t, res.Payload).Body)

		res = call(t, api, []byte(`{"source":"aws.events"}`))
		require.Nil(t, res.FunctionError)
		require.Equal(t, 400, parseReply(t, res.Payload).StatusCode)
	}
}

// TestProcessStream holds the handler between its chunks: each arrives before
// the next is written. However the stream ends, the process serves on.
func TestProcessStream(t *testing.T) {
	env, step := control(t)
	api := launch(t, lambdahttp.ModeStream, lambdatest.Options{Env: []string{env}})
	pid := 0
	const urlHead = `{"statusCode":200,"headers":{"Content-Type":"text/event-stream"}}`
	const restHead = `{"statusCode":200,"multiValueHeaders":{"Content-Type":["text/event-stream"]}}`
	for name, tc := range map[string]struct {
		event  []byte
		head   string
		failed *lambdatest.FunctionError
		logged bool
	}{
		"function url": {event: urlRequest("POST", "/chunks", ""), head: urlHead},
		"rest":         {event: restRequest("/chunks", nil), head: restHead},
		"panic": {event: restRequest("/chunks", map[string]string{"panic": ""}), head: restHead,
			failed: &lambdatest.FunctionError{Type: "Handler.Panic", Message: "the handler panicked"}, logged: true},
		"abort": {event: restRequest("/chunks", map[string]string{"abort": ""}), head: restHead,
			failed: &lambdatest.FunctionError{Type: "Handler.Aborted", Message: "the handler aborted its reply"}},
	} {
		t.Run(name, func(t *testing.T) {
			chunks := make(chan string)
			done := make(chan *lambdatest.Result, 1)
			go func() {
				defer close(done)
				res, err := api.InvokeFunc(context.WithoutCancel(t.Context()), tc.event, func(_ string, data []byte) { chunks <- string(data) })
				if err == nil {
					done <- res
				}
			}()
			for _, want := range []string{tc.head + nul + "one", "two", "three"} {
				require.Equal(t, want, <-chunks)
				step <- struct{}{}
			}
			res := <-done
			require.NotNil(t, res)
			require.False(t, res.Exited)
			require.Len(t, res.Chunks, 3)
			require.Equal(t, "application/vnd.awslambda.http-integration-response", res.ContentType)
			reply, err := res.Reply()
			require.NoError(t, err)
			require.Equal(t, "onetwothree", string(reply.Body))
			require.Equal(t, "text/event-stream", reply.Header.Get("Content-Type"))
			if tc.failed == nil {
				require.Nil(t, res.FunctionError)
				require.Empty(t, res.Trailer.Get("Lambda-Runtime-Function-Error-Type"))
			} else {
				require.NotNil(t, res.FunctionError)
				require.Equal(t, tc.failed.Type, res.Trailer.Get("Lambda-Runtime-Function-Error-Type"))
				require.Equal(t, tc.failed.Error(), res.FunctionError.Error())
			}
			require.Equal(t, tc.logged, strings.Contains(res.Logs, "handler panicked"))
			require.NotContains(t, res.Logs, "secret")

			next := call(t, api, urlRequest("POST", "/echo", "still here"))
			require.Equal(t, res.PID, next.PID)
			require.True(t, pid == 0 || pid == next.PID, "one process for all")
			pid = next.PID
			reply, err = next.Reply()
			require.NoError(t, err)
			require.Equal(t, "still here", string(reply.Body))
		})
	}
	t.Run("large", func(t *testing.T) {
		reply, err := call(t, api, urlRequest("POST", "/large", "")).Reply()
		require.NoError(t, err)
		require.Len(t, reply.Body, 7<<20)
	})
	t.Run("panic before the first chunk", func(t *testing.T) {
		res := call(t, api, urlRequest("POST", "/panic", ""))
		require.Nil(t, res.FunctionError)
		require.Equal(t, failedHead+failedBody, string(res.Payload))
	})
	t.Run("http api", func(t *testing.T) {
		res := call(t, api, request("POST", "/echo", "whole"))
		require.Equal(t, "application/json", res.ContentType)
		require.Equal(t, "whole", parseReply(t, res.Payload).Body)
	})
}

// TestProcessGateway goes the whole way: HTTP client, gateway, process.
func TestProcessGateway(t *testing.T) {
	env, step := control(t)
	apis := map[lambdahttp.Mode]*lambdatest.API{}
	for _, mode := range []lambdahttp.Mode{lambdahttp.ModeBuffered, lambdahttp.ModeStream} {
		apis[mode] = launch(t, mode, lambdatest.Options{Env: []string{env}})
	}
	body := "é \"\x00 " + strings.Repeat("x", 10000)
	for mode, api := range apis {
		for _, kind := range []lambdatest.Kind{lambdatest.HTTPAPI, lambdatest.REST, lambdatest.FunctionURL} {
			t.Run(string(mode)+"/"+string(kind), func(t *testing.T) {
				srv := httptest.NewServer(api.HTTPHandler(kind))
				defer srv.Close()
				resp, err := http.Post(srv.URL+"/echo", "application/json", strings.NewReader(body))
				require.NoError(t, err)
				got, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Equal(t, 200, resp.StatusCode)
				require.Equal(t, "text/plain", resp.Header.Get("Content-Type"))
				require.Equal(t, body, string(got))

				resp, err = http.Post(srv.URL+"/nowhere", "application/json", nil)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Equal(t, 404, resp.StatusCode)

				if mode != lambdahttp.ModeStream || kind == lambdatest.HTTPAPI {
					return
				}
				resp, err = http.Get(srv.URL + "/chunks?abort")
				require.NoError(t, err)
				defer resp.Body.Close()
				buf := make([]byte, 100)
				for _, want := range []string{"one", "two", "three"} {
					n, err := resp.Body.Read(buf)
					require.NoError(t, err)
					require.Equal(t, want, string(buf[:n]))
					step <- struct{}{}
				}
				_, err = resp.Body.Read(buf)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the stream is cut, not ended")
			})
		}
	}
}

// restRequest returns a REST API event.
func restRequest(path string, query map[string]string) []byte {
	b, err := json.Marshal(map[string]any{"httpMethod": "POST", "path": path, "queryStringParameters": query,
		"requestContext": map[string]any{"resourceId": "abc", "resourcePath": "/{proxy+}", "stage": "prod"}})
	if err != nil {
		panic(err)
	}
	return b
}
