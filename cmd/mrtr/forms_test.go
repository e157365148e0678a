//go:build unix

package main

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// callIn calls a tool of the test server at a terminal of 80 by 24.
func callIn(t *testing.T, args ...string) *console {
	t.Helper()
	srv := httptest.NewServer(testHandler())
	t.Cleanup(srv.Close)
	c := start(t, 80, 24, append([]string{"call", srv.URL + "/mcp"}, args...)...)
	host := strings.TrimPrefix(srv.URL, "http://")
	c.mask = func(s string) string { return strings.ReplaceAll(s, host, "127.0.0.1:8080") }
	return c
}

// TestForm fills in a form with a field of each kind, wrongly at first.
func TestForm(t *testing.T) {
	c := callIn(t, "order")
	c.golden("form", "Your name")
	c.types("B", enter)
	c.sees("is too short")
	c.types("o", enter)
	c.sees("┃ Mail (optional)")
	c.types("bo@", enter)
	c.sees("must be an email address")
	c.types("example.com", enter)
	c.sees("┃ How many?")
	c.types("\x7f12", enter)
	c.sees("is too large")
	c.types("\x7f\x7f3", enter)
	c.sees("┃ Size")
	c.types(keyDown, enter)
	c.sees("┃ Extras")
	c.types("x", keyDown, keyDown, "x", enter)
	c.sees("┃ Express?")
	c.types("y")
	c.sees("Send 3 to Bo?")
	c.sees("enter submit")
	c.types("y")
	code, out := c.ends()
	require.Equal(t, "Bo (bo@example.com): 3 l with cheese+basil, express true\n", out)
	require.Zero(t, code)
}

func TestFormOfOneField(t *testing.T) {
	c := callIn(t, "test_incomplete_result_multi_round")
	c.sees("┃ name")
	c.types("Alice", enter)
	c.sees("Step 2: What is your favorite color?")
	c.sees("┃ color")
	c.types("blue", enter)
	code, out := c.ends()
	require.Equal(t, "Hi Alice, your favorite color is blue.\n", out)
	require.Zero(t, code)
}

// TestNo leaves forms: the tool hears of it, and nothing else is asked.
func TestNo(t *testing.T) {
	for _, tt := range []struct{ name, tool, sees, key, says, out string }{
		{"cancel", "test_incomplete_result_multi_round", "┃ name", ctrlC, "(cancelled)", "was cancelled"},
		{"decline", "test_incomplete_result_multi_round", "┃ name", ctrlD, "(declined)", "was declined"},
		{"confirm", "order", "┃ Your name", ctrlD, "(declined)", "was declined"},
		{"address", "visit", "https://forms.example/1", ctrlC, "(cancelled)", "was cancelled"},
		{"address declined", "visit", "on the site forms.example", keyDown + enter, "(answered)", "was declined"},
		{"sampling", "test_incomplete_result_sampling", "user: What is the capital of France?", ctrlC, "(refused)", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := callIn(t, tt.tool)
			c.sees(tt.sees)
			c.sees("ctrl+c")
			c.types(tt.key)
			c.sees(tt.says)
			code, out := c.ends()
			require.Equal(t, exitDeclined, code)
			require.Contains(t, out, tt.out)
			require.NotContains(t, c.String(), "Step 2")
		})
	}
}

func TestAddress(t *testing.T) {
	c := callIn(t, "visit")
	c.golden("address", "on the site forms.example")
	c.types(enter)
	code, out := c.ends()
	require.Equal(t, "You went there.\n", out)
	require.Zero(t, code)
}

func TestSampling(t *testing.T) {
	c := callIn(t, "test_incomplete_result_sampling")
	c.golden("sampling", "user: What is the capital of France?")
	c.types(enter)
	c.sees("say something")
	c.types("Paris", enter)
	code, out := c.ends()
	require.Equal(t, "The model says: Paris\n", out)
	require.Zero(t, code)
}

// TestInterrupted: a signal is a cancel too, and the terminal is as before.
func TestInterrupted(t *testing.T) {
	c := callIn(t, "test_incomplete_result_multi_round")
	c.sees("┃ name")
	require.NoError(t, c.cmd.Process.Signal(os.Interrupt))
	c.sees("(cancelled)")
	code, out := c.ends()
	require.Equal(t, exitDeclined, code)
	require.Contains(t, out, "was cancelled")
}
