//go:build unix

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// startTUI starts the full-screen walkthrough. What differs from run to run is
// masked, in its own length.
func startTUI(t *testing.T, width, height int) *console {
	t.Helper()
	c := start(t, width, height, "demo", "--tui")
	port := regexp.MustCompile(`127\.0\.0\.1:\d{4,5}(/mcp)?`)
	state := regexp.MustCompile(`AR[A-Za-z0-9_-]{10}…`)
	trace := regexp.MustCompile(`00-[0-9a-f]{32}-[0-9a-f]{16}-01`)
	pid := regexp.MustCompile(`pid \d+ *`)
	c.mask = func(s string) string {
		s = port.ReplaceAllString(s, "127.0.0.1:PORT$1")
		s = state.ReplaceAllString(s, "ARxxxxxxxxxx…")
		s = trace.ReplaceAllString(s, "00-TRACE-SPAN-01")
		return pid.ReplaceAllString(s, "pid N ")
	}
	return c
}

func TestFullScreen(t *testing.T) {
	c := startTUI(t, 80, 24)
	c.golden("tui-80x24-connect", "▸ 1 Connect")
	c.types(enter)
	c.sees("▸ 2 Round 1, by hand")
	c.golden("tui-80x24-round", "▸ 2 Round 1, by hand")

	// Down to the reply, and to the end.
	c.types("\x1b[6~")
	c.sees(`"resultType": "input_required"`)
	c.types("G")
	c.sees("state=$(sed")
	c.types("g")
	c.sees("client  ")

	// Right to the last step; all before it have run.
	c.types("9")
	c.sees("▸ 9 A new process a round")
	c.sees("round 3: pid")
	c.sees("✓ 8 An expired state")
	c.types("6")
	c.sees("▸ 6 A flipped character")
	c.types("G")
	c.sees("forged=$(")
	c.types("\x1b[D")
	c.sees("▸ 5 One trace, all rounds")

	// A larger window, and one that is too small.
	c.resize(160, 50)
	c.golden("tui-160x50-trace", "▸ 5 One trace, all rounds")
	c.resize(30, 10)
	c.sees("The window is too small")
	c.resize(80, 24)
	c.sees("▸ 5 One trace, all rounds")

	c.types("q")
	code, out := c.ends()
	require.Zero(t, code)
	require.Empty(t, out)
}

func TestFullScreenLeft(t *testing.T) {
	c := startTUI(t, 80, 24)
	c.sees("▸ 1 Connect")
	c.types(ctrlC)
	code, _ := c.ends()
	require.Zero(t, code)
	require.Empty(t, strings.TrimSpace(c.String()))
}

// resize changes the window, as a user does.
func (c *console) resize(width, height int) {
	c.t.Helper()
	c.mu.Lock()
	c.screen.resize(width, height)
	c.mu.Unlock()
	require.NoError(c.t, pty.Setsize(c.pty, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}))
}
