package oauth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// issuer is an authorization server that asks nobody anything: whoever comes to
// it with a browser is signed in at once. It knows public clients alone, and
// gives tokens for one resource. Its own rules are strict: PKCE with S256, a
// redirect address that the client registered, a resource, codes and refresh
// tokens that work once.
type issuer struct {
	issuerOptions
	url      string
	resource string // whose tokens it gives
	key      *ecdsa.PrivateKey
	document *httptest.Server // of the client that has its metadata at an address

	mu       sync.Mutex
	clients  map[string][]string // redirect addresses by client id
	codes    map[string]grant
	refresh  map[string]grant
	signIns  []grant  // in their order
	renewed  int      // tokens got by a refresh token
	problems []string // why it refused
}

// issuerOptions vary an issuer. The zero value is one by RFC 8414 at which Ann
// signs in for an hour.
type issuerOptions struct {
	openID bool          // its metadata is at OpenID Connect's place alone
	people []string      // who is at the browser, sign-in by sign-in, the last from then on; nil: ann
	life   time.Duration // of an access token; zero: an hour
}

// grant is what somebody agreed to.
type grant struct {
	person, client, redirect, challenge string
	scopes                              []string
}

// knownScopes are what it gives.
var knownScopes = []string{"mcp", "talk", "offline_access"}

// redirectURL is where the browser is sent back to. Nobody listens there: the
// clients read the address.
const redirectURL = "http://127.0.0.1:49152/callback"

func newIssuer(t *testing.T, resource string, opts issuerOptions) *issuer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	i := &issuer{
		issuerOptions: opts, resource: resource, key: key,
		clients: map[string][]string{}, codes: map[string]grant{}, refresh: map[string]grant{},
	}
	if i.people == nil {
		i.people = []string{"ann"}
	}
	if i.life == 0 {
		i.life = time.Hour
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/", i.metadata)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("POST /register", i.register)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	i.url = srv.URL

	i.document = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply(w, http.StatusOK, map[string]any{
			"client_id": "https://" + r.Host + r.URL.Path, "client_name": "oauth", "redirect_uris": []string{redirectURL},
			"grant_types": []string{"authorization_code", "refresh_token"}, "token_endpoint_auth_method": "none",
		})
	}))
	t.Cleanup(i.document.Close)
	return i
}

// documentURL is the id of the client that has its metadata there.
func (i *issuer) documentURL() string { return i.document.URL + "/client.json" }

func (i *issuer) metadata(w http.ResponseWriter, r *http.Request) {
	place := "/.well-known/oauth-authorization-server"
	if i.openID {
		place = "/.well-known/openid-configuration"
	}
	if r.URL.Path != place {
		http.NotFound(w, r)
		return
	}
	reply(w, http.StatusOK, map[string]any{
		"issuer": i.url, "authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token",
		"registration_endpoint": i.url + "/register", "jwks_uri": i.url + "/keys", "scopes_supported": knownScopes,
		"response_types_supported": []string{"code"}, "grant_types_supported": []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		"subject_types_supported": []string{"public"}, "id_token_signing_alg_values_supported": []string{"ES256"},
		"authorization_response_iss_parameter_supported": true, "client_id_metadata_document_supported": true,
	})
}

func (i *issuer) keys(w http.ResponseWriter, _ *http.Request) {
	point, err := i.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		i.refuse(w, http.StatusInternalServerError, "server_error", err.Error())
		return
	}
	reply(w, http.StatusOK, map[string]any{"keys": []any{map[string]string{
		"kty": "EC", "crv": "P-256", "kid": "1", "use": "sig", "alg": "ES256", "x": encode(point[1:33]), "y": encode(point[33:]),
	}}})
}

// register is RFC 7591.
func (i *issuer) register(w http.ResponseWriter, r *http.Request) {
	var m map[string]any
	if json.NewDecoder(r.Body).Decode(&m) != nil {
		i.refuse(w, http.StatusBadRequest, "invalid_client_metadata", "no JSON")
		return
	}
	var redirects []string
	raw, _ := json.Marshal(m["redirect_uris"])
	if json.Unmarshal(raw, &redirects) != nil || len(redirects) == 0 {
		i.refuse(w, http.StatusBadRequest, "invalid_redirect_uri", "no redirect_uris")
		return
	}
	id := "client-" + rand.Text()
	i.mu.Lock()
	i.clients[id] = redirects
	i.mu.Unlock()
	m["client_id"], m["client_id_issued_at"], m["token_endpoint_auth_method"] = id, time.Now().Unix(), "none"
	reply(w, http.StatusCreated, m)
}

