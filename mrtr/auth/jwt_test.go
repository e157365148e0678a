package auth_test

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/auth"
)

const (
	metadataURL = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
	challenge   = `Bearer resource_metadata="` + metadataURL + `", scope="mcp"`
)

func invalid(description string) string {
	return `Bearer error="invalid_token", error_description="the access token ` + description +
		`", resource_metadata="` + metadataURL + `", scope="mcp"`
}

func b64(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// TestTokens sends every kind of token and looks at the status, the challenge
// and the reason that is logged.
func TestTokens(t *testing.T) {
	w := newWorld(t, "")
	now := w.clock.Now()
	at := func(d time.Duration) int64 { return now.Add(d).Unix() }
	parts := strings.Split(w.token(), ".")
	rsaSigned := func(g *grant) { g.alg, g.key, g.kid = jose.RS256, rsaKey, "rsa" }
	flipped := []byte(w.token())
	if i := len(flipped) - 10; flipped[i] == 'A' {
		flipped[i] = 'B'
	} else {
		flipped[i] = 'A'
	}
	hmacKey := must(x509.MarshalPKIXPublicKey(rsaKey.Public()))
	hmac := must(must(must(jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: hmacKey},
		(&jose.SignerOptions{}).WithHeader("kid", "rsa"))).Sign(must(json.Marshal(map[string]any{
		"iss": w.issuer.id, "sub": "ann", "aud": resourceURL, "exp": at(time.Hour), "scope": "mcp",
	})))).CompactSerialize())
	raw := func(payload string) string {
		g := grant{alg: jose.ES256, key: ecKey, kid: "ec"}
		return g.signPayload([]byte(payload))
	}
	filler := func(g *grant) {
		for i := range 80 {
			g.claims["group"+strings.Repeat("x", i)] = strings.Repeat("y", 60)
		}
	}
	require.Greater(t, len(w.token(filler)), 10<<10, "8 kB of claims")

	const ok = http.StatusOK
	for _, tt := range []struct {
		name, authorization string
		status              int
		challenge, reason   string
	}{
		{"EC", "Bearer " + w.token(), ok, "", ""},
		{"RSA", "Bearer " + w.token(rsaSigned), ok, "", ""},
		{"Ed25519", "Bearer " + w.token(func(g *grant) { g.alg, g.key, g.kid = jose.EdDSA, edKey, "ed" }), ok, "", ""},
		{"no kid", "Bearer " + w.token(func(g *grant) { g.kid = "" }), ok, "", ""},
		{"8 kB of claims", "Bearer " + w.token(filler), ok, "", ""},
		{"scheme in other letters, more blanks", "bEARER   " + w.token(), ok, "", ""},
		{"typ JWT", "Bearer " + w.token(func(g *grant) { g.header[jose.HeaderType] = "JWT" }), ok, "", ""},
		{"typ in full", "Bearer " + w.token(func(g *grant) { g.header[jose.HeaderType] = "application/at+JWT" }), ok, "", ""},
		{"no typ", "Bearer " + w.token(func(g *grant) { g.header = nil }), ok, "", ""},
		{"several audiences", "Bearer " + w.token(with("aud", []string{"https://other.example", resourceURL})), ok, "", ""},
		{"scopes in an array", "Bearer " + w.token(with("scope", nil), with("scp", []string{"x", "mcp"})), ok, "", ""},
		{"scopes in scp", "Bearer " + w.token(with("scope", nil), with("scp", "x mcp")), ok, "", ""},
		{"scopes null and array", "Bearer " + w.token(with("scope", []string{"mcp"}), with("scp", json.RawMessage("null"))), ok, "", ""},
		{"just expired", "Bearer " + w.token(with("exp", at(-59*time.Second))), ok, "", ""},
		{"almost valid", "Bearer " + w.token(with("nbf", at(59*time.Second)), with("iat", at(59*time.Second))), ok, "", ""},

		{"nothing", "", 401, challenge, auth.ReasonNone},
		{"another scheme", "Basic YW5uOnNlc2FtZQ==", 401, challenge, auth.ReasonNone},
		{"no scheme", w.token(), 401, challenge, auth.ReasonNone},
		{"a scheme alone", "Bearer", 401, invalid("is not valid"), auth.ReasonMalformed},
		{"an empty token", "Bearer  ", 401, invalid("is not valid"), auth.ReasonMalformed},
		{"no JWT", "Bearer opaque", 401, invalid("is not valid"), auth.ReasonMalformed},
		{"two parts", "Bearer " + parts[0] + "." + parts[1], 401, invalid("is not valid"), auth.ReasonMalformed},
		{"no signature", "Bearer " + parts[0] + "." + parts[1] + ".", 401, invalid("is not valid"), auth.ReasonSignature},
		{"two tokens", "Bearer " + w.token() + "," + w.token(), 401, invalid("is not valid"), auth.ReasonMalformed},
		{"JSON serialization", `Bearer {"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`, 401, invalid("is not valid"), auth.ReasonMalformed},
		{"longer than any", "Bearer " + strings.Repeat("a", 32<<10+1), 401, invalid("is not valid"), auth.ReasonTooLong},

		{"alg none", "Bearer " + b64(`{"alg":"none"}`) + "." + parts[1] + ".", 401, invalid("is not valid"), auth.ReasonAlgorithm},
		{"alg None", "Bearer " + b64(`{"alg":"None"}`) + "." + parts[1] + ".", 401, invalid("is not valid"), auth.ReasonAlgorithm},
		{"HMAC with the public key", "Bearer " + hmac, 401, invalid("is not valid"), auth.ReasonAlgorithm},
		{"a key in the header", "Bearer " + w.token(func(g *grant) {
			g.key = otherKey
			g.header[jose.HeaderKey("jwk")] = jose.JSONWebKey{Key: otherKey.Public(), KeyID: "ec"}
		}), 401, invalid("is not valid"), auth.ReasonSignature},
		{"another's signature", "Bearer " + w.token(func(g *grant) { g.key = otherKey }), 401, invalid("is not valid"), auth.ReasonSignature},
		{"another algorithm than the key's", "Bearer " + w.token(rsaSigned, func(g *grant) { g.alg = jose.PS256 }), 401, invalid("is not valid"), auth.ReasonKey},
		{"another kind of key", "Bearer " + w.token(rsaSigned, func(g *grant) { g.kid = "ec" }), 401, invalid("is not valid"), auth.ReasonSignature},
		{"a changed letter", "Bearer " + string(flipped), 401, invalid("is not valid"), auth.ReasonSignature},
		{"an extension that must be understood", "Bearer " + w.token(func(g *grant) {
			g.header[jose.HeaderKey("crit")], g.header[jose.HeaderKey("x")] = []string{"x"}, 1
		}), 401, invalid("is not valid"), auth.ReasonType},
		{"unknown kid", "Bearer " + w.token(func(g *grant) { g.kid = "gone" }), 401, invalid("is not valid"), auth.ReasonKey},

		{"a logout token", "Bearer " + w.token(func(g *grant) { g.header[jose.HeaderType] = "logout+jwt" }), 401, invalid("is not valid"), auth.ReasonType},
		{"typ is no string", "Bearer " + w.token(func(g *grant) { g.header[jose.HeaderType] = 5 }), 401, invalid("is not valid"), auth.ReasonType},
		{"an ID token", "Bearer " + w.token(with("token_use", "id")), 401, invalid("is not valid"), auth.ReasonType},

		{"issuer with a slash", "Bearer " + w.token(with("iss", w.issuer.id+"/")), 401, invalid("is of another issuer"), auth.ReasonIssuer},
		{"another issuer", "Bearer " + w.token(with("iss", "https://other.example")), 401, invalid("is of another issuer"), auth.ReasonIssuer},
		{"no issuer", "Bearer " + w.token(with("iss", nil)), 401, invalid("is of another issuer"), auth.ReasonIssuer},
		{"another audience", "Bearer " + w.token(with("aud", "https://other.example/mcp")), 401, invalid("is for another resource"), auth.ReasonAudience},
		{"audience with a slash", "Bearer " + w.token(with("aud", resourceURL+"/")), 401, invalid("is for another resource"), auth.ReasonAudience},
		{"no audience", "Bearer " + w.token(with("aud", nil)), 401, invalid("is for another resource"), auth.ReasonAudience},
		{"audience of a stage", "Bearer " + w.token(with("aud", "prod")), 401, invalid("is for another resource"), auth.ReasonAudience},
		{"expired", "Bearer " + w.token(with("exp", at(-61*time.Second))), 401, invalid("has expired"), auth.ReasonExpired},
		{"never expires", "Bearer " + w.token(with("exp", nil)), 401, invalid("has expired"), auth.ReasonExpired},
		{"not yet valid", "Bearer " + w.token(with("nbf", at(61*time.Second))), 401, invalid("is not valid yet"), auth.ReasonNotYet},
		{"issued later", "Bearer " + w.token(with("iat", at(61*time.Second))), 401, invalid("is not valid yet"), auth.ReasonNotYet},
		{"nobody", "Bearer " + w.token(with("sub", nil)), 401, invalid("is not valid"), auth.ReasonSubject},
		{"sub is no string", "Bearer " + w.token(with("sub", 5)), 401, invalid("is not valid"), auth.ReasonMalformed},
		{"scope is no list", "Bearer " + w.token(with("scope", 5)), 401, invalid("is not valid"), auth.ReasonMalformed},
		{"exp is no number", "Bearer " + w.token(with("exp", "tomorrow")), 401, invalid("is not valid"), auth.ReasonMalformed},
		{"claims are no object", "Bearer " + raw(`[]`), 401, invalid("is not valid"), auth.ReasonMalformed},
		{"two subjects", "Bearer " + raw(`{"iss":"`+w.issuer.id+`","sub":"ann","sub":"bob","aud":"`+resourceURL+`","exp":4102444800,"scope":"mcp"}`), 401, invalid("is not valid"), auth.ReasonMalformed},
		{"a subject in capitals", "Bearer " + raw(`{"iss":"`+w.issuer.id+`","SUB":"ann","aud":"`+resourceURL+`","exp":4102444800,"scope":"mcp"}`), 401, invalid("is not valid"), auth.ReasonSubject},

		{"no scope", "Bearer " + w.token(with("scope", nil)), 403, `Bearer error="insufficient_scope", resource_metadata="` + metadataURL + `", scope="mcp"`, auth.ReasonScope},
		{"a longer scope", "Bearer " + w.token(with("scope", "mcpx xmcp MCP")), 403, `Bearer error="insufficient_scope", resource_metadata="` + metadataURL + `", scope="mcp"`, auth.ReasonScope},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.logs.Reset()
			got := w.do(post(tt.authorization))
			require.Equal(t, tt.status, got.Code, got.Body)
			require.Equal(t, tt.challenge, got.Header().Get("WWW-Authenticate"))
			require.Equal(t, tt.reason, w.last.Reason)
			require.Contains(t, w.logs.String(), fmt.Sprintf("status=%d", tt.status))
			if tt.status != ok {
				require.NotContains(t, got.Body.String(), "tools")
			}
			for _, secret := range strings.FieldsFunc(tt.authorization, func(c rune) bool { return c == ' ' || c == '.' || c == ',' }) {
				if len(secret) > 12 {
					require.NotContains(t, w.logs.String()+got.Body.String(), secret)
				}
			}
			for _, name := range []string{"ann", w.issuer.id} {
				require.NotContains(t, w.logs.String()+got.Body.String(), name)
			}
		})
	}
	require.Equal(t, 1, w.issuer.count(), "one fetch, and no second within 30 seconds")
}

