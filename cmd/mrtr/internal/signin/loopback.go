package signin

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

const defaultPatience = 5 * time.Minute

// loopback waits on this machine for the browser to come back from a sign-in.
type loopback struct {
	url     string
	options Options
	came    chan url.Values

	mu    sync.Mutex
	state string // of the sign-in that is waited for; empty: none
}

// newLoopback serves on ln until the process ends.
func newLoopback(ln net.Listener, o Options) *loopback {
	l := &loopback{url: "http://" + ln.Addr().String() + "/callback", options: o, came: make(chan url.Values, 1)}
	srv := &http.Server{Handler: http.HandlerFunc(l.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(ln) }()
	return l
}

func (l *loopback) serve(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	l.mu.Lock()
	waiting := l.state != "" && q.Get("state") == l.state
	if waiting {
		l.state = "" // it comes back once
	}
	l.mu.Unlock()
	if r.Method != http.MethodGet || r.URL.Path != "/callback" || !waiting {
		http.NotFound(w, r)
		return
	}
	text := "You are signed in. Go back to the terminal."
	if q.Get("error") != "" {
		text = "The sign-in failed. Go back to the terminal."
	}
	l.came <- q
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Referrer-Policy", "no-referrer")
	fmt.Fprintf(w, "<!doctype html><title>mrtr</title><p>%s</p>\n", html.EscapeString(text))
}

// fetch sends the user to the authorization server and waits.
func (l *loopback) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(args.URL)
	if err != nil {
		return nil, errors.New("the address to sign in at cannot be read")
	}
	if err := private(u); err != nil {
		return nil, fmt.Errorf("the address to sign in at is not safe: %w", err)
	}
	l.mu.Lock()
	l.state = u.Query().Get("state")
	l.mu.Unlock()
	if err := l.options.Show(args.URL); err != nil {
		return nil, err
	}
	patience := l.options.Patience
	if patience <= 0 {
		patience = defaultPatience
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case q := <-l.came:
		if reason := q.Get("error"); reason != "" {
			return nil, fmt.Errorf("the authorization server refused: %q", reason)
		}
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	case <-late.C:
		return nil, fmt.Errorf("nobody signed in within %v", patience)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
