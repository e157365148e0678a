//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// authority is an endpoint that demands a sign-in, with its authorization
// server.
type authority struct {
	t    *testing.T
	url  string
	http *httptest.Server

	mu        sync.Mutex
	clients   map[string]string // redirect URI by client id
	code      url.Values        // the request that the code stands for
	tokens    int               // access tokens given out
	seconds   int               // they live
	registers int
	signIns   int
	refreshes int
	deny      bool
	revoked   bool // refresh tokens are not taken any more
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, clients: map[string]string{}, seconds: 3600}
	mcp := testHandler()
	mux := http.NewServeMux()
	writes := func(format string, args ...func() any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			var values []any
			for _, arg := range args {
				values = append(values, arg())
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, format, values...)
		}
	}
	base := func() any { return a.http.URL }
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", writes(`{"resource":"%s/mcp","authorization_servers":["%s"]}`, base, base))
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", writes(`{"issuer":"%s","authorization_endpoint":"%s/authorize",
		"token_endpoint":"%s/token","registration_endpoint":"%s/register","response_types_supported":["code"],
		"token_endpoint_auth_methods_supported":["none"],"code_challenge_methods_supported":["S256"]}`, base, base, base, base))
	mux.HandleFunc("POST /register", a.register)
	mux.HandleFunc("GET /authorize", a.authorize)
	mux.HandleFunc("POST /token", a.token)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		want := fmt.Sprintf("Bearer access-%d", a.tokens)
		a.mu.Unlock()
		if r.Header.Get("Authorization") != want || want == "Bearer access-0" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+a.http.URL+`/.well-known/oauth-protected-resource/mcp"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mcp.ServeHTTP(w, r)
	})
	a.http = httptest.NewUnstartedServer(mux)
	a.http.Start()
	t.Cleanup(a.http.Close)
	a.url = a.http.URL + "/mcp"
	return a
}

func (a *authority) register(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := make([]byte, 4096)
	n, _ := r.Body.Read(b)
	redirect := regexp.MustCompile(`"redirect_uris":\["([^"]*)"`).FindSubmatch(b[:n])
	a.registers++
	id := fmt.Sprintf("client-%d", a.registers)
	a.clients[id] = string(redirect[1])
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"client_id":"%s","redirect_uris":["%s"],"token_endpoint_auth_method":"none"}`, id, redirect[1])
}

func (a *authority) authorize(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := r.URL.Query()
	back := a.clients[q.Get("client_id")]
	if back == "" || back != q.Get("redirect_uri") || q.Get("code_challenge_method") != "S256" || q.Get("resource") != a.url {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	out := url.Values{"state": {q.Get("state")}}
	if a.deny {
		out.Set("error", "access_denied")
	} else {
		a.code = q
		out.Set("code", "the-code")
	}
	http.Redirect(w, r, back+"?"+out.Encode(), http.StatusFound)
}

func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	challenge := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	switch {
	case r.FormValue("grant_type") == "authorization_code" && r.FormValue("code") == "the-code" &&
		a.code.Get("code_challenge") == base64.RawURLEncoding.EncodeToString(challenge[:]) &&
		r.FormValue("client_id") == a.code.Get("client_id") && r.FormValue("resource") == a.url:
		a.signIns++
	case r.FormValue("grant_type") == "refresh_token" && !a.revoked && r.FormValue("refresh_token") == fmt.Sprintf("refresh-%d", a.tokens):
		a.refreshes++
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
		return
	}
	a.tokens++
	fmt.Fprintf(w, `{"access_token":"access-%d","refresh_token":"refresh-%d","token_type":"Bearer","expires_in":%d}`, a.tokens, a.tokens, a.seconds)
}

// counts returns how many sign-ins, refreshes and registrations there were.
func (a *authority) counts() [3]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return [3]int{a.signIns, a.refreshes, a.registers}
}

// browse does what the user does: it opens the address on the screen. It returns
// the page that comes last.
func (a *authority) browse(c *console) string {
	a.t.Helper()
	address := regexp.MustCompile(`(?m)^http://\S+/authorize\?\S+$`)
	c.until("an address to sign in at", address.MatchString)
	resp, err := http.Get(address.FindString(c.String()))
	require.NoError(a.t, err)
	defer func() { _ = resp.Body.Close() }()
	b := make([]byte, 4096)
	n, _ := resp.Body.Read(b)
	return string(b[:n])
}

