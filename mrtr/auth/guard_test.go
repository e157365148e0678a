package auth_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/auth"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// bearer returns an edit of each round's request that sends the tokens, one a
// round, the last from then on.
func bearer(tokens ...string) func(int, *mrtrtest.Request) {
	return func(round int, r *mrtrtest.Request) {
		r.Header.Set("Authorization", "Bearer "+tokens[min(round, len(tokens))-1])
	}
}

func (w *world) play(t *testing.T, tool string, edit func(int, *mrtrtest.Request)) *mrtrtest.Played {
	return mrtrtest.Play(t, mrtrtest.Handler(w), mrtrtest.Call{
		Name: tool, Edit: edit, Answers: mrtrtest.Answers{"name": map[string]any{"name": "Bob"}},
	})
}

// TestFlow continues a call with another token in its second round.
func TestFlow(t *testing.T) {
	w := newWorld(t, "")
	other := newIssuer(t, "")
	e := newEndpoint(t, newGuard(t, w.clock, auth.Issuer{URL: w.issuer.id}, auth.Issuer{URL: other.id}), w.clock)
	w.endpoint = e
	first := w.token()
	for _, tt := range []struct {
		name, second string
		done         bool
	}{
		{"the same token", first, true},
		{"refreshed", w.token(with("jti", "2"), with("iat", w.clock.Now().Add(time.Second).Unix()), func(g *grant) { g.alg, g.key, g.kid = "EdDSA", edKey, "ed" }), true},
		{"refreshed with another scope more", w.token(with("scope", "mcp notes:write")), true},
		{"another person", w.token(with("sub", "bob")), false},
		{"another client of the same person", w.token(with("client_id", "other")), false},
		{"the same name at another issuer", other.grant(w.clock.Now()), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e.ran = nil
			played := w.play(t, openTool, bearer(first, tt.second))
			require.Len(t, played.Rounds, 2)
			require.NotEmpty(t, played.Rounds[0].State)
			if tt.done {
				require.Equal(t, "Bob for ann", played.Text())
				return
			}
			require.Equal(t, http.StatusBadRequest, played.Last().Status)
			require.Contains(t, string(played.Error.Data), `"restart":true`)
			require.Equal(t, "principal", w.last.Reason)
			require.Empty(t, e.ran)
		})
	}
	t.Run("a token that has expired meanwhile", func(t *testing.T) {
		played := w.play(t, openTool, func(round int, r *mrtrtest.Request) {
			r.Header.Set("Authorization", "Bearer "+first)
			if round == 2 {
				w.clock.Add(9 * time.Minute)
				r.Header.Set("Authorization", "Bearer "+w.token(with("exp", w.clock.Now().Add(-2*time.Minute).Unix())))
			}
		})
		require.Equal(t, http.StatusUnauthorized, played.Last().Status)
		require.Contains(t, played.Last().Header.Get("WWW-Authenticate"), `error="invalid_token"`)
	})
}

// TestToolScopes: what a tool needs is asked for at once, and by its name in
// the body.
func TestToolScopes(t *testing.T) {
	const both = `resource_metadata="` + metadataURL + `", scope="mcp notes:write"`
	w := newWorld(t, "")
	for _, tt := range []struct {
		name, tool, scope string
		want              string // challenge; empty: served
	}{
		{"a tool that needs none", openTool, "mcp", ""},
		{"all scopes", writeTool, "notes:write mcp", ""},
		{"a broader scope", writeTool, "mcp admin", ""},
		{"a scope that is broader still", writeTool, "root", ""},
		{"no scope for the tool", writeTool, "mcp", `Bearer error="insufficient_scope", ` + both},
		{"no scope for anything", writeTool, "notes:write", `Bearer error="insufficient_scope", ` + both},
		{"narrower does not mean broader", openTool, "admin", `Bearer error="insufficient_scope", resource_metadata="` + metadataURL + `", scope="mcp"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.ran = nil
			played := w.play(t, tt.tool, bearer(w.token(with("scope", tt.scope))))
			require.Equal(t, tt.want, played.Last().Header.Get("WWW-Authenticate"))
			if tt.want == "" {
				require.Equal(t, []string{tt.tool}, w.ran)
				return
			}
			require.Equal(t, http.StatusForbidden, played.Last().Status)
			require.Equal(t, auth.ReasonScope, w.last.Reason)
			require.Len(t, played.Rounds, 1)
			require.Empty(t, w.ran)
		})
	}

	t.Run("no token", func(t *testing.T) {
		played := w.play(t, writeTool, nil)
		require.Equal(t, http.StatusUnauthorized, played.Last().Status)
		require.Equal(t, "Bearer "+both, played.Last().Header.Get("WWW-Authenticate"), "one round of authorization is enough")
	})
	t.Run("a scope lost between rounds", func(t *testing.T) {
		w.ran = nil
		played := w.play(t, writeTool, bearer(w.token(with("scope", "root")), w.token()))
		require.Equal(t, http.StatusForbidden, played.Last().Status)
		require.Empty(t, w.ran)
		played = w.play(t, writeTool, bearer(w.token(with("scope", "root")), w.token(with("scope", "mcp admin"))))
		require.Equal(t, "Bob for ann", played.Text())
	})
	t.Run("headers that name another tool", func(t *testing.T) {
		w.ran = nil
		played := w.play(t, writeTool, func(_ int, r *mrtrtest.Request) {
			r.Header.Set("Authorization", "Bearer "+w.token())
			r.Header.Set("Mcp-Name", openTool)
		})
		require.Equal(t, http.StatusBadRequest, played.Last().Status)
		require.Empty(t, w.ran)
	})
	t.Run("a handshake client, which has no such headers", func(t *testing.T) {
		w.ran = nil
		for scope, want := range map[string]int{"mcp": http.StatusForbidden, "root": http.StatusOK} {
			r := post("Bearer " + w.token(with("scope", scope)))
			r.Header.Del("Mcp-Method")
			r.Header.Set("Mcp-Protocol-Version", protocol.Version20251125)
			got := w.do(withBody(r, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+writeTool+`"}}`))
			require.Equal(t, want, got.Code, got.Body)
			if want != http.StatusOK {
				require.Equal(t, `Bearer error="insufficient_scope", `+both, got.Header().Get("WWW-Authenticate"))
			}
		}
		require.Empty(t, w.ran)
	})
}

