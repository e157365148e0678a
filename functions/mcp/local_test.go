package main_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
)

// local is a running local server.
type local struct {
	cmd    *exec.Cmd
	url    string
	stdout *bufio.Reader
	stderr strings.Builder // complete once the process has ended
}

func startLocal(t *testing.T, env []string, args ...string) *local {
	t.Helper()
	l := &local{cmd: exec.CommandContext(t.Context(), bootstrap, args...)}
	l.cmd.Env = append([]string{"AWS_CONFIG_FILE=" + os.DevNull}, env...)
	l.cmd.Stderr = &l.stderr
	stdout, err := l.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, l.cmd.Start())
	l.stdout = bufio.NewReader(stdout)
	line, err := l.stdout.ReadString('\n')
	if err != nil {
		_ = l.cmd.Wait()
		t.Fatalf("no URL on stdout: %v\n%s", err, &l.stderr)
	}
	l.url = strings.TrimSuffix(line, "\n")
	return l
}

// end sends a signal and waits for the process to end well. It returns what was
// written to stderr.
func (l *local) end(t *testing.T, sig os.Signal) string {
	t.Helper()
	require.NoError(t, l.cmd.Process.Signal(sig))
	rest, err := io.ReadAll(l.stdout)
	require.NoError(t, err)
	require.Empty(t, string(rest), "stdout carries the URL alone")
	require.NoError(t, l.cmd.Wait())
	return l.stderr.String()
}

// TestLocal serves on a free port until a signal ends it.
func TestLocal(t *testing.T) {
	needContract(t)
	fake := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(fake.Close)
	for _, tt := range []struct {
		name string
		addr string
		env  []string
		url  string // pattern
		keys string
		sig  os.Signal
	}{
		{"random keys", "127.0.0.1:0", nil, `^http://127\.0\.0\.1:[1-9][0-9]*/mcp$`, "random keys, made for this run", os.Interrupt},
		{"by name", "localhost:0", nil, `^http://(127\.0\.0\.1|\[::1\]):[1-9][0-9]*/mcp$`, "random keys, made for this run", syscall.SIGTERM},
		{"a KMS key", "127.0.0.1:0", append(fake.Env(), "MRTR_KMS_KEY_ID="+fake.CreateKey(kmstest.KeyOptions{}).ARN),
			`^http://127\.0\.0\.1:[1-9][0-9]*/mcp$`, "the KMS key of MRTR_KMS_KEY_ID", os.Interrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := fake.Count()
			l := startLocal(t, tt.env, "-addr", tt.addr)
			require.Regexp(t, tt.url, l.url)
			played := mrtrtest.Play(t, mrtrtest.URL(l.url), mrtrtest.Call{Name: multiRound, Arguments: map[string]any{"city": "Vienna"}, Answers: mrtrtest.Answers{
				"step1": map[string]any{"name": "Alice"},
				"step2": map[string]any{"color": "blue"},
			}})
			require.Equal(t, greeting, played.Text())
			require.Len(t, played.Rounds, 3)

			for path, status := range map[string]int{"/mcp": http.StatusMethodNotAllowed, "/": http.StatusNotFound} {
				resp, err := http.Get(strings.TrimSuffix(l.url, "/mcp") + path)
				require.NoError(t, err)
				require.NoError(t, resp.Body.Close())
				require.Equal(t, status, resp.StatusCode, path)
			}

			stderr := l.end(t, tt.sig)
			require.Contains(t, stderr, "mrtr: serving MCP on "+l.url+" under "+tt.keys)
			require.Contains(t, stderr, `{"mcpServers": {"local": {"type": "http", "url": "`+l.url+`"}}}`)
			require.Equal(t, 3, strings.Count(stderr, "target="+multiRound), stderr)
			discreet(t, stderr, string(played.Rounds[1].Request), string(played.Rounds[2].Request))
			if tt.env != nil {
				require.LessOrEqual(t, fake.Count()-before, 2, "one call an epoch")
				require.Greater(t, fake.Count(), before)
			} else {
				require.Equal(t, before, fake.Count())
			}
		})
	}
}

// TestLocalRebinding sends what a page of a foreign site could make a browser
// send to a server on this machine.
func TestLocalRebinding(t *testing.T) {
	l := startLocal(t, nil, "-addr", "127.0.0.1:0")
	for _, tt := range []struct {
		name, host, origin string
		status             int
	}{
		{"a foreign page", "", "https://evil.example", http.StatusForbidden},
		{"no page at all", "", "null", http.StatusForbidden},
		{"a name that was made to point here", "evil.example", "", http.StatusForbidden},
		{"a local page", "", "http://localhost:3000", http.StatusMethodNotAllowed},
		{"no browser", "", "", http.StatusMethodNotAllowed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.url, nil)
			require.NoError(t, err)
			r.Host = tt.host
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			resp, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, tt.status, resp.StatusCode)
		})
	}
	l.end(t, os.Interrupt)
}

// TestLocalAddressTaken fails with one line where another server listens.
func TestLocalAddressTaken(t *testing.T) {
	l := startLocal(t, nil, "-addr", "127.0.0.1:0")
	addr := strings.TrimSuffix(strings.TrimPrefix(l.url, "http://"), "/mcp")
	cmd := exec.CommandContext(t.Context(), bootstrap, "-addr", addr)
	cmd.Env = []string{}
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 1, cmd.ProcessState.ExitCode())
	oneLine(t, string(out), "address already in use")
	l.end(t, os.Interrupt)
}
