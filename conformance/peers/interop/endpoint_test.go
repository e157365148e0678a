package interop

import (
	"bufio"
	"bytes"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// startEndpoint builds functions/mcp, starts it on a port of its own until the
// test ends, and returns its address.
func startEndpoint(t *testing.T) *url.URL {
	bin := filepath.Join(t.TempDir(), "mcp")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./functions/mcp")
	build.Dir = filepath.Join("..", "..", "..")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	cmd := exec.Command(bin, "-addr", "127.0.0.1:0")
	cmd.Env = []string{"HOME=" + t.TempDir()} // nothing of AWS and no setting
	var log bytes.Buffer
	cmd.Stderr = &log
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the endpoint's log:\n%s", &log)
		}
	})

	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err, "the endpoint printed no address")
	u, err := url.Parse(strings.TrimSpace(line))
	require.NoError(t, err)
	return u
}
