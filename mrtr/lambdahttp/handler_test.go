package lambdahttp_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
)

var quiet = slog.New(slog.DiscardHandler)

// reply is a reply of either form, read with another JSON library than the one
// that wrote it.
type reply struct {
	StatusCode        int
	Headers           map[string]string
	MultiValueHeaders map[string][]string
	Cookies           []string
	Body              string
	IsBase64Encoded   bool
}

func parseReply(t testing.TB, b []byte) (r reply) {
	t.Helper()
	head, body, stream := bytes.Cut(b, make([]byte, 8))
	require.NoError(t, json.Unmarshal(head, &r))
	require.GreaterOrEqual(t, r.StatusCode, 200)
	if stream {
		r.Body = string(body)
	}
	if r.IsBase64Encoded {
		raw, err := base64.StdEncoding.DecodeString(r.Body)
		require.NoError(t, err)
		r.Body, r.IsBase64Encoded = string(raw), false
	}
	return r
}

// request returns an HTTP API event.
func request(method, path, body string) []byte {
	return requestOf("a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com", method, path, body)
}

// urlRequest returns a Function URL event.
func urlRequest(method, path, body string) []byte {
	return requestOf("abcdef.lambda-url.eu-central-1.on.aws", method, path, body)
}

func requestOf(domain, method, path, body string) []byte {
	b, err := json.Marshal(map[string]any{"version": "2.0", "rawPath": path, "body": body,
		"requestContext": map[string]any{"domainName": domain, "stage": "$default", "http": map[string]any{"method": method}}})
	if err != nil {
		panic(err)
	}
	return b
}

func invoke(t *testing.T, h http.HandlerFunc, opts lambdahttp.Options) reply {
	t.Helper()
	if opts.Logger == nil {
		opts.Logger = quiet
	}
	b, err := lambdahttp.Handler(h, opts).Invoke(t.Context(), request("POST", "/", "ping"))
	require.NoError(t, err)
	return parseReply(t, b)
}

func TestEmptyAndBrokenPayloads(t *testing.T) {
	var log bytes.Buffer
	h := lambdahttp.Handler(http.NotFoundHandler(), lambdahttp.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, payload := range []string{"", "{", "{}x", "\xff", `{"version":"2.0"}`, `{"a":1,"a":2}`, strings.Repeat("[", 20000), `{"headers":{"a":{}}}`, `{"body":5}`} {
		log.Reset()
		b, err := h.Invoke(t.Context(), []byte(payload))
		require.NoError(t, err)
		require.Equal(t, `{"statusCode":400,"headers":{"Content-Type":"application/json"},"body":"{\"message\":\"the event is not an HTTP request\"}","isBase64Encoded":false}`, string(b))
		require.Contains(t, log.String(), `level=WARN msg="lambdahttp: event is not an HTTP request"`)
		require.Equal(t, 1, strings.Count(log.String(), "\n"))
	}
	b, err := h.Invoke(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, 400, parseReply(t, b).StatusCode)
}

func TestDeadline(t *testing.T) {
	end := time.Now().Add(time.Hour)
	now := end.Add(-time.Hour)
	for name, tc := range map[string]struct {
		opts lambdahttp.Options
		none bool // the invocation has no deadline
		want time.Time
	}{
		"default":         {want: end.Add(-500 * time.Millisecond)},
		"margin":          {opts: lambdahttp.Options{Margin: time.Second}, want: end.Add(-time.Second)},
		"no margin":       {opts: lambdahttp.Options{Margin: -1}, want: end},
		"gateway":         {opts: lambdahttp.Options{GatewayTimeout: 29 * time.Second, Margin: time.Second}, want: now.Add(28 * time.Second)},
		"patient gateway": {opts: lambdahttp.Options{GatewayTimeout: 2 * time.Hour}, want: end.Add(-500 * time.Millisecond)},
		"none":            {none: true},
		"none, gateway":   {none: true, opts: lambdahttp.Options{GatewayTimeout: time.Minute}, want: now.Add(time.Minute - 500*time.Millisecond)},
	} {
		t.Run(name, func(t *testing.T) {
			tc.opts.Now = func() time.Time { return now }
			ctx := t.Context()
			if !tc.none {
				var cancel context.CancelFunc
				ctx, cancel = context.WithDeadline(ctx, end)
				defer cancel()
			}
			var after context.Context
			_, err := lambdahttp.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got, ok := r.Context().Deadline()
				require.Equal(t, !tc.want.IsZero(), ok)
				require.Equal(t, tc.want, got)
				require.NoError(t, r.Context().Err())
				after = r.Context()
			}), tc.opts).Invoke(ctx, request("GET", "/", ""))
			require.NoError(t, err)
			require.ErrorIs(t, after.Err(), context.Canceled, "the context ends with the request")
		})
	}
}

