package awslambda

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/auth"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// oauth is the environment of an endpoint that checks tokens, edited.
func oauth(edits map[string]string) func(string) string {
	env := map[string]string{
		"MRTR_AUTH":           "jwt",
		"MRTR_OAUTH_ISSUER":   "https://issuer.example/, https://two.example",
		"MRTR_OAUTH_RESOURCE": "https://api.example.com/v1/mcp",
	}
	for name, value := range edits {
		env[name] = value
	}
	return func(name string) string { return env[name] }
}

func TestReadAuth(t *testing.T) {
	got, err := readAuth(oauth(map[string]string{
		"MRTR_OAUTH_AUDIENCES":      "api-7 ,",
		"MRTR_OAUTH_SCOPES":         " mcp  read ",
		"MRTR_OAUTH_TOOL_SCOPES":    "greet=a  b, book = c",
		"MRTR_OAUTH_IMPLIED_SCOPES": "admin=a b c",
	}), true)
	require.NoError(t, err)
	require.Equal(t, authSettings{
		mode: authJWT, issuers: []string{"https://issuer.example/", "https://two.example"},
		resource: "https://api.example.com/v1/mcp", audiences: []string{"api-7"}, scopes: []string{"mcp", "read"},
		toolScopes: map[string][]string{"greet": {"a", "b"}, "book": {"c"}},
		implies:    map[string][]string{"admin": {"a", "b", "c"}},
	}, got)

	for _, onLambda := range []bool{true, false} {
		got, err = readAuth(func(string) string { return "" }, onLambda)
		require.NoError(t, err)
		require.Equal(t, authSettings{}, got)
	}
}