// TestTwoHeaders sends Authorization twice.
func TestTwoHeaders(t *testing.T) {
	w := newWorld(t, "")
	r := post("Bearer " + w.token())
	r.Header.Add("Authorization", "Bearer "+w.token())
	require.Equal(t, http.StatusUnauthorized, w.do(r).Code)
	require.Equal(t, auth.ReasonMalformed, w.last.Reason)
}

// TestTokenElsewhere: a token in the query is none.
func TestTokenElsewhere(t *testing.T) {
	w := newWorld(t, "")
	r := post("")
	r.URL.RawQuery = "access_token=" + w.token()
	require.Equal(t, http.StatusUnauthorized, w.do(r).Code)
	require.Equal(t, auth.ReasonNone, w.last.Reason)
	require.Zero(t, w.issuer.count())
}

// TestEveryMethod: no method goes unchallenged, and all reach the server with a
// token.
func TestEveryMethod(t *testing.T) {
	w := newWorld(t, "")
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "TRACE", "MKCOL"} {
		t.Run(method, func(t *testing.T) {
			r := post("")
			r.Method = method
			got := w.do(r)
			require.Equal(t, http.StatusUnauthorized, got.Code)
			require.Equal(t, challenge, got.Header().Get("WWW-Authenticate"))

			r = post("Bearer " + w.token())
			r.Method = method
			want := http.StatusMethodNotAllowed
			if method == "POST" {
				want = http.StatusOK
			}
			require.Equal(t, want, w.do(r).Code)
		})
	}
}

