package walkthrough

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// endpoint is an MCP endpoint in this process whose clock, keys and log are at
// hand. It is safe for concurrent use.
type endpoint struct {
	url   string // served by this process
	fresh string // served by a new process each request
	keys  requeststate.Keys

	http    []*http.Server
	secret  []byte
	process func() *exec.Cmd

	mu     sync.Mutex
	ahead  time.Duration // of the clock
	rounds []mrtr.RoundInfo
	pids   []int // of the processes that served requests
}

// newEndpoint serves the tools on loopback ports, under a secret made for it.
func newEndpoint(process func() *exec.Cmd) (*endpoint, error) {
	e := &endpoint{secret: make([]byte, requeststate.MinSecretSize), process: process}
	_, _ = rand.Read(e.secret) // never fails
	keys, handler, err := newHandler(e.secret, e.now, e.observe)
	if err != nil {
		return nil, err
	}
	e.keys = keys
	if e.url, err = e.serve(handler); err != nil {
		return nil, err
	}
	if e.fresh, err = e.serve(http.HandlerFunc(e.forward)); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// newHandler makes the endpoint's handler, here and in processes of its own.
func newHandler(secret []byte, now func() time.Time, observe mrtr.Observer) (requeststate.Keys, http.Handler, error) {
	keys, err := requeststate.NewStaticKeys(secret)
	if err != nil {
		return nil, nil, err
	}
	opts := mrtr.HandlerOptions{
		Keys: keys, Audience: "demo", AllowAnonymous: true, AllowLoopbackOrigins: true, Now: now, Logger: slog.New(slog.DiscardHandler),
	}
	if observe != nil {
		opts.Observers = []mrtr.Observer{observe}
	}
	h, err := NewServer().Handler(opts)
	return keys, h, err
}

// NewServer returns the server of the embedded endpoint.
func NewServer() *mrtr.Server {
	srv := mrtr.NewServer(protocol.Implementation{Name: "mrtr-demo", Version: "1.0.0"}, nil)
	fixture.Register(srv)
	return srv
}

func (e *endpoint) serve(h http.Handler) (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("listening: %w", err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	e.http = append(e.http, srv)
	go func() { _ = srv.Serve(ln) }()
	return "http://" + ln.Addr().String() + "/mcp", nil
}

func (e *endpoint) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, srv := range e.http {
		if err := srv.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
			_ = srv.Close()
		}
	}
}

func (e *endpoint) now() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return time.Now().Add(e.ahead)
}

// later moves the clock.
func (e *endpoint) later(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ahead += d
}

// observe notes how requests went.
func (e *endpoint) observe(ctx context.Context, info *mrtr.RoundInfo) (context.Context, func()) {
	return ctx, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.rounds = append(e.rounds, *info)
	}
}

// last returns how the last n requests went.
func (e *endpoint) last(n int) []mrtr.RoundInfo {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]mrtr.RoundInfo(nil), e.rounds[max(len(e.rounds)-n, 0):]...)
}
