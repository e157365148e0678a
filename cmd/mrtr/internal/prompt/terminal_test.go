//go:build unix

package prompt

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// sent is what a terminal was sent so far.
type sent struct {
	mu      sync.Mutex
	buffer  bytes.Buffer
	changed chan struct{}
}

func (s *sent) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return s.buffer.Write(p)
}

func (s *sent) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buffer.String()
}

func (s *sent) sees(t *testing.T, text string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for !strings.Contains(s.String(), text) {
		select {
		case <-s.changed:
		case <-late:
			require.FailNow(t, "never shown: "+text, "%q", s.String())
		}
	}
}

// TestOneFormAtATime holds that what a user types goes to one form, also where
// several are asked for at once.
func TestOneFormAtATime(t *testing.T) {
	master, tty, err := pty.Open()
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = tty.Close()
		_ = master.Close()
	})
	require.NoError(t, pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 80}))
	screen := &sent{changed: make(chan struct{}, 1)}
	go func() { _, _ = io.Copy(screen, master) }()
	term := newTerminal(tty, tty, "a.example")

	h := &client.Handlers{Form: term.Form}
	ask := func(ctx context.Context, message string) <-chan string {
		got := make(chan string, 1)
		go func() {
			r, err := h.HandleServerRequest(ctx, client.Question{Method: protocol.MethodElicit, Params: jsontext.Value(
				`{"message":"` + message + `","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}}`)})
			if err != nil {
				got <- err.Error()
				return
			}
			got <- string(r)
		}()
		return got
	}
	first := ask(t.Context(), "the first")
	screen.sees(t, "ctrl+c cancel") // it has the keyboard
	second := ask(t.Context(), "the second")
	ctx, cancel := context.WithCancel(t.Context())
	third := ask(ctx, "the third")
	cancel()
	require.Equal(t, context.Canceled.Error(), <-third, "who waits can give up")
	_, err = master.WriteString("abcdefghijklmnop\r")
	require.NoError(t, err)
	require.Equal(t, `{"action":"accept","content":{"a":"abcdefghijklmnop"}}`, <-first)
	before, _, _ := strings.Cut(screen.String(), "(answered)")
	require.NotContains(t, before, "the second", "nothing of it is shown before")

	screen.sees(t, "the second")
	_, after, _ := strings.Cut(screen.String(), "the second")
	for !strings.Contains(after, "ctrl+c cancel") {
		<-screen.changed
		_, after, _ = strings.Cut(screen.String(), "the second")
	}
	_, err = master.WriteString("qrs\r")
	require.NoError(t, err)
	require.Equal(t, `{"action":"accept","content":{"a":"qrs"}}`, <-second)
	require.NotContains(t, screen.String(), "the third")
}

func TestHost(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example:8443/x":   "a.example:8443",
		"https://b\u0430nk.example/": `b\u0430nk.example`, // a Cyrillic letter
		"https://[::1]/":             "[::1]",
	} {
		require.Equal(t, want, host(address))
	}
}
