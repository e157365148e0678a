package awslambda

import (
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

func TestRoute(t *testing.T) {
	h := route(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	for path, want := range map[string]int{
		"/mcp":                                  http.StatusTeapot,
		"/v1/mcp":                               http.StatusTeapot, // the base path of a custom domain
		"/":                                     http.StatusNotFound,
		"/mcp/":                                 http.StatusNotFound,
		"/mcpx":                                 http.StatusNotFound,
		"/xmcp":                                 http.StatusNotFound,
		"/.well-known/oauth-protected-resource": http.StatusNotFound,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
		require.Equal(t, want, w.Code, path)
	}
}

func TestParseFlags(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "127.0.0.1:8080"},
		{[]string{"-addr", "127.0.0.1:0"}, "127.0.0.1:0"},
		{[]string{"--addr=localhost:9000"}, "localhost:9000"},
		{[]string{"-addr", "[::1]:9000"}, "[::1]:9000"},
		{[]string{"-addr", "127.8.9.10:9000"}, "127.8.9.10:9000"},
	} {
		got, err := parseFlags(append([]string{"mcp"}, tt.args...), io.Discard)
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
	}
	var help strings.Builder
	_, err := parseFlags([]string{"/opt/mcp", "-h"}, &help)
	require.ErrorIs(t, err, flag.ErrHelp)
	require.Contains(t, help.String(), "usage: mcp [flags]\n")
	require.Contains(t, help.String(), defaultAddr)
}

// TestLocalKeys: every run seals under keys of its own.
func TestLocalKeys(t *testing.T) {
	s, err := readSettings(func(string) string { return "" })
	require.NoError(t, err)
	seen := map[requeststate.Fingerprint]bool{}
	for range 3 {
		keys, wait, err := s.keys(aws.Config{}, Options{}, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		wait()
		k, err := keys.SealKey(t.Context(), requeststate.PurposeTool, requeststate.Salt{})
		require.NoError(t, err)
		require.Equal(t, requeststate.ModeStatic, k.Mode)
		require.False(t, seen[k.Fingerprint])
		seen[k.Fingerprint] = true
	}
}

// TestMaxReplyBytes: what the server lets through, Lambda lets through.
func TestMaxReplyBytes(t *testing.T) {
	s := settings{onLambda: true}
	body := strings.Repeat(`"`, s.maxReplyBytes()/2)
	require.LessOrEqual(t, lambdahttp.ReplySize([]byte(body))+16<<10, lambdahttp.DefaultMaxReplyBytes+2)
	require.Zero(t, (&settings{}).maxReplyBytes())
}

func Example() {
	newServer := func() *mrtr.Server {
		srv := mrtr.NewServer(protocol.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
		// mrtr.AddTool(srv, …)
		return srv
	}
	main := func() { Main(newServer) }
	_ = main // on Lambda and locally alike
}

func ExampleMainWith() {
	newServer := func() *mrtr.Server {
		return mrtr.NewServer(protocol.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
	}
	authenticate := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// Check the caller's credentials here, and refuse those without.
			caller := mrtr.Principal{Issuer: "https://issuer.example", Subject: "ann"}
			next.ServeHTTP(w, r.WithContext(mrtr.WithPrincipal(r.Context(), caller)))
		})
	}
	main := func() { MainWith(Options{Wrap: authenticate}, newServer) }
	_ = main
}
