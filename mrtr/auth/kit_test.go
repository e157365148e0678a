package auth_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/auth"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

const resourceURL = "https://mcp.example.com/mcp"

// Keys that all tests share; making an RSA key is slow.
var (
	rsaKey   = must(rsa.GenerateKey(rand.Reader, 2048))
	ecKey    = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	edKey    = func() ed25519.PrivateKey { _, k, _ := ed25519.GenerateKey(rand.Reader); return k }()
	otherKey = must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) // nobody publishes it, until a test does
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// issuer is an authorization server on this machine.
type issuer struct {
	*httptest.Server
	id string // its identifier

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	extra   []any // further members of the set, as they are
	down    bool
	fetches map[string]int          // by path
	replies map[string]http.Handler // instead of its own, by path
	gate    func(path string)       // nil, or called before each reply
}

// newIssuer starts an issuer whose identifier has that path. It publishes its
// metadata in OpenID Connect's place.
func newIssuer(t testing.TB, path string) *issuer {
	i := &issuer{fetches: map[string]int{}, replies: map[string]http.Handler{}}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	i.id = i.URL + path
	i.publish(jose.JSONWebKey{Key: rsaKey.Public(), KeyID: "rsa", Algorithm: "RS256", Use: "sig"},
		jose.JSONWebKey{Key: ecKey.Public(), KeyID: "ec"}, jose.JSONWebKey{Key: edKey.Public(), KeyID: "ed"})
	i.reply(strings.TrimSuffix(path, "/")+"/.well-known/openid-configuration", i.metadata())
	return i
}

func (i *issuer) publish(keys ...jose.JSONWebKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = keys
}

func (i *issuer) reply(path string, h http.Handler) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.replies[path] = h
}