func TestSignIn(t *testing.T) {
	a := newAuthority(t)
	home := t.TempDir()
	list := func() *console {
		return startIn(t, home, 500, 50, "call", a.url, "echo", "--arg", "text=hi")
	}
	done := func(c *console) {
		t.Helper()
		code, out := c.ends()
		require.Zero(t, code, c.String())
		require.Equal(t, "\"hi\" 0 0 false []\n", out)
		require.NotContains(t, c.String(), "access-")
		require.NotContains(t, c.String(), "refresh-")
	}
	// 1. The first time the user signs in.
	c := list()
	require.Contains(t, a.browse(c), "You are signed in.")
	done(c)
	require.Equal(t, [3]int{1, 0, 1}, a.counts())

	// 2. Then the token is there, for the user alone to read.
	files, err := filepath.Glob(filepath.Join(home, ".config", "mrtr", "tokens", "*"))
	if len(files) == 0 {
		files, err = filepath.Glob(filepath.Join(home, "Library", "Application Support", "mrtr", "tokens", "*"))
	}
	require.NoError(t, err)
	require.Len(t, files, 1)
	info, err := os.Stat(files[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	done(list())
	require.Equal(t, [3]int{1, 0, 1}, a.counts())

	// 3. One that has expired is refreshed, and the new one kept.
	kept, err := os.ReadFile(files[0])
	require.NoError(t, err)
	old := regexp.MustCompile(`"expiry":"[^"]*"`).ReplaceAll(kept, []byte(`"expiry":"2020-01-01T00:00:00Z"`))
	require.NotEqual(t, kept, old)
	require.NoError(t, os.WriteFile(files[0], old, 0o600))
	done(list())
	done(list())
	require.Equal(t, [3]int{1, 1, 1}, a.counts())

	// 4. Where that is refused, the user signs in again.
	a.mu.Lock()
	a.revoked = true
	a.mu.Unlock()
	require.NoError(t, os.WriteFile(files[0], old, 0o600))
	c = list()
	a.browse(c)
	done(c)
	require.Equal(t, [3]int{2, 1, 2}, a.counts())

	// 5. A client that is registered already.
	require.NoError(t, os.Remove(files[0]))
	port := freePort(t)
	a.mu.Lock()
	a.clients["mine"] = "http://127.0.0.1:" + port + "/callback"
	a.mu.Unlock()
	c = startIn(t, home, 500, 50, "call", a.url, "echo", "--arg", "text=hi", "--client-id", "mine", "--redirect-port", port)
	a.browse(c)
	done(c)
	require.Equal(t, [3]int{3, 1, 2}, a.counts())
}

func freePort(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "http://"), ":")
	return port
}

func TestSignInRefused(t *testing.T) {
	a := newAuthority(t)
	a.mu.Lock()
	a.deny = true
	a.mu.Unlock()
	c := startIn(t, t.TempDir(), 500, 50, "list", a.url)
	require.Contains(t, a.browse(c), "The sign-in failed.")
	code, out := c.ends()
	require.Equal(t, exitFailed, code)
	require.Empty(t, out)
	c.sees(`the authorization server refused: "access_denied"`)
}

// TestSignInForged: what comes back without the state of the sign-in is nobody's.
func TestSignInForged(t *testing.T) {
	a := newAuthority(t)
	c := startIn(t, t.TempDir(), 500, 50, "list", a.url)
	c.sees("/authorize?")
	redirect := regexp.MustCompile(`redirect_uri=(\S+?)&`).FindStringSubmatch(c.String())
	back, err := url.QueryUnescape(redirect[1])
	require.NoError(t, err)
	for _, query := range []string{"?error=access_denied", "?code=stolen&state=other", "?code=stolen"} {
		resp, err := http.Get(back + query)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusNotFound, resp.StatusCode)
	}
	a.browse(c)
	code, _ := c.ends()
	require.Zero(t, code)
}