func TestRequestContext(t *testing.T) {
	_, ok := lambdahttp.RequestContext(t.Context())
	require.False(t, ok)
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "base")
	ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: "lambda-1"})
	called := false
	_, err := lambdahttp.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		inv, ok := lambdahttp.RequestContext(context.WithValue(r.Context(), new(int), 1))
		require.True(t, ok)
		require.Equal(t, "lambda-1", inv.LambdaRequestID)
		require.Nil(t, inv.Authorizer)
		require.Equal(t, "base", r.Context().Value(key{}))
		called = true
	}), lambdahttp.Options{}).Invoke(ctx, request("GET", "/", ""))
	require.NoError(t, err)
	require.True(t, called)
}

func TestPanics(t *testing.T) {
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		logged  string
	}{
		"value": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Lost", "1")
			_, _ = io.WriteString(w, "lost")
			panic("secret")
		}, "lambdahttp_test.TestPanics.func1 (handler_test.go:"},
		"nil map": {func(http.ResponseWriter, *http.Request) {
			var m map[string]int
			m["secret"] = 1 //lint:ignore SA5000 the panic is what is tested
		}, "lambdahttp_test.TestPanics.func2 (handler_test.go:"},
		"status":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(42) }, "WriteHeader (writer.go:"},
		"abort":         {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, ""},
		"uncomparable":  {func(http.ResponseWriter, *http.Request) { panic([]string{"secret"}) }, "TestPanics.func5"},
		"while flushed": {func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush(); panic(1) }, "TestPanics.func6"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			got := invoke(t, tc.handler, lambdahttp.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			require.Equal(t, reply{StatusCode: 500, Headers: map[string]string{"Content-Type": "application/json"}, Body: `{"message":"internal error"}`}, got)
			require.NotContains(t, log.String(), "secret")
			if tc.logged == "" {
				require.Empty(t, log.String())
				return
			}
			require.Contains(t, log.String(), `level=ERROR msg="lambdahttp: handler panicked" at=`)
			require.Contains(t, log.String(), tc.logged)
			require.NotContains(t, log.String(), "runtime.")
		})
	}
}

func TestWriter(t *testing.T) {
	got := invoke(t, func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		require.NoError(t, rc.Flush())
		w.WriteHeader(http.StatusTeapot) // too late
		n, err := io.WriteString(w, "a")
		require.Equal(t, 1, n)
		require.NoError(t, err)
		n, err = w.Write(nil)
		require.Zero(t, n)
		require.NoError(t, err)
		require.ErrorIs(t, rc.SetWriteDeadline(time.Time{}), http.ErrNotSupported)
	}, lambdahttp.Options{})
	require.Equal(t, 200, got.StatusCode)
	require.Equal(t, "a", got.Body)

	nothing := func(http.ResponseWriter, *http.Request) {}
	require.Equal(t, reply{StatusCode: 200, Headers: map[string]string{}}, invoke(t, nothing, lambdahttp.Options{}))
}

func TestTooLarge(t *testing.T) {
	const limit = 2000
	quotes := strings.Repeat(`"`, 1000) // fits as bytes, not as JSON
	handlers := map[string]http.HandlerFunc{
		"escaped": func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.WriteString(w, quotes)
			require.NoError(t, err)
		},
		"plain": func(w http.ResponseWriter, _ *http.Request) {
			for range 3 {
				_, _ = w.Write(make([]byte, 1000))
			}
			_, err := io.WriteString(w, "x")
			require.ErrorIs(t, err, lambdahttp.ErrReplyTooLarge)
			require.False(t, w.(lambdahttp.ReplyLimiter).ReplyFits(nil))
		},
	}
	for name, h := range handlers {
		t.Run(name, func(t *testing.T) {
			consuming := func(w http.ResponseWriter, r *http.Request) {
				_, err := io.Copy(io.Discard, r.Body)
				require.NoError(t, err)
				w.Header().Set("X-Lost", "1")
				h(w, r)
			}
			got := invoke(t, consuming, lambdahttp.Options{MaxReplyBytes: limit})
			require.Equal(t, reply{StatusCode: 500, Headers: map[string]string{"Content-Type": "application/json"}, Body: `{"message":"reply too large"}`}, got)

			again := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				w.Header().Set("Content-Type", "text/plain")
				_, _ = w.Write(append(body, " too large"...))
			})
			got = invoke(t, consuming, lambdahttp.Options{MaxReplyBytes: limit, TooLarge: again})
			require.Equal(t, reply{StatusCode: 200, Headers: map[string]string{"Content-Type": "text/plain"}, Body: "ping too large"}, got)

			got = invoke(t, consuming, lambdahttp.Options{MaxReplyBytes: limit, TooLarge: h})
			require.Equal(t, `{"message":"reply too large"}`, got.Body)
			got = invoke(t, consuming, lambdahttp.Options{MaxReplyBytes: limit, TooLarge: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(1) })})
			require.Equal(t, `{"message":"internal error"}`, got.Body)
		})
	}
}