func withBody(r *http.Request, body string) *http.Request {
	n := httptest.NewRequest(r.Method, r.URL.String(), strings.NewReader(body))
	n.Header = r.Header
	return n
}

// TestMetadata reads the document of endpoints behind each kind of URL.
func TestMetadata(t *testing.T) {
	j, err := auth.NewJWT([]auth.Issuer{{URL: "https://issuer.example/"}}, []string{"x"}, auth.JWTOptions{})
	require.NoError(t, err)
	for _, tt := range []struct {
		resource, metadata string
		places, not        []string
	}{
		{"https://mcp.example.com/mcp", "https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
			[]string{"", "/mcp"}, []string{"/", "/mcp/", "/other", "/prod/mcp", "x"}},
		{"https://h.execute-api.eu-central-1.amazonaws.com/prod/mcp", "https://h.execute-api.eu-central-1.amazonaws.com/prod/.well-known/oauth-protected-resource/mcp",
			[]string{"", "/mcp", "/prod/mcp"}, []string{"/prod", "/dev/mcp"}},
		{"https://api.example.com/tools/v1/mcp", "https://api.example.com/tools/v1/.well-known/oauth-protected-resource/mcp",
			[]string{"", "/mcp", "/tools/v1/mcp"}, []string{"/v1/mcp"}},
		{"https://mcp.example.com:8443", "https://mcp.example.com:8443/.well-known/oauth-protected-resource", []string{""}, []string{"/", "/mcp"}},
		{"http://127.0.0.1:8080/mcp", "http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp", []string{"", "/mcp"}, nil},
	} {
		t.Run(tt.resource, func(t *testing.T) {
			g, err := auth.NewGuard(j, &auth.Resource{
				URL: tt.resource, AuthorizationServers: []string{"https://issuer.example/", "https://two.example"},
				Scopes: []string{"b", "a", "b"}, ToolScopes: map[string][]string{"x": {"c"}},
			})
			require.NoError(t, err)
			get := func(method, path string) *httptest.ResponseRecorder {
				w := httptest.NewRecorder()
				r := httptest.NewRequest(method, "https://a.host.nobody.set/"+strings.TrimPrefix(path, "/"), nil)
				r.Header.Set("Origin", "https://any.example")
				r.Header.Set("X-Forwarded-Host", "evil.example")
				g.Metadata().ServeHTTP(w, r)
				return w
			}
			for _, base := range []string{"", "/prod", "/tools/v1"} { // as events have it
				for _, place := range tt.places {
					got := get("GET", base+auth.MetadataPath+place)
					require.Equal(t, http.StatusOK, got.Code, place)
					require.JSONEq(t, `{"resource":"`+tt.resource+`","authorization_servers":["https://issuer.example/","https://two.example"],
						"scopes_supported":["b","a"],"bearer_methods_supported":["header"]}`, got.Body.String())
					require.Equal(t, "application/json", got.Header().Get("Content-Type"))
					require.Equal(t, "*", got.Header().Get("Access-Control-Allow-Origin"))
				}
			}
			for _, place := range tt.not {
				require.Equal(t, http.StatusNotFound, get("GET", auth.MetadataPath+place).Code, place)
			}
			require.Equal(t, http.StatusNotFound, get("GET", "/mcp").Code)
			require.Equal(t, http.StatusOK, get("HEAD", auth.MetadataPath).Code)
			require.Equal(t, http.StatusNoContent, get("OPTIONS", auth.MetadataPath).Code)
			got := get("POST", auth.MetadataPath)
			require.Equal(t, http.StatusMethodNotAllowed, got.Code)
			require.Equal(t, "GET, HEAD, OPTIONS", got.Header().Get("Allow"))

			_, err = g.Authenticate(post(""))
			var refused *mrtr.AuthorizationError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, `Bearer resource_metadata="`+tt.metadata+`", scope="b a"`, refused.Challenge)
		})
	}
}

