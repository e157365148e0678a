package mrtrtest

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// Endpoint is what Play plays against: Local, Fresh, Handler or URL.
type Endpoint struct {
	url   string
	do    func(*http.Request) (*http.Response, error)
	local *local // nil for Handler and URL
	err   error
}

// Local serves s in this process, under random keys, to an anonymous caller who
// may confirm. configure may change how it is served.
func Local(s *mrtr.Server, configure ...func(*mrtr.HandlerOptions)) *Endpoint {
	return newLocal(func() *mrtr.Server { return s }, false, configure)
}

// Fresh is Local with a new server for every round, as if each landed on an
// instance that has just started.
func Fresh(newServer func() *mrtr.Server, configure ...func(*mrtr.HandlerOptions)) *Endpoint {
	return newLocal(newServer, true, configure)
}

// Handler plays against h without a network.
func Handler(h http.Handler) *Endpoint {
	return &Endpoint{url: localURL, do: func(r *http.Request) (*http.Response, error) { return serve(h, r), nil }}
}

// URL plays against the MCP endpoint at url over HTTP.
func URL(url string) *Endpoint {
	if !strings.Contains(url, "://") {
		return &Endpoint{err: fmt.Errorf("%q is no URL", url)}
	}
	return &Endpoint{url: url, do: http.DefaultClient.Do}
}

const localURL = "http://127.0.0.1/mcp"

func serve(h http.Handler, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// local is a server in this process. Its methods are safe for concurrent use.
type local struct {
	newServer func() *mrtr.Server
	fresh     bool
	configure []func(*mrtr.HandlerOptions)

	mu        sync.Mutex
	handler   http.Handler // nil: to be made
	secrets   [][]byte     // the first seals
	ahead     time.Duration
	principal *mrtr.Principal
	maxRounds int
	swallowed bool
	misuse    error
	cause     error // of the last request's failure
}

func newLocal(newServer func() *mrtr.Server, fresh bool, configure []func(*mrtr.HandlerOptions)) *Endpoint {
	l := &local{newServer: newServer, fresh: fresh, configure: configure}
	l.rotate()
	return &Endpoint{url: localURL, local: l, do: l.do}
}

func (l *local) do(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	h := l.handler
	if h == nil || l.fresh {
		var err error
		if h, err = l.make(); err != nil {
			l.mu.Unlock()
			return nil, err
		}
		l.handler = h
	}
	if l.principal != nil {
		r = r.WithContext(mrtr.WithPrincipal(r.Context(), *l.principal))
	}
	l.mu.Unlock()
	return serve(h, r), nil
}

// make makes the handler anew. The caller holds mu.
func (l *local) make() (http.Handler, error) {
	keys, err := requeststate.NewStaticKeys(l.secrets[0], l.secrets[1:]...)
	if err != nil {
		return nil, err
	}
	opts := mrtr.HandlerOptions{
		Keys: keys, Audience: "mrtrtest", AllowAnonymous: true, Verify: true,
		Logger: slog.New(slog.DiscardHandler),
	}
	for _, f := range l.configure {
		f(&opts)
	}
	now := opts.Now
	if now == nil {
		now = time.Now
	}
	opts.Now = func() time.Time {
		l.mu.Lock()
		defer l.mu.Unlock()
		return now().Add(l.ahead)
	}
	opts.Observers = append(opts.Observers, l.observer())
	if l.maxRounds = opts.MaxRounds; l.maxRounds == 0 {
		l.maxRounds = mrtr.DefaultMaxRounds
	}
	return l.newServer().Handler(opts)
}

func (l *local) rotate() {
	secret := make([]byte, requeststate.MinSecretSize)
	rand.Read(secret)
	l.secrets = append([][]byte{secret}, l.secrets...)
	l.handler = nil
}

// Advance moves the clock of a Local or Fresh endpoint forward.
func (e *Endpoint) Advance(d time.Duration) {
	e.local.mu.Lock()
	defer e.local.mu.Unlock()
	e.local.ahead += d
}

// RotateKeys makes a Local or Fresh endpoint seal under a new key. States under
// the old ones are accepted, unless forget is set.
func (e *Endpoint) RotateKeys(forget bool) {
	e.local.mu.Lock()
	defer e.local.mu.Unlock()
	e.local.rotate()
	if forget {
		e.local.secrets = e.local.secrets[:1]
	}
}

// Caller makes p the caller of a Local or Fresh endpoint from here on.
func (e *Endpoint) Caller(p mrtr.Principal) {
	e.local.mu.Lock()
	defer e.local.mu.Unlock()
	e.local.principal = &p
}
