package lambdahttp_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
)

// FuzzInvoke feeds events to both modes: no panic, no error, a well-formed
// reply, and no request that net/http's server would have refused.
func FuzzInvoke(f *testing.F) {
	for _, a := range goldenFiles(f) {
		f.Add(a.Files[0].Data)
	}
	f.Add([]byte(nil))
	f.Add([]byte(`{"path":"/","httpMethod":"0","requestContext":{"resourcePath":"0"}}0`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			require.EqualValues(t, len(body), r.ContentLength)
			require.True(t, strings.HasPrefix(r.URL.Path, "/"))
			require.NotContains(t, r.Header, "Host")
			line := r.Method + r.RequestURI + r.Host
			require.False(t, strings.ContainsAny(line, " \r\n\x00\t"), "%q", line)
			for name, values := range r.Header {
				require.Equal(t, http.CanonicalHeaderKey(name), name)
				require.NotEmpty(t, values)
				for _, v := range append(values, name) {
					require.False(t, strings.ContainsAny(v, "\r\n\x00"), "%q", v)
				}
				w.Header()[name] = values
			}
			w.Header().Set("X-Path", r.URL.Path)
			_, _ = w.Write(body)
		})
		opts := lambdahttp.Options{Logger: quiet}
		reply, err := lambdahttp.Handler(h, opts).Invoke(t.Context(), payload)
		require.NoError(t, err)
		require.True(t, jsontext.Value(reply).IsValid(), "%q", reply)
		buffered := parseReply(t, reply)

		stream, err := lambda.NewHandler(lambdahttp.StreamHandler(h, opts)).Invoke(t.Context(), payload)
		if !jsontext.Value(payload).IsValid() {
			return // the Lambda loop's own reader refuses it, or stops after its first value
		}
		require.NoError(t, err)
		require.Equal(t, buffered.StatusCode, parseReply(t, stream).StatusCode)
	})
}

// FuzzReplySize holds ReplySize against what is sent.
func FuzzReplySize(f *testing.F) {
	for _, s := range []string{"", "abc", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "é\u2028🙂", "\xff\xfe", "\xed\xa0\x80"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		reply, err := lambdahttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write(body)
		}), lambdahttp.Options{}).Invoke(t.Context(), request("GET", "/", ""))
		require.NoError(t, err)
		const around = len(`{"statusCode":200,"headers":{"Content-Type":"text/plain"},"body":,"isBase64Encoded":true}`)
		want := len(reply) - around
		if utf8.Valid(body) {
			want-- // false
		}
		require.Equal(t, want, lambdahttp.ReplySize(body))
		require.Equal(t, string(body), parseReply(t, reply).Body)
	})
}
