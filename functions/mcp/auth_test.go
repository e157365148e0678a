package main_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
)

// oidcIssuer is an OpenID Connect issuer on this machine.
type oidcIssuer struct {
	*httptest.Server
	key     *ecdsa.PrivateKey
	fetches atomic.Int32 // of keys
}

func newOIDCIssuer(t *testing.T) *oidcIssuer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	i := &oidcIssuer{key: key}
	mux := http.NewServeMux()
	reply := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(v) }
	}
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	mux.Handle("/.well-known/openid-configuration", reply(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"}))
	keys := reply(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Use: "sig"}}})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) { i.fetches.Add(1); keys(w, r) })
	return i
}

// bearer returns a fresh access token.
func (i *oidcIssuer) bearer(t *testing.T, subject, audience, scope string) string {
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: i.key, KeyID: "k"}}, nil)
	require.NoError(t, err)
	token, err := jwt.Signed(s).Claims(jwt.Claims{
		Issuer: i.URL, Subject: subject, Audience: jwt.Audience{audience}, Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour)),
	}).Claims(map[string]any{"scope": scope, "client_id": "c"}).Serialize()
	require.NoError(t, err)
	return "Bearer " + token
}

// TestAuthorization drives the real binary, with tokens checked in it, behind
// each kind of gateway.
func TestAuthorization(t *testing.T) {
	needContract(t)
	const resource = "https://mcp.example.com/mcp"
	fake := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(fake.Close)
	for _, kind := range []lambdatest.Kind{lambdatest.HTTPAPI, lambdatest.REST, lambdatest.FunctionURL} {
		t.Run(string(kind), func(t *testing.T) {
			i := newOIDCIssuer(t)
			api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: bootstrap, Env: append(fake.Env(),
				"MRTR_KMS_KEY_ID="+fake.CreateKey(kmstest.KeyOptions{}).ARN, "MRTR_AUDIENCE=auth",
				"MRTR_AUTH=jwt", "MRTR_OAUTH_ISSUER="+i.URL, "MRTR_OAUTH_RESOURCE="+resource,
				"MRTR_OAUTH_SCOPES=mcp", "MRTR_OAUTH_TOOL_SCOPES="+multiRound+"=talk",
			)})
			require.NoError(t, err)
			t.Cleanup(func() { api.Close() })
			gateway := httptest.NewServer(api.HTTPHandler(kind))
			t.Cleanup(gateway.Close)
			get := func(path string) (*http.Response, string) {
				resp, err := http.Get(gateway.URL + path)
				require.NoError(t, err)
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				return resp, string(body)
			}
			// REST APIs rename the header; clients go by the well-known path then.
			challenge, renamed := "WWW-Authenticate", "X-Amzn-Remapped-WWW-Authenticate"
			if kind == lambdatest.REST {
				challenge, renamed = renamed, challenge
			}

			resp, _ := get("/mcp")
			require.Equal(t, http.StatusUnauthorized, resp.StatusCode)
			require.Equal(t, `Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="mcp"`, resp.Header.Get(challenge))
			require.Empty(t, resp.Header.Get(renamed))
			for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"} {
				resp, body := get(path)
				require.Equal(t, http.StatusOK, resp.StatusCode)
				require.Equal(t, "*", resp.Header.Get("Access-Control-Allow-Origin"))
				require.JSONEq(t, `{"resource":"`+resource+`","authorization_servers":["`+i.URL+`"],"scopes_supported":["mcp"],"bearer_methods_supported":["header"]}`, body)
			}

			play := func(tokens ...string) *mrtrtest.Played {
				return mrtrtest.Play(t, mrtrtest.URL(gateway.URL+"/mcp"), mrtrtest.Call{
					Name:    multiRound,
					Answers: mrtrtest.Answers{"step1": map[string]any{"name": "Alice"}, "step2": map[string]any{"color": "blue"}},
					Edit: func(round int, r *mrtrtest.Request) {
						r.Header.Set("Authorization", tokens[min(round, len(tokens))-1])
					},
				})
			}
			const all = "mcp talk"
			ann := i.bearer(t, "ann", resource, all)
			require.Equal(t, greeting, play(ann, i.bearer(t, "ann", resource, all), i.bearer(t, "ann", resource, all)).Text())
			require.Equal(t, http.StatusBadRequest, play(ann, i.bearer(t, "bob", resource, all)).Last().Status)
			require.Equal(t, http.StatusUnauthorized, play(i.bearer(t, "ann", gateway.URL+"/mcp", all)).Last().Status, "the audience is no matter of the host")
			lacking := play(i.bearer(t, "ann", resource, "mcp")).Last()
			require.Equal(t, http.StatusForbidden, lacking.Status)
			require.Equal(t, `Bearer error="insufficient_scope", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="mcp talk"`, lacking.Header.Get(challenge))
			require.EqualValues(t, 1, i.fetches.Load())
		})
	}
}