// TestReplyFits holds the forecast against the limit: what fits by it is never
// too large, and it does not refuse what is far from the limit.
func TestReplyFits(t *testing.T) {
	const limit = 20000
	for name, tc := range map[string]struct {
		already, body string
		header        string
		fits          bool
	}{
		"small":              {body: "x", fits: true},
		"plain":              {body: strings.Repeat("x", 18000), fits: true},
		"plain, too large":   {body: strings.Repeat("x", 20000)},
		"quotes":             {body: strings.Repeat(`"`, 9000), fits: true},
		"quotes, too large":  {body: strings.Repeat(`"`, 10000)},
		"controls":           {body: strings.Repeat("\x01", 3000), fits: true},
		"controls too large": {body: strings.Repeat("\x01", 3400)},
		"binary":             {body: strings.Repeat("\xff", 14000), fits: true},
		"binary, too large":  {body: strings.Repeat("\xff", 15000)},
		"already":            {already: strings.Repeat("x", 12000), body: strings.Repeat("x", 12000)},
		"half a character":   {already: strings.Repeat(`"`, 7000) + "\xc3", body: "\xa9" + strings.Repeat(`"`, 4000)},
		"headers":            {header: strings.Repeat("x", 21000), body: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, sealed := range []bool{false, true} {
				fits := false
				got := invoke(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", "text/plain")
					if tc.header != "" {
						w.Header().Set("X-Long", tc.header)
					}
					if sealed {
						w.WriteHeader(200)
					}
					_, _ = io.WriteString(w, tc.already)
					fits = w.(lambdahttp.ReplyLimiter).ReplyFits([]byte(tc.body))
					_, _ = io.WriteString(w, tc.body)
				}, lambdahttp.Options{MaxReplyBytes: limit})
				require.Equal(t, tc.fits, fits)
				if fits {
					require.Equal(t, 200, got.StatusCode)
				}
			}
		})
	}
}

func TestConstructorsRefuse(t *testing.T) {
	require.Panics(t, func() { lambdahttp.Handler(nil, lambdahttp.Options{}) })
	require.Panics(t, func() { lambdahttp.StreamHandler(nil, lambdahttp.Options{}) })
	require.Panics(t, func() { lambdahttp.Start(http.NotFoundHandler(), "", lambdahttp.Options{}) })
}

func TestParseMode(t *testing.T) {
	for in, want := range map[string]lambdahttp.Mode{"": lambdahttp.ModeBuffered, "buffered": lambdahttp.ModeBuffered, "stream": lambdahttp.ModeStream} {
		got, err := lambdahttp.ParseMode(in)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, in := range []string{"Stream", "x\n", " "} {
		_, err := lambdahttp.ParseMode(in)
		require.Error(t, err)
	}
}

func TestReplySize(t *testing.T) {
	for _, tc := range []struct {
		body string
		want int
	}{{"", 2}, {"abc", 5}, {`"\`, 6}, {"\n\x01", 10}, {"é\u2028\x7f", 8}, {"\xff", 6}} {
		require.Equal(t, tc.want, lambdahttp.ReplySize([]byte(tc.body)), "%q", tc.body)
	}
}

func TestHandlerKeepsNothingOfThePayload(t *testing.T) {
	payload := request("POST", "/a", "ping")
	var kept *http.Request
	_, err := lambdahttp.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { kept = r }), lambdahttp.Options{}).Invoke(t.Context(), payload)
	require.NoError(t, err)
	for i := range payload {
		payload[i] = 'X' // the Lambda loop uses it for the next event
	}
	body, err := io.ReadAll(kept.Body)
	require.NoError(t, err)
	require.Equal(t, "ping", string(body))
	require.Equal(t, "/a", kept.URL.Path)
}
