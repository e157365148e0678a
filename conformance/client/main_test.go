package main

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// endpoint serves a tool that answers at once and one that asks back, to anyone.
func endpoint(t *testing.T) string {
	keys, err := requeststate.NewStaticKeys(make([]byte, requeststate.MinSecretSize))
	require.NoError(t, err)
	s := mrtr.NewServer(protocol.Implementation{Name: "server", Version: "1"}, nil)
	mrtr.AddTool(s, mrtr.Tool{Name: "test-tool"}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) {
		return mrtr.Text("done"), nil
	})
	mrtr.AddTool(s, mrtr.Tool{Name: "test_reconnection"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		v, err := mrtr.Ask[struct {
			Name string `json:"name" form:"default=Ann"`
		}](c, "name", "Who?")
		if err != nil {
			return nil, err
		}
		return mrtr.Text(v.Name), nil
	})
	h, err := s.Handler(mrtr.HandlerOptions{Keys: keys, Audience: "test", AllowAnonymous: true, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	return web.URL
}

func TestRun(t *testing.T) {
	url := endpoint(t)
	for _, tt := range []struct {
		name              string
		args              []string
		scenario, context string
		revision          string
		want              string // empty: it goes well
	}{
		{name: "no URL", scenario: "initialize", want: "name the server's URL"},
		{name: "unknown", args: []string{url}, scenario: "auth/dpop", want: `"auth/dpop" is not supported`},
		{name: "no context", args: []string{url}, scenario: "http-custom-headers", context: "[]", want: "MCP_CONFORMANCE_CONTEXT"},
		{name: "a list", args: []string{url}, scenario: "initialize"},
		{name: "the handshake", args: []string{url}, scenario: "initialize", revision: protocol.Version20251125},
		{name: "no such tool", args: []string{url}, scenario: "tools_call", want: "calling add_numbers"},
		{name: "a question", args: []string{url}, scenario: "sse-retry"},
		{name: "the suite's calls", args: []string{url}, scenario: "http-custom-headers", context: `{"toolCalls":[{"name":"test-tool","arguments":{}}]}`},
		{name: "one that fails", args: []string{url}, scenario: "http-custom-headers", context: `{"toolCalls":[{"name":"none"}]}`, want: "calling none"},
		{name: "nobody signs in", args: []string{url}, scenario: "auth/metadata-default"},
		{name: "nothing is refused", args: []string{url}, scenario: "auth/iss-wrong-issuer", want: "should have been refused"},
		{name: "all is refused", args: []string{url + "0"}, scenario: "auth/iss-wrong-issuer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{
				"MCP_CONFORMANCE_SCENARIO": tt.scenario, "MCP_CONFORMANCE_CONTEXT": tt.context, "MCP_CONFORMANCE_PROTOCOL_VERSION": tt.revision,
			}
			var out strings.Builder
			err := run(t.Context(), tt.args, func(name string) string { return env[name] }, &out)
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want)
				require.Empty(t, out.String())
				return
			}
			require.NoError(t, err)
			require.Equal(t, "done\n", out.String())
		})
	}
}

func TestRunEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env := map[string]string{"MCP_CONFORMANCE_SCENARIO": "auth/iss-wrong-issuer"}
	err := run(ctx, []string{endpoint(t)}, func(name string) string { return env[name] }, io.Discard)
	require.ErrorContains(t, err, "waiting for the end", "an end that is not the server's is no refusal")
}