// TestPages: a page of an allowed origin may ask without credentials what it
// may send, and reads the challenge; another page is not challenged at all.
func TestPages(t *testing.T) {
	w := newWorld(t, "")
	r := httptest.NewRequest(http.MethodOptions, resourceURL, nil)
	r.Header.Set("Origin", "https://app.example")
	r.Header.Set("Access-Control-Request-Method", "POST")
	r.Header.Set("Access-Control-Request-Headers", "authorization")
	got := w.do(r)
	require.Equal(t, http.StatusNoContent, got.Code)
	require.Contains(t, got.Header().Get("Access-Control-Allow-Headers"), "authorization")

	r = post("")
	r.Header.Set("Origin", "https://app.example")
	got = w.do(r)
	require.Equal(t, http.StatusUnauthorized, got.Code)
	require.Equal(t, challenge, got.Header().Get("WWW-Authenticate"))
	require.Equal(t, "https://app.example", got.Header().Get("Access-Control-Allow-Origin"))
	require.Contains(t, got.Header().Get("Access-Control-Expose-Headers"), "WWW-Authenticate")

	r = post("Bearer " + w.token())
	r.Header.Set("Origin", "https://evil.example")
	require.Equal(t, http.StatusForbidden, w.do(r).Code)
	require.Zero(t, w.issuer.count())
}

