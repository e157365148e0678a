package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

// TestRun judges the way from HTTP to the bootstrap and back with one request a
// kind of gateway.
func TestRun(t *testing.T) {
	os.Unsetenv("AWS_CA_BUNDLE")
	bootstrap := filepath.Join(t.TempDir(), "bootstrap")
	require.NoError(t, lambdatest.Build(t.Context(), ".", "../../functions/conformance", bootstrap))
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r, w := io.Pipe()
			ended := make(chan error, 1)
			go func() {
				err := run(ctx, []string{"-kind", string(kind), "-instances", "1", bootstrap}, w)
				w.CloseWithError(err)
				ended <- err
			}()
			line, err := bufio.NewReader(r).ReadString('\n')
			require.NoError(t, err)
			url := strings.TrimSpace(line)

			require.Contains(t, list(t, url, strings.TrimSuffix(url, "/mcp"), http.StatusOK), `"test_simple_text"`)
			list(t, url, "http://evil.example.com", http.StatusForbidden)
			cancel()
			require.NoError(t, <-ended)
		})
	}
}

// list asks for the tools as a page of that origin and returns the reply.
func list(t *testing.T, url, origin string, status int) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`))
	require.NoError(t, err)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list", "Origin": origin,
	} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, status, res.StatusCode, "%s", body)
	return string(body)
}

func TestRunRefuses(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, "name one bootstrap"},
		{[]string{"a", "b"}, "name one bootstrap"},
		{[]string{"-kind", "alb", "a"}, `-kind: "alb" is none of`},
		{[]string{filepath.Join(t.TempDir(), "none")}, "no bootstrap at"},
	} {
		require.ErrorContains(t, run(t.Context(), tt.args, io.Discard), tt.want)
	}
}
