package lambdahttp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
)

const (
	nul        = "\x00\x00\x00\x00\x00\x00\x00\x00"
	textHead   = `{"statusCode":200,"headers":{"Content-Type":"text/plain"}}` + nul
	failedHead = `{"statusCode":500,"headers":{"Content-Type":"application/json"}}` + nul
	failedBody = `{"message":"internal error"}`
)

// open starts a streamed reply.
func open(t *testing.T, h http.HandlerFunc, event []byte, opts lambdahttp.Options) io.ReadCloser {
	t.Helper()
	if opts.Logger == nil {
		opts.Logger = quiet
	}
	r, err := lambdahttp.StreamHandler(h, opts)(t.Context(), jsontext.Value(event))
	require.NoError(t, err)
	return r
}

// contentType returns what the Lambda loop would send with the reply.
func contentType(t *testing.T, r io.Reader) string {
	t.Helper()
	_, err := json.Marshal(r)
	require.Error(t, err, "the Lambda loop reads only what is not JSON")
	return r.(interface{ ContentType() string }).ContentType()
}

func TestStreamChunks(t *testing.T) {
	next, wrote := make(chan struct{}), make(chan struct{})
	r := open(t, func(w http.ResponseWriter, _ *http.Request) {
		rc := http.NewResponseController(w)
		_, limited := w.(lambdahttp.ReplyLimiter)
		require.False(t, limited)
		w.Header().Set("Content-Type", "text/plain")
		require.NoError(t, rc.Flush()) // the head alone
		<-next
		_, _ = io.WriteString(w, "a")
		_, _ = io.WriteString(w, "b") // not sent before the flush
		close(wrote)
		<-next
		require.NoError(t, rc.Flush())
		require.NoError(t, rc.Flush()) // nothing to send
		<-next
		big := bytes.Repeat([]byte("x"), 5000)
		n, err := w.Write(big) // more than what waits for a flush
		require.Equal(t, len(big), n)
		require.NoError(t, err)
		<-next
		_, _ = io.WriteString(w, "end")
	}, urlRequest("POST", "/", ""), lambdahttp.Options{})
	require.Equal(t, "application/vnd.awslambda.http-integration-response", contentType(t, r))

	buf := make([]byte, 32<<10)
	read := func() string {
		n, err := r.Read(buf)
		require.NoError(t, err)
		return string(buf[:n])
	}
	require.Equal(t, textHead, read())
	next <- struct{}{}
	<-wrote
	next <- struct{}{}
	require.Equal(t, "ab", read())
	next <- struct{}{}
	require.Equal(t, strings.Repeat("x", 5000), read())
	next <- struct{}{}
	require.Equal(t, "end", read())
	_, err := r.Read(buf)
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, r.Close())
}

func TestStreamEnds(t *testing.T) {
	begin := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "begun")
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "lost")
	}
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		want    string
		err     error
		logged  bool
	}{
		"silent":      {func(http.ResponseWriter, *http.Request) {}, `{"statusCode":200,"headers":{}}` + nul, nil, false},
		"status only": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) }, `{"statusCode":202,"headers":{}}` + nul, nil, false},
		"no flush":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, `{"statusCode":200,"headers":{"Content-Type":"text/html; charset=utf-8"}}` + nul + "<html>", nil, false},
		"panic":       {func(http.ResponseWriter, *http.Request) { panic("secret") }, failedHead + failedBody, nil, true},
		"panic after write": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Lost", "1")
			w.WriteHeader(201)
			_, _ = io.WriteString(w, "lost")
			panic("secret")
		}, failedHead + failedBody, nil, true},
		"abort":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, failedHead + failedBody, nil, false},
		"goexit": {func(http.ResponseWriter, *http.Request) { runtime.Goexit() }, failedHead + failedBody, nil, false},
		"panic in mid-stream": {func(w http.ResponseWriter, _ *http.Request) { begin(w); panic("secret") }, textHead + "begun",
			messages.InvokeResponse_Error{Type: "Handler.Panic", Message: "the handler panicked"}, true},
		"abort in mid-stream": {func(w http.ResponseWriter, _ *http.Request) { begin(w); panic(http.ErrAbortHandler) }, textHead + "begun",
			messages.InvokeResponse_Error{Type: "Handler.Aborted", Message: "the handler aborted its reply"}, false},
		"goexit in mid-stream": {func(w http.ResponseWriter, _ *http.Request) { begin(w); runtime.Goexit() }, textHead + "begun",
			messages.InvokeResponse_Error{Type: "Handler.Aborted", Message: "the handler aborted its reply"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			r := open(t, tc.handler, urlRequest("GET", "/", ""), lambdahttp.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			got, err := io.ReadAll(r)
			require.Equal(t, tc.err, err)
			require.Equal(t, tc.want, string(got))
			require.NoError(t, r.Close())
			require.NotContains(t, log.String(), "secret")
			require.Equal(t, tc.logged, strings.Contains(log.String(), "handler panicked"))
		})
	}
}

// TestStreamClose stops a handler whose reply nobody reads any more, and waits
// for it.
func TestStreamClose(t *testing.T) {
	returned := false
	r := open(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "x")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		require.ErrorIs(t, http.NewResponseController(w).Flush(), nil) // nothing to send
		_, err := w.Write(make([]byte, 5000))
		require.ErrorIs(t, err, io.ErrClosedPipe)
		returned = true
	}, urlRequest("GET", "/", ""), lambdahttp.Options{})
	_, err := r.Read(make([]byte, 1000))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.True(t, returned)

	r = open(t, func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() }, urlRequest("GET", "/", ""), lambdahttp.Options{})
	require.NoError(t, r.Close()) // never read
	_, err = r.Read(make([]byte, 1))
	require.True(t, errors.Is(err, io.ErrClosedPipe))
}

// TestStreamWhole covers events that get a buffered reply in stream mode.
func TestStreamWhole(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		_, limited := w.(lambdahttp.ReplyLimiter)
		require.True(t, limited)
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "hi")
	}
	for name, tc := range map[string]struct{ event, want string }{
		"HTTP API": {string(request("GET", "/", "")), `{"statusCode":200,"headers":{"Content-Type":"text/plain"},"body":"hi","isBase64Encoded":false}`},
		"refused":  {string(urlRequest("G T", "/", "")), `{"statusCode":400,"headers":{"Content-Type":"application/json"},"body":"{\"message\":\"bad method\"}","isBase64Encoded":false}`},
		"unknown":  {`{}`, `{"statusCode":400,"headers":{"Content-Type":"application/json"},"body":"{\"message\":\"the event is not an HTTP request\"}","isBase64Encoded":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, h, []byte(tc.event), lambdahttp.Options{})
			require.Equal(t, "application/json", contentType(t, r))
			got, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, tc.want, string(got))
			require.NoError(t, r.Close())
		})
	}
}

// A reply that nobody reads holds its handler no longer than the margin after
// the deadline.
func TestStreamStalls(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	failed := make(chan error, 1)
	r, err := lambdahttp.StreamHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 8<<10)); err != nil {
				failed <- err
				return
			}
		}
	}), lambdahttp.Options{Logger: quiet, Margin: 20 * time.Millisecond})(ctx, jsontext.Value(urlRequest("GET", "/", "")))
	require.NoError(t, err)
	select {
	case err := <-failed:
		require.Error(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("the handler is still writing")
	}
	require.NoError(t, r.Close())
}
