package tools_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/functions/mcp/tools"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// TestContract: with these tools the endpoint offers those that its tests call.
// Without them, as in a fork, such tests are skipped: see needContract there.
func TestContract(t *testing.T) {
	srv := tools.NewServer()
	for _, name := range []string{
		"test_tool_with_elicitation",
		"test_incomplete_result_sampling",
		"test_incomplete_result_list_roots",
		"test_incomplete_result_request_state",
		"test_incomplete_result_multiple_inputs",
		"test_incomplete_result_multi_round",
		"test_incomplete_result_elicitation",
		"refund_order",
	} {
		require.True(t, srv.HasTool(name), name)
	}
}

// TestSmoke: make smoke finds nothing wrong with these tools.
func TestSmoke(t *testing.T) {
	keys, err := requeststate.NewStaticKeys(make([]byte, requeststate.MinSecretSize))
	require.NoError(t, err)
	h, err := tools.NewServer().Handler(mrtr.HandlerOptions{Keys: keys, Audience: "smoke", AllowAnonymous: true})
	require.NoError(t, err)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	cmd := exec.CommandContext(t.Context(), "go", "run", "../../../conformance/smoke", server.URL+"/mcp")
	cmd.Env = append(os.Environ(), "TOKEN=", "OTHER_TOKEN=", "AWS_CA_BUNDLE=")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Regexp(t, `(?m)^pass +refund_order +3 rounds, ended by a no$`, string(out))
	require.Contains(t, string(out), " 0 failed,")
}