func TestReadAuthErrors(t *testing.T) {
	for _, tt := range []struct {
		name  string
		edits map[string]string
		says  string
	}{
		{"another word", map[string]string{"MRTR_AUTH": "JWT"}, `MRTR_AUTH: "JWT" is none of`},
		{"OAuth without a word", map[string]string{"MRTR_AUTH": ""}, "MRTR_OAUTH_ISSUER is set, but MRTR_AUTH is neither"},
		{"OAuth and none", map[string]string{"MRTR_AUTH": "none", "MRTR_OAUTH_ISSUER": ""}, "MRTR_OAUTH_RESOURCE is set, but MRTR_AUTH is neither"},
		{"OAuth and IAM", map[string]string{"MRTR_AUTH": "iam"}, "MRTR_OAUTH_ISSUER is set, but MRTR_AUTH is neither"},
		{"no issuer", map[string]string{"MRTR_OAUTH_ISSUER": " , "}, "MRTR_OAUTH_ISSUER is not set"},
		{"no resource", map[string]string{"MRTR_OAUTH_RESOURCE": " "}, "MRTR_OAUTH_RESOURCE is not set"},
		{"a resource that is another place", map[string]string{"MRTR_OAUTH_RESOURCE": "https://api.example.com"}, "ends in /mcp"},
		{"keys of which issuer", map[string]string{"MRTR_OAUTH_JWKS_URL": "https://issuer.example/keys"}, "with one MRTR_OAUTH_ISSUER"},
		{"keys that the gateway has", map[string]string{"MRTR_AUTH": "gateway-jwt", "MRTR_OAUTH_ISSUER": "https://issuer.example", "MRTR_OAUTH_JWKS_URL": "https://issuer.example/keys"}, "MRTR_AUTH=jwt"},
		{"a tool without scopes", map[string]string{"MRTR_OAUTH_TOOL_SCOPES": "greet="}, `MRTR_OAUTH_TOOL_SCOPES: "greet="`},
		{"scopes without a tool", map[string]string{"MRTR_OAUTH_TOOL_SCOPES": "=a"}, `MRTR_OAUTH_TOOL_SCOPES: "=a"`},
		{"a tool twice", map[string]string{"MRTR_OAUTH_TOOL_SCOPES": "greet=a,greet=b"}, `MRTR_OAUTH_TOOL_SCOPES: "greet=b"`},
		{"no entry", map[string]string{"MRTR_OAUTH_IMPLIED_SCOPES": "admin"}, `MRTR_OAUTH_IMPLIED_SCOPES: "admin"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readAuth(oauth(tt.edits), true)
			require.ErrorContains(t, err, tt.says)
		})
	}
	for _, mode := range []string{"iam", "gateway-jwt"} {
		edits := map[string]string{"MRTR_AUTH": mode}
		if mode == "iam" {
			edits["MRTR_OAUTH_ISSUER"], edits["MRTR_OAUTH_RESOURCE"] = "", ""
		}
		_, err := readAuth(oauth(edits), false)
		require.ErrorContains(t, err, mode+" needs the gateway")
		_, err = readAuth(oauth(edits), true)
		require.NoError(t, err)
	}
}

// server has one tool.
func server() *mrtr.Server {
	srv := mrtr.NewServer(protocol.Implementation{Name: "test", Version: "1"}, nil)
	mrtr.AddTool(srv, mrtr.Tool{Name: "greet"}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) { return mrtr.Text("hello"), nil })
	return srv
}

// TestProtect: the endpoint and its metadata at a custom domain's base path.
func TestProtect(t *testing.T) {
	keys, err := requeststate.NewStaticKeys(make([]byte, requeststate.MinSecretSize))
	require.NoError(t, err)
	for _, mode := range []string{"jwt", "gateway-jwt"} {
		a, err := readAuth(oauth(map[string]string{"MRTR_AUTH": mode, "MRTR_OAUTH_SCOPES": "mcp", "MRTR_OAUTH_TOOL_SCOPES": "greet=hello"}), true)
		require.NoError(t, err)
		srv := server()
		opts := mrtr.HandlerOptions{Keys: keys, Audience: "a", Logger: slog.New(slog.DiscardHandler)}
		g, err := a.protect(srv, &opts)
		require.NoError(t, err)
		require.Len(t, opts.Middleware, 1)
		h, err := srv.Handler(opts)
		require.NoError(t, err)
		h = withMetadata(g, route(h))
		for path, want := range map[string]int{
			"/mcp": 401, "/v1/mcp": 401,
			auth.MetadataPath: 200, auth.MetadataPath + "/mcp": 200, auth.MetadataPath + "/v1/mcp": 200,
			"/v1" + auth.MetadataPath: 200, "/v1" + auth.MetadataPath + "/mcp": 200,
			auth.MetadataPath + "/other/mcp": 404, "/": 404,
		} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			require.Equal(t, want, w.Code, path)
			switch want {
			case 401:
				require.Equal(t, `Bearer resource_metadata="https://api.example.com/v1/.well-known/oauth-protected-resource/mcp", scope="mcp"`, w.Header().Get("WWW-Authenticate"))
			case 200:
				require.JSONEq(t, `{"resource":"https://api.example.com/v1/mcp","authorization_servers":["https://issuer.example/","https://two.example"],
					"scopes_supported":["mcp"],"bearer_methods_supported":["header"]}`, w.Body.String())
			}
		}
	}

	a := authSettings{mode: authIAM}
	var opts mrtr.HandlerOptions
	g, err := a.protect(server(), &opts)
	require.NoError(t, err)
	require.NotNil(t, opts.Authenticate)
	w := httptest.NewRecorder()
	withMetadata(g, http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, auth.MetadataPath, nil))
	require.Equal(t, http.StatusNotFound, w.Code)
}

// TestUnprotected: without a guard there is no metadata, and nothing else takes
// its place.
func TestUnprotected(t *testing.T) {
	for _, mode := range []authMode{authUnset, authNone} {
		a := authSettings{mode: mode}
		var opts mrtr.HandlerOptions
		g, err := a.protect(server(), &opts)
		require.NoError(t, err)
		require.Nil(t, g)
		require.Nil(t, opts.Authenticate)
		for _, path := range []string{auth.MetadataPath, auth.MetadataPath + "/mcp"} {
			w := httptest.NewRecorder()
			withMetadata(g, route(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("reached the endpoint") }))).
				ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			require.Equal(t, http.StatusNotFound, w.Code)
		}
	}
}

func TestProtectErrors(t *testing.T) {
	for _, tt := range []struct {
		name  string
		edits map[string]string
		says  string
	}{
		{"scopes of no tool", map[string]string{"MRTR_OAUTH_TOOL_SCOPES": "Greet=a"}, `MRTR_OAUTH_TOOL_SCOPES: there is no tool "Greet"`},
		{"offline_access", map[string]string{"MRTR_OAUTH_SCOPES": "offline_access"}, "reading the MRTR_OAUTH settings"},
		{"an issuer without TLS", map[string]string{"MRTR_OAUTH_ISSUER": "http://issuer.example"}, "not https"},
		{"a resource without TLS", map[string]string{"MRTR_OAUTH_RESOURCE": "http://api.example.com/mcp"}, "not https"},
		{"a key URL without TLS", map[string]string{"MRTR_OAUTH_ISSUER": "https://issuer.example", "MRTR_OAUTH_JWKS_URL": "http://issuer.example/keys"}, "is no https URL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := readAuth(oauth(tt.edits), true)
			require.NoError(t, err)
			_, err = a.protect(server(), &mrtr.HandlerOptions{})
			require.ErrorContains(t, err, tt.says)
		})
	}
}

// TestWarn: nobody serves anyone without a word in the log.
func TestWarn(t *testing.T) {
	for _, tt := range []struct {
		name              string
		mode              authMode
		onLambda, wrapped bool
		says              string
	}{
		{"none", authNone, true, false, "MRTR_AUTH is none"},
		{"none, locally", authNone, false, false, "MRTR_AUTH is none"},
		{"nothing said on Lambda", authUnset, true, false, "anyone who finds this endpoint can call its tools"},
		{"nothing said locally", authUnset, false, false, ""},
		{"the program's own middleware", authUnset, true, true, ""},
		{"tokens", authJWT, true, false, ""},
		{"IAM", authIAM, true, false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			(&authSettings{mode: tt.mode}).warn(slog.New(slog.NewTextHandler(&log, nil)), tt.onLambda, tt.wrapped)
			if tt.says == "" {
				require.Empty(t, log.String())
				return
			}
			require.Contains(t, log.String(), "level=WARN")
			require.Contains(t, log.String(), tt.says)
		})
	}
}