// TestNoScopes: an endpoint that needs none names none.
func TestNoScopes(t *testing.T) {
	i, c := newIssuer(t, ""), newClock()
	j, err := auth.NewJWT([]auth.Issuer{{URL: i.id}}, []string{resourceURL}, auth.JWTOptions{Now: c.Now})
	require.NoError(t, err)
	g, err := auth.NewGuard(j, &auth.Resource{URL: resourceURL, AuthorizationServers: []string{i.id}})
	require.NoError(t, err)
	e := newEndpoint(t, g, c)
	require.Equal(t, `Bearer resource_metadata="`+metadataURL+`"`, e.do(post("")).Header().Get("WWW-Authenticate"))
	require.Equal(t, http.StatusOK, e.do(post("Bearer "+i.grant(c.Now(), with("scope", nil)))).Code)

	w := httptest.NewRecorder()
	g.Metadata().ServeHTTP(w, httptest.NewRequest("GET", auth.MetadataPath, nil))
	var doc map[string]any
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &doc))
	require.NotContains(t, doc, "scopes_supported")
}

func TestNewGuardErrors(t *testing.T) {
	servers := []string{"https://issuer.example"}
	for _, tt := range []struct {
		name string
		r    auth.Resource
		says string
	}{
		{"no URL", auth.Resource{AuthorizationServers: servers}, `resource ""`},
		{"no host", auth.Resource{URL: "https:///mcp", AuthorizationServers: servers}, "not a URL"},
		{"no TLS", auth.Resource{URL: "http://mcp.example.com/mcp", AuthorizationServers: servers}, "not https"},
		{"a fragment", auth.Resource{URL: "https://mcp.example.com/mcp#x", AuthorizationServers: servers}, "not a URL"},
		{"an empty fragment", auth.Resource{URL: "https://mcp.example.com/mcp#", AuthorizationServers: servers}, "not a URL"},
		{"a query", auth.Resource{URL: "https://mcp.example.com/mcp?", AuthorizationServers: servers}, "not a URL"},
		{"a quote", auth.Resource{URL: `https://mcp.example.com/"/mcp`, AuthorizationServers: servers}, "not a URL"},
		{"a slash at the end", auth.Resource{URL: "https://mcp.example.com/mcp/", AuthorizationServers: servers}, "ends in a slash"},
		{"no server", auth.Resource{URL: resourceURL}, "no authorization server"},
		{"a server without TLS", auth.Resource{URL: resourceURL, AuthorizationServers: []string{"http://issuer.example"}}, "not https"},
		{"a blank in a scope", auth.Resource{URL: resourceURL, AuthorizationServers: servers, Scopes: []string{"a b"}}, "is no scope"},
		{"a quote in a scope", auth.Resource{URL: resourceURL, AuthorizationServers: servers, Scopes: []string{`a"`}}, "is no scope"},
		{"an empty scope of a tool", auth.Resource{URL: resourceURL, AuthorizationServers: servers, ToolScopes: map[string][]string{"t": {""}}}, "is no scope"},
		{"no scopes of a tool", auth.Resource{URL: resourceURL, AuthorizationServers: servers, ToolScopes: map[string][]string{"t": nil}}, "empty list"},
		{"offline_access", auth.Resource{URL: resourceURL, AuthorizationServers: servers, Scopes: []string{"mcp", "offline_access"}}, "offline_access"},
		{"offline_access of a tool", auth.Resource{URL: resourceURL, AuthorizationServers: servers, ToolScopes: map[string][]string{"t": {"offline_access"}}}, "offline_access"},
		{"an implied scope that is none", auth.Resource{URL: resourceURL, AuthorizationServers: servers, Implies: map[string][]string{"a": {"é"}}}, "is no scope"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := auth.NewGuard(auth.IAM{}, &tt.r)
			require.ErrorContains(t, err, tt.says)
		})
	}
	_, err := auth.NewGuard(nil, nil)
	require.ErrorContains(t, err, "authenticator")
	_, err = auth.NewGuard(auth.IAM{}, &auth.Resource{URL: resourceURL, AuthorizationServers: servers, Implies: map[string][]string{"a": {"b"}, "b": {"a"}}})
	require.NoError(t, err, "scopes that include each other")
}