// TestPrincipal: who a token names.
func TestPrincipal(t *testing.T) {
	i, c := newIssuer(t, "/tenant/"), newClock()
	j, err := auth.NewJWT([]auth.Issuer{{URL: i.id}}, []string{resourceURL, "api-7"}, auth.JWTOptions{Now: c.Now})
	require.NoError(t, err)
	for _, tt := range []struct {
		name  string
		edits []func(*grant)
		want  auth.Caller
	}{
		{"client_id", nil, auth.Caller{Principal: mrtr.Principal{Issuer: i.id, Subject: "ann", Client: "client"}, Scopes: []string{"mcp"}}},
		{"azp", []func(*grant){with("client_id", nil), with("azp", "party")}, auth.Caller{Principal: mrtr.Principal{Issuer: i.id, Subject: "ann", Client: "party"}, Scopes: []string{"mcp"}}},
		{"both", []func(*grant){with("azp", "party")}, auth.Caller{Principal: mrtr.Principal{Issuer: i.id, Subject: "ann", Client: "client"}, Scopes: []string{"mcp"}}},
		{"neither", []func(*grant){with("client_id", nil)}, auth.Caller{Principal: mrtr.Principal{Issuer: i.id, Subject: "ann"}, Scopes: []string{"mcp"}}},
		{"the issuer's name of the resource", []func(*grant){with("aud", "api-7"), with("scope", " a  b "), with("scp", []string{"c"})},
			auth.Caller{Principal: mrtr.Principal{Issuer: i.id, Subject: "ann", Client: "client"}, Scopes: []string{"a", "b", "c"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := j.Authenticate(post("Bearer " + i.grant(c.Now(), tt.edits...)))
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestNewJWTErrors(t *testing.T) {
	good := []auth.Issuer{{URL: "https://issuer.example"}}
	for _, tt := range []struct {
		name      string
		issuers   []auth.Issuer
		audiences []string
		says      string
	}{
		{"no issuer", nil, []string{"a"}, "need an issuer"},
		{"no audience", good, nil, "and an audience"},
		{"an empty audience", good, []string{""}, "audience is empty"},
		{"an issuer that is no URL", []auth.Issuer{{URL: "issuer.example"}}, []string{"a"}, `issuer "issuer.example"`},
		{"an issuer without TLS", []auth.Issuer{{URL: "http://issuer.example"}}, []string{"a"}, "not https"},
		{"a loopback look-alike", []auth.Issuer{{URL: "http://127.0.0.1.example"}}, []string{"a"}, "not https"},
		{"an issuer with a query", []auth.Issuer{{URL: "https://issuer.example?x"}}, []string{"a"}, "not a URL of scheme"},
		{"an issuer with a password", []auth.Issuer{{URL: "https://a:b@issuer.example"}}, []string{"a"}, "not a URL of scheme"},
		{"an issuer twice", append(good, good...), []string{"a"}, "listed twice"},
		{"keys without TLS", []auth.Issuer{{URL: "https://issuer.example", KeysURL: "http://issuer.example/keys"}}, []string{"a"}, "is no https URL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := auth.NewJWT(tt.issuers, tt.audiences, auth.JWTOptions{})
			require.ErrorContains(t, err, tt.says)
		})
	}
	_, err := auth.NewJWT([]auth.Issuer{{URL: "https://issuer.example"}, {URL: "https://issuer.example/"}}, []string{"a"}, auth.JWTOptions{})
	require.NoError(t, err, "two issuers")
}

// FuzzToken: no string but the issuer's own tokens names anybody.
func FuzzToken(f *testing.F) {
	i, c := newIssuer(f, ""), newClock()
	j, err := auth.NewJWT([]auth.Issuer{{URL: i.id}}, []string{resourceURL}, auth.JWTOptions{Now: c.Now})
	require.NoError(f, err)
	good := i.grant(c.Now())
	parts := strings.Split(good, ".")
	seeds := []string{
		good, parts[0] + "." + parts[1] + ".", b64(`{"alg":"none"}`) + "." + parts[1] + ".",
		i.grant(c.Now(), func(g *grant) { g.key = otherKey }), "a.b.c", "..", "", good + "=", " " + good,
		i.grant(c.Now(), func(g *grant) { g.header["b64"], g.header["crit"] = false, []string{"b64"} }),
	}
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, token string) {
		got, err := j.Authenticate(post("Bearer " + token))
		if err != nil {
			require.Equal(t, auth.Caller{}, got)
			return
		}
		// ECDSA signatures can be made into others of the same text; nothing else can.
		require.True(t, strings.HasPrefix(strings.Trim(token, " "), parts[0]+"."+parts[1]+"."))
		require.Equal(t, "ann", got.Subject)
	})
}

func BenchmarkJWT(b *testing.B) {
	i, c := newIssuer(b, ""), newClock()
	j, err := auth.NewJWT([]auth.Issuer{{URL: i.id}}, []string{resourceURL}, auth.JWTOptions{Now: c.Now})
	require.NoError(b, err)
	for _, bb := range []struct {
		name  string
		edits []func(*grant)
	}{
		{"ES256", nil},
		{"RS256", []func(*grant){func(g *grant) { g.alg, g.key, g.kid = jose.RS256, rsaKey, "rsa" }}},
		{"RS256-8kB", []func(*grant){func(g *grant) { g.alg, g.key, g.kid = jose.RS256, rsaKey, "rsa" }, with("groups", strings.Repeat("g", 8000))}},
	} {
		r := post("Bearer " + i.grant(c.Now(), bb.edits...))
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := j.Authenticate(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