func (i *issuer) setDown(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

// count returns how often the keys were fetched.
func (i *issuer) count() int { return i.counts()["/keys"] }

func (i *issuer) counts() map[string]int {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := map[string]int{}
	for k, v := range i.fetches {
		out[k] = v
	}
	return out
}

func (i *issuer) metadata() http.Handler {
	return jsonReply(map[string]any{"issuer": i.id, "jwks_uri": i.URL + "/keys"})
}

func jsonReply(v any) http.Handler {
	body := must(json.Marshal(v))
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.fetches[r.URL.Path]++
	down, gate, reply := i.down, i.gate, i.replies[r.URL.Path]
	var set struct {
		Keys []any `json:"keys"`
	}
	set.Keys = append([]any{}, i.extra...)
	for _, k := range i.keys {
		set.Keys = append(set.Keys, k)
	}
	i.mu.Unlock()
	if gate != nil {
		gate(r.URL.Path)
	}
	switch {
	case down:
		http.Error(w, "down for a secret reason", http.StatusServiceUnavailable)
	case reply != nil:
		reply.ServeHTTP(w, r)
	case r.URL.Path == "/keys":
		_ = json.NewEncoder(w).Encode(set)
	default:
		http.NotFound(w, r)
	}
}

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// contextWithCancel returns a context of the test that can be ended early.
func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

func newClock() *clock { return &clock{now: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// grant is a token before it is signed.
type grant struct {
	claims map[string]any
	header map[jose.HeaderKey]any
	alg    jose.SignatureAlgorithm
	key    crypto.Signer
	kid    string
}

// grant returns a good token for Ann, made by edits into another.
func (i *issuer) grant(now time.Time, edits ...func(*grant)) string {
	g := grant{
		claims: map[string]any{
			"iss": i.id, "sub": "ann", "aud": resourceURL, "client_id": "client", "scope": "mcp",
			"iat": now.Unix(), "exp": now.Add(10 * time.Minute).Unix(),
		},
		header: map[jose.HeaderKey]any{jose.HeaderType: "at+jwt"},
		alg:    jose.ES256, key: ecKey, kid: "ec",
	}
	for _, edit := range edits {
		edit(&g)
	}
	return g.sign()
}

func (g *grant) sign() string { return g.signPayload(must(json.Marshal(g.claims))) }

func (g *grant) signPayload(payload []byte) string {
	s := must(jose.NewSigner(
		jose.SigningKey{Algorithm: g.alg, Key: jose.JSONWebKey{Key: g.key, KeyID: g.kid}},
		&jose.SignerOptions{ExtraHeaders: g.header},
	))
	return must(must(s.Sign(payload)).CompactSerialize())
}

// with sets a claim; nil takes it away.
func with(name string, value any) func(*grant) {
	return func(g *grant) {
		if value == nil {
			delete(g.claims, name)
			return
		}
		g.claims[name] = value
	}
}

// endpoint is an MCP server behind a guard.
type endpoint struct {
	http.Handler
	logs *bytes.Buffer
	ran  []string // tools that ran
	last mrtr.RoundInfo
}

// open is a tool that any caller may call, write one that needs a scope.
const (
	openTool  = "open"
	writeTool = "write"
)

func newEndpoint(t testing.TB, g *auth.Guard, c *clock) *endpoint {
	e := &endpoint{logs: new(bytes.Buffer)}
	srv := mrtr.NewServer(protocol.Implementation{Name: "test", Version: "1"}, nil)
	type args struct {
		City string `json:"city,omitempty"`
	}
	for _, name := range []string{openTool, writeTool} {
		mrtr.AddTool(srv, mrtr.Tool{Name: name}, func(ctx context.Context, call *mrtr.Call, _ args) (*mrtr.Result, error) {
			type answer struct {
				Name string `json:"name"`
			}
			a, err := mrtr.Ask[answer](call, "name", "Who?")
			if err != nil {
				return nil, err
			}
			e.ran = append(e.ran, name)
			p, _ := mrtr.PrincipalFrom(ctx)
			return mrtr.Text(a.Name + " for " + p.Subject), nil
		})
	}
	keys, err := requeststate.NewStaticKeys(bytes.Repeat([]byte{7}, requeststate.MinSecretSize))
	require.NoError(t, err)
	e.Handler, err = srv.Handler(mrtr.HandlerOptions{
		Keys: keys, Audience: "test", Now: c.Now,
		AllowedOrigins: []string{"https://app.example"},
		Authenticate:   g.Authenticate,
		Middleware:     []mrtr.Middleware{g.CheckScopes},
		Logger:         slog.New(slog.NewTextHandler(e.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Observers: []mrtr.Observer{func(ctx context.Context, info *mrtr.RoundInfo) (context.Context, func()) {
			return ctx, func() { e.last = *info }
		}},
	})
	require.NoError(t, err)
	return e
}

// listTools is the body of a request that every caller may send.
const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

// post returns a request for the tools, with that Authorization where it is not
// empty.
func post(authorization string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, resourceURL, strings.NewReader(listTools))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Protocol-Version", protocol.Version20260728)
	r.Header.Set("Mcp-Method", "tools/list")
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return r
}

func (e *endpoint) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	return w
}

// world is an issuer and an endpoint that takes its tokens.
type world struct {
	*endpoint
	issuer *issuer
	clock  *clock
}

func newWorld(t testing.TB, path string) *world {
	w := &world{issuer: newIssuer(t, path), clock: newClock()}
	w.endpoint = newEndpoint(t, newGuard(t, w.clock, auth.Issuer{URL: w.issuer.id}), w.clock)
	return w
}

func newGuard(t testing.TB, c *clock, issuers ...auth.Issuer) *auth.Guard {
	j, err := auth.NewJWT(issuers, []string{resourceURL}, auth.JWTOptions{Now: c.Now})
	require.NoError(t, err)
	r := &auth.Resource{
		URL: resourceURL, Scopes: []string{"mcp"},
		ToolScopes: map[string][]string{writeTool: {"notes:write", "mcp"}},
		Implies:    map[string][]string{"admin": {"notes:write"}, "root": {"admin", "mcp"}},
	}
	for _, i := range issuers {
		r.AuthorizationServers = append(r.AuthorizationServers, i.URL)
	}
	g, err := auth.NewGuard(j, r)
	require.NoError(t, err)
	return g
}

// token returns a good token, edited.
func (w *world) token(edits ...func(*grant)) string { return w.issuer.grant(w.clock.Now(), edits...) }

// status sends a token and returns the status.
func (w *world) status(token string) int { return w.do(post("Bearer " + token)).Code }