// redirects returns the addresses that a client may be sent back to.
func (i *issuer) redirects(client string) []string {
	i.mu.Lock()
	known := i.clients[client]
	i.mu.Unlock()
	if known != nil || !strings.HasPrefix(client, "https://") {
		return known
	}
	resp, err := i.document.Client().Get(client)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	var m struct {
		ID        string   `json:"client_id"`
		Redirects []string `json:"redirect_uris"`
	}
	if json.NewDecoder(resp.Body).Decode(&m) != nil || m.ID != client {
		return nil
	}
	return m.Redirects
}

func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	g := grant{client: q.Get("client_id"), redirect: q.Get("redirect_uri"), challenge: q.Get("code_challenge"), scopes: strings.Fields(q.Get("scope"))}
	unknown := func(s string) bool { return !slices.Contains(knownScopes, s) }
	switch {
	case !slices.Contains(i.redirects(g.client), g.redirect):
		i.refuse(w, http.StatusBadRequest, "invalid_request", "client_id or redirect_uri")
		return
	case q.Get("response_type") != "code" || q.Get("state") == "":
		i.refuse(w, http.StatusBadRequest, "invalid_request", "response_type or state")
		return
	case q.Get("code_challenge_method") != "S256" || len(g.challenge) != 43:
		i.refuse(w, http.StatusBadRequest, "invalid_request", "code_challenge")
		return
	case q.Get("resource") != i.resource:
		i.refuse(w, http.StatusBadRequest, "invalid_target", "resource")
		return
	case slices.ContainsFunc(g.scopes, unknown):
		i.refuse(w, http.StatusBadRequest, "invalid_scope", "scope")
		return
	}
	code := rand.Text()
	i.mu.Lock()
	g.person = i.people[min(len(i.signIns), len(i.people)-1)]
	i.signIns = append(i.signIns, g)
	i.codes[code] = g
	i.mu.Unlock()
	http.Redirect(w, r, g.redirect+"?"+url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {i.url}}.Encode(), http.StatusFound)
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	// A client that has no secret says who it is in the form.
	if r.ParseForm() != nil || r.Header.Get("Authorization") != "" || r.PostForm.Get("client_id") == "" {
		i.refuse(w, http.StatusUnauthorized, "invalid_client", "client_id")
		return
	}
	f := r.PostForm
	verifier := sha256.Sum256([]byte(f.Get("code_verifier")))
	i.mu.Lock()
	var g grant
	var ok bool
	switch f.Get("grant_type") {
	case "authorization_code":
		g, ok = i.codes[f.Get("code")]
		delete(i.codes, f.Get("code"))
		ok = ok && g.redirect == f.Get("redirect_uri") && g.challenge == encode(verifier[:]) && f.Get("resource") == i.resource
	case "refresh_token":
		g, ok = i.refresh[f.Get("refresh_token")]
		delete(i.refresh, f.Get("refresh_token"))
		i.renewed++
	}
	ok = ok && g.client == f.Get("client_id")
	out := map[string]any{"token_type": "Bearer", "expires_in": int(i.life / time.Second), "scope": strings.Join(g.scopes, " ")}
	if ok && slices.Contains(g.scopes, "offline_access") {
		next := rand.Text()
		i.refresh[next] = g
		out["refresh_token"] = next
	}
	i.mu.Unlock()
	if !ok {
		i.refuse(w, http.StatusBadRequest, "invalid_grant", f.Get("grant_type"))
		return
	}
	token, err := i.sign(g, time.Now())
	if err != nil {
		i.refuse(w, http.StatusInternalServerError, "server_error", err.Error())
		return
	}
	out["access_token"] = token
	reply(w, http.StatusOK, out)
}

func (i *issuer) refuse(w http.ResponseWriter, status int, code, detail string) {
	i.mu.Lock()
	i.problems = append(i.problems, code+": "+detail)
	i.mu.Unlock()
	reply(w, status, map[string]string{"error": code, "error_description": detail})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
