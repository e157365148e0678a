package mrtr

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/schema"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// Server holds the registrations of an MCP server: what it offers, not how it
// is served. Register everything, then call Handler.
type Server struct {
	info    protocol.Implementation
	opts    ServerOptions
	schemas schema.Cache
	forms   sync.Map // from reflect.Type to *form, of those asked with

	mu      sync.Mutex
	targets []*target
	byName  map[targetKey]*target
}

type targetKey struct {
	purpose requeststate.Purpose
	name    string
}

// ServerOptions are what a server says of itself beyond its name.
type ServerOptions struct {
	// Instructions tell a model how to use the server. Empty: none.
	Instructions string
	// ListTTL is how long clients may keep lists and the discovery result. A
	// deployment's lists never change, so it is about how soon a client notices
	// the next one. Zero: 5 minutes; negative: not at all.
	ListTTL time.Duration
	// PageSize is how many items a page of a list has. Zero: 1000.
	PageSize int
	// Extensions are the MCP extensions that the server's tools implement, by
	// identifier, each with its settings.
	Extensions protocol.Object
}

const defaultPageSize = 1000

// DefaultMaxRounds is how many rounds a flow may have where nothing else is
// said.
const DefaultMaxRounds = 50

// NewServer returns a server without tools. A nil opts means the zero value.
// It panics where info lacks a name or a version.
func NewServer(info protocol.Implementation, opts *ServerOptions) *Server {
	if info.Name == "" || info.Version == "" {
		panic("mrtr: a server needs a name and a version")
	}
	s := &Server{info: info, byName: make(map[targetKey]*target)}
	if opts != nil {
		s.opts = *opts
	}
	return s
}

func (s *Server) add(t *target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := targetKey{t.purpose, t.name}
	if _, ok := s.byName[key]; ok {
		panic(fmt.Sprintf("mrtr: %v %q is registered twice", t.purpose, t.name))
	}
	s.byName[key] = t
	s.targets = append(s.targets, t)
}

// HasTool reports whether a tool of that name is registered.
func (s *Server) HasTool(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.byName[targetKey{requeststate.PurposeTool, name}]
	return ok
}

// HandlerOptions say how a server is served. Keys and Audience are required.
type HandlerOptions struct {
	// Keys seal and open states.
	Keys requeststate.Keys
	// Audience names the deployment in its states; no other audience's state is
	// accepted. It is a name of your choice, never taken from a request.
	Audience string

	RoundTTL      time.Duration // how long a round's state lives; zero: 10 minutes; at most 1 hour
	FlowTTL       time.Duration // how long a flow may take, all rounds together; zero: 1 hour
	SessionTTL    time.Duration // how long a handshake client's session id lives; zero: 24 hours; at most 30 days
	MaxRounds     int           // zero: DefaultMaxRounds
	MaxYields     int           // how often a flow may yield; zero: 2; negative: never
	MaxStateBytes int           // length of a token; zero: 128 KiB
	MaxBodyBytes  int64         // zero: 1 MiB
	// MaxReplyBytes bounds a response body, counted as the bytes it takes once
	// it is a string inside a JSON document, as Lambda counts. Zero: no bound.
	MaxReplyBytes int

	// AllowedOrigins are the values of Origin that are served, such as
	// "https://app.example". Requests without Origin always are.
	AllowedOrigins []string
	// AllowLoopbackOrigins serves origins on loopback hosts, any port, and
	// refuses requests whose Host is not a loopback name: for local servers.
	AllowLoopbackOrigins bool

	// Authenticate finds out who sent a request, before anything but its origin
	// is looked at, and returns its context with WithPrincipal. An error refuses
	// the request; it should be an *AuthorizationError. Nil: callers are those of
	// the requests' contexts. Preflights of allowed origins do not come here.
	Authenticate func(*http.Request) (context.Context, error)
	// AllowAnonymous lets callers without a principal confirm and open
	// addresses. Without it such questions end their calls.
	AllowAnonymous bool
	// SingleUse keeps the flows that passed Call.SingleUse. Nil: that fails.
	SingleUse SingleUseStore
	// Verify makes steps fail whose values JSON changes: for tests.
	Verify bool

	Now    func() time.Time // zero: time.Now
	Logger *slog.Logger     // zero: slog.Default; one line a request

	Middleware []Middleware // around every method, the first outermost
	Observers  []Observer   // told of every request
}

// Handler returns the server as an http.Handler for one MCP endpoint, whatever
// the path. Later registrations do not reach it. It is safe for concurrent use.
func (s *Server) Handler(opts HandlerOptions) (http.Handler, error) {
	switch {
	case opts.Keys == nil:
		return nil, errors.New("mrtr: HandlerOptions.Keys is required")
	case opts.Audience == "":
		return nil, errors.New("mrtr: HandlerOptions.Audience is required")
	case opts.RoundTTL < 0 || opts.RoundTTL > time.Hour:
		return nil, errors.New("mrtr: HandlerOptions.RoundTTL is between 0 and 1 hour")
	case opts.SessionTTL < 0 || opts.SessionTTL > 30*24*time.Hour:
		return nil, errors.New("mrtr: HandlerOptions.SessionTTL is between 0 and 30 days")
	case opts.FlowTTL < 0, opts.MaxRounds < 0, opts.MaxRounds > 65535, opts.MaxStateBytes < 0, opts.MaxBodyBytes < 0, opts.MaxReplyBytes < 0:
		return nil, errors.New("mrtr: a limit in HandlerOptions is out of range")
	}
	setDefault(&opts.RoundTTL, 10*time.Minute)
	setDefault(&opts.FlowTTL, time.Hour)
	setDefault(&opts.SessionTTL, 24*time.Hour)
	setDefault(&opts.MaxRounds, DefaultMaxRounds)
	setDefault(&opts.MaxYields, 2)
	setDefault(&opts.MaxStateBytes, requeststate.DefaultMaxSize)
	setDefault(&opts.MaxBodyBytes, 1<<20)
	if opts.RoundTTL > opts.FlowTTL {
		return nil, errors.New("mrtr: HandlerOptions.RoundTTL exceeds FlowTTL")
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := &handler{
		server: s, opts: opts,
		audience: requeststate.AudienceDigest(opts.Audience),
		targets:  maps.Clone(s.byName),
		ordered:  slices.Clone(s.targets),
		lists:    make(map[string]*lists),
		origins:  make(map[string]bool, len(opts.AllowedOrigins)),
	}
	for _, o := range opts.AllowedOrigins {
		h.origins[o] = true
	}
	h.serverInfo = mustJSON(s.info)
	h.serverMeta = mustJSON(protocol.Object{protocol.MetaServerInfo: h.serverInfo})
	for _, t := range h.ordered {
		if t.template != nil {
			h.templates = append(h.templates, t)
		}
	}
	for _, version := range append(slices.Clone(served), handshakeVersions...) {
		l, err := h.makeLists(version)
		if err != nil {
			return nil, fmt.Errorf("mrtr: encoding the lists: %w", err)
		}
		h.lists[version] = l
	}
	return h, nil
}

// handler serves a server's registrations as they were when it was made.
type handler struct {
	server     *Server
	opts       HandlerOptions
	warm       atomic.Bool // a request has come
	audience   requeststate.Digest
	targets    map[targetKey]*target
	ordered    []*target // as registered
	templates  []*target // those of ordered that are resource templates
	origins    map[string]bool
	serverInfo jsontext.Value
	serverMeta jsontext.Value    // {"io.modelcontextprotocol/serverInfo":…}
	lists      map[string]*lists // by protocol version
}

func setDefault[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
