//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// patience bounds how long a test waits for what must come.
const patience = 20 * time.Second

// console is a program in a terminal.
type console struct {
	t       *testing.T
	pty     *os.File
	cmd     *exec.Cmd
	out     bytes.Buffer // standard output, which is no terminal
	changed chan struct{}
	mask    func(string) string // of what differs from run to run

	mu     sync.Mutex
	screen *screen
}

// start runs mrtr in a terminal of the given size.
func start(t *testing.T, width, height int, args ...string) *console {
	t.Helper()
	return startIn(t, t.TempDir(), width, height, args...)
}

// startIn is start for a user whose home is given.
func startIn(t *testing.T, home string, width, height int, args ...string) *console {
	t.Helper()
	c := &console{t: t, cmd: exec.Command("mrtr", args...), changed: make(chan struct{}, 1), screen: newScreen(width, height)}
	c.mask = func(s string) string { return s }
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TERM=xterm-256color", "LANG=C.UTF-8", raceOptions}
	c.cmd.Stdout = &c.out
	master, tty, err := pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(master, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}))
	c.pty, c.cmd.Stdin, c.cmd.Stderr = master, tty, tty
	c.cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, c.cmd.Start())
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		_ = tty.Close()
		_ = master.Close()
	})
	go c.read()
	return c
}

func (c *console) read() {
	b := make([]byte, 4096)
	for {
		n, err := c.pty.Read(b)
		c.mu.Lock()
		_, _ = c.screen.Write(b[:n])
		c.mu.Unlock()
		select {
		case c.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mask(c.screen.String())
}

// until waits until the screen is as it should be.
func (c *console) until(what string, ok func(string) bool) {
	c.t.Helper()
	late := time.After(patience)
	for !ok(c.String()) {
		select {
		case <-c.changed:
		case <-late:
			require.FailNow(c.t, "the screen never showed "+what, "%s", c.String())
		}
	}
}

// sees waits for a text on the screen.
func (c *console) sees(text string) {
	c.t.Helper()
	c.until(text, func(s string) bool { return strings.Contains(s, text) })
}

// golden waits until the screen is the golden one of this name. With -update it
// writes that, once text is on the screen and nothing changes any more.
func (c *console) golden(name, text string) {
	c.t.Helper()
	path := filepath.Join("testdata", "screens", name)
	if *update {
		c.sees(text)
		for quiet := false; !quiet; {
			select {
			case <-c.changed:
			case <-time.After(time.Second):
				quiet = true
			}
		}
		require.NoError(c.t, os.WriteFile(path, []byte(c.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(c.t, err)
	require.Contains(c.t, string(want), text)
	c.until("the golden screen:\n"+string(want), func(s string) bool { return s == string(want) })
}

// types sends keys.
func (c *console) types(keys ...string) {
	c.t.Helper()
	for _, k := range keys {
		_, err := c.pty.WriteString(k)
		require.NoError(c.t, err)
	}
}

const (
	enter    = "\r"
	ctrlC    = "\x03"
	ctrlD    = "\x04"
	keyDown  = "\x1b[B"
	keyRight = "\x1b[C"
)

// ends waits for the end of the program and returns its exit code and standard
// output. The terminal must be as it was.
func (c *console) ends() (int, string) {
	c.t.Helper()
	done := make(chan error, 1)
	go func() { done <- c.cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(patience):
		require.FailNow(c.t, "the program did not end", "%s", c.String())
	}
	c.until("a terminal as it was", func(string) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return !c.screen.hidden && !c.screen.alternate && !c.screen.paste
	})
	state, err := unix.IoctlGetTermios(int(c.pty.Fd()), ioctlGetTermios)
	require.NoError(c.t, err)
	require.NotZero(c.t, state.Lflag&unix.ECHO, "the terminal does not echo")
	require.NotZero(c.t, state.Lflag&unix.ICANON, "the terminal is raw")
	require.NotZero(c.t, state.Lflag&unix.ISIG, "the terminal sends no signals")
	return c.cmd.ProcessState.ExitCode(), c.out.String()
}
