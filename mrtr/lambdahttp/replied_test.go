package lambdahttp_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
)

// TestReplied: it is called once a request, after the handler; before the reply
// is handed over where that is buffered, after it where it is streamed; and not
// for what the handler never sees.
func TestReplied(t *testing.T) {
	const (
		httpAPI = `{"version":"2.0","rawPath":"/","requestContext":{"domainName":"x.execute-api.eu-central-1.amazonaws.com","http":{"method":"GET"}}}`
		fnURL   = `{"version":"2.0","rawPath":"/","requestContext":{"domainName":"x.lambda-url.eu-central-1.on.aws","http":{"method":"GET"}}}`
	)
	var calls []string
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, "handler")
		if r.Header.Get("X-Panic") != "" {
			panic("x")
		}
		_, _ = io.WriteString(w, "hello")
	})
	opts := lambdahttp.Options{Logger: quiet, Replied: func(ctx context.Context) {
		_, ok := lambdahttp.RequestContext(ctx)
		require.True(t, ok)
		calls = append(calls, "replied")
	}}
	invoke := func(event string) {
		calls = nil
		_, err := lambdahttp.Handler(handler, opts).Invoke(t.Context(), []byte(event))
		require.NoError(t, err)
		calls = append(calls, "returned")
	}
	stream := func(event string) {
		calls = nil
		r, err := lambdahttp.StreamHandler(handler, opts)(t.Context(), jsontext.Value(event))
		require.NoError(t, err)
		_, err = io.ReadAll(r)
		require.NoError(t, err)
		calls = append(calls, "read")
		require.NoError(t, r.Close())
	}

	invoke(httpAPI)
	require.Equal(t, []string{"handler", "replied", "returned"}, calls)
	invoke(`{"version":"2.0","rawPath":"/","headers":{"x-panic":"1"},"requestContext":{"domainName":"x.lambda-url.eu-central-1.on.aws","http":{"method":"GET"}}}`)
	require.Equal(t, []string{"handler", "replied", "returned"}, calls)
	invoke(`{"source":"aws.events"}`)
	require.Equal(t, []string{"returned"}, calls)

	stream(fnURL)
	require.Equal(t, []string{"handler", "read", "replied"}, calls)
	stream(httpAPI)
	require.Equal(t, []string{"handler", "replied", "read"}, calls)
	stream(`{"source":"aws.events"}`)
	require.Equal(t, []string{"read"}, calls)
}
