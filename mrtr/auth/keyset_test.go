package auth_test

import (
	"crypto/fips140"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/auth"
)

func ofOther(g *grant) { g.key, g.kid = otherKey, "new" }

// unavailable sends a token and expects 503, and no challenge, which would send
// the client to fetch a token that is no better.
func (w *world) unavailable(t *testing.T, token string) {
	t.Helper()
	got := w.do(post("Bearer " + token))
	require.Equal(t, http.StatusServiceUnavailable, got.Code)
	require.Empty(t, got.Header().Get("WWW-Authenticate"))
	require.NotEmpty(t, got.Header().Get("Retry-After"))
	require.Equal(t, auth.ReasonUnavailable, w.last.Reason)
	require.ErrorIs(t, w.last.Err, auth.ErrUnavailable)
	require.NotContains(t, w.logs.String()+got.Body.String(), "secret reason")
}

// TestKeysAreKept: keys are fetched at the first need, and again when an hour
// has passed.
func TestKeysAreKept(t *testing.T) {
	w := newWorld(t, "")
	require.Zero(t, w.issuer.count(), "nothing is fetched at start")
	require.Equal(t, http.StatusUnauthorized, w.do(post("")).Code)
	require.Equal(t, http.StatusUnauthorized, w.status(w.token(with("iss", "https://other.example"))))
	require.Zero(t, w.issuer.count(), "nor for what is refused without")
	for range 3 {
		require.Equal(t, http.StatusOK, w.status(w.token()))
	}
	require.Equal(t, map[string]int{"/.well-known/openid-configuration": 1, "/keys": 1}, w.issuer.counts())
	w.clock.Add(time.Hour - time.Second)
	require.Equal(t, http.StatusOK, w.status(w.token()))
	require.Equal(t, 1, w.issuer.count())

	// A key that the issuer has withdrawn is good no longer than that.
	w.issuer.publish(jose.JSONWebKey{Key: rsaKey.Public(), KeyID: "rsa"})
	w.clock.Add(time.Second)
	require.Equal(t, http.StatusUnauthorized, w.status(w.token()))
	require.Equal(t, auth.ReasonKey, w.last.Reason)
	require.Equal(t, 2, w.issuer.count())
}

// TestUnknownKey: one refresh, and the next after 30 seconds.
func TestUnknownKey(t *testing.T) {
	w := newWorld(t, "")
	require.Equal(t, http.StatusOK, w.status(w.token()))
	w.clock.Add(30 * time.Second)
	for range 5 {
		require.Equal(t, http.StatusUnauthorized, w.status(w.token(ofOther)))
		require.Equal(t, auth.ReasonKey, w.last.Reason)
	}
	require.Equal(t, 2, w.issuer.count(), "one refresh")

	// The issuer changes its key at the wrong moment: known after the wait.
	w.issuer.publish(jose.JSONWebKey{Key: otherKey.Public(), KeyID: "new"}, jose.JSONWebKey{Key: ecKey.Public(), KeyID: "ec"})
	w.clock.Add(29 * time.Second)
	require.Equal(t, http.StatusUnauthorized, w.status(w.token(ofOther)))
	w.clock.Add(time.Second)
	require.Equal(t, http.StatusOK, w.status(w.token(ofOther)))
	require.Equal(t, http.StatusOK, w.status(w.token()))
	require.Equal(t, 3, w.issuer.count())
}

// TestForgeriesFetchNothing: a signature that does not fit a known key is no
// reason to ask the issuer.
func TestForgeriesFetchNothing(t *testing.T) {
	w := newWorld(t, "")
	require.Equal(t, http.StatusOK, w.status(w.token()))
	w.clock.Add(time.Minute)
	require.Equal(t, http.StatusUnauthorized, w.status(w.token(func(g *grant) { g.key = otherKey })))
	require.Equal(t, 1, w.issuer.count())
}

// TestIssuerDown: without keys 503, with keys everything goes on but what needs
// a new one.
func TestIssuerDown(t *testing.T) {
	w := newWorld(t, "")
	w.issuer.setDown(true)
	w.unavailable(t, w.token())
	w.unavailable(t, w.token())
	require.Equal(t, 1, w.issuer.counts()["/.well-known/openid-configuration"], "not asked twice in a second")
	require.Equal(t, http.StatusUnauthorized, w.do(post("")).Code, "what needs no key is judged")
	w.clock.Add(time.Second)
	w.unavailable(t, w.token())
	require.Equal(t, 2, w.issuer.counts()["/.well-known/openid-configuration"])

	w.issuer.setDown(false)
	w.clock.Add(time.Second)
	require.Equal(t, http.StatusOK, w.status(w.token()))

	w.issuer.setDown(true)
	w.clock.Add(2 * time.Hour)
	asked := w.issuer.counts()["/.well-known/openid-configuration"]
	for range 3 {
		require.Equal(t, http.StatusOK, w.status(w.token()), "cached keys go on")
	}
	require.Equal(t, asked+1, w.issuer.counts()["/.well-known/openid-configuration"])
	w.unavailable(t, w.token(ofOther))
	w.clock.Add(48 * time.Hour)
	require.Equal(t, http.StatusOK, w.status(w.token()))
	require.Equal(t, http.StatusUnauthorized, w.status(w.token(with("aud", "x"))))

	w.issuer.setDown(false)
	w.issuer.publish(jose.JSONWebKey{Key: otherKey.Public(), KeyID: "new"})
	w.clock.Add(30 * time.Second)
	require.Equal(t, http.StatusOK, w.status(w.token(ofOther)))
	require.Equal(t, http.StatusUnauthorized, w.status(w.token()))
}

// TestClockSetBack: a clock that goes back does not put off the next fetch.
func TestClockSetBack(t *testing.T) {
	w := newWorld(t, "")
	require.Equal(t, http.StatusOK, w.status(w.token()))
	w.clock.Add(-24 * time.Hour)
	require.Equal(t, http.StatusUnauthorized, w.status(w.token(ofOther)))
	require.Equal(t, 2, w.issuer.count())
}

// TestOneFetchForAll: requests that come while keys are fetched wait for that
// fetch.
func TestOneFetchForAll(t *testing.T) {
	i, c := newIssuer(t, ""), newClock()
	entered, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	i.gate = func(string) {
		once.Do(func() { close(entered) })
		<-release
	}
	j, err := auth.NewJWT([]auth.Issuer{{URL: i.id, KeysURL: i.URL + "/keys"}}, []string{resourceURL}, auth.JWTOptions{Now: c.Now})
	require.NoError(t, err)
	const n = 16
	results := make(chan error, n)
	send := func() {
		_, err := j.Authenticate(post("Bearer " + i.grant(c.Now())))
		results <- err
	}
	go send()
	<-entered
	for range n - 1 {
		go send()
	}
	close(release)
	for range n {
		require.NoError(t, <-results)
	}
	require.Equal(t, map[string]int{"/keys": 1}, i.counts(), "and no metadata where the keys' place is set")
}

// TestFetchOutlivesItsCaller: a client that leaves does not spoil the fetch for
// those who wait.
func TestFetchOutlivesItsCaller(t *testing.T) {
	i, c := newIssuer(t, ""), newClock()
	entered, release := make(chan struct{}, 9), make(chan struct{})
	i.gate = func(string) { entered <- struct{}{}; <-release }
	j, err := auth.NewJWT([]auth.Issuer{{URL: i.id, KeysURL: i.URL + "/keys"}}, []string{resourceURL}, auth.JWTOptions{Now: c.Now})
	require.NoError(t, err)
	ctx, cancel := contextWithCancel(t)
	results := make(chan error, 2)
	go func() {
		_, err := j.Authenticate(post("Bearer " + i.grant(c.Now())).WithContext(ctx))
		results <- err
	}()
	<-entered
	cancel()
	waiting, leave := contextWithCancel(t)
	leave()
	_, err = j.Authenticate(post("Bearer " + i.grant(c.Now())).WithContext(waiting))
	require.ErrorIs(t, err, auth.ErrUnavailable, "one that waits may leave")
	close(release)
	require.NoError(t, <-results)
	require.Equal(t, 1, i.count())
}

// TestIssuerSpelling: an issuer is found and believed as it is spelt, with and
// without a slash, with and without a path.
func TestIssuerSpelling(t *testing.T) {
	for _, path := range []string{"", "/", "/tenant", "/tenant/", "/a/b"} {
		t.Run("at "+path, func(t *testing.T) {
			w := newWorld(t, path)
			require.Equal(t, http.StatusOK, w.status(w.token()))
			other := strings.TrimSuffix(w.issuer.id, "/")
			if other == w.issuer.id {
				other += "/"
			}
			require.Equal(t, http.StatusUnauthorized, w.status(w.token(with("iss", other))))
			require.Equal(t, auth.ReasonIssuer, w.last.Reason)

			// Set up with the other spelling, the issuer's metadata gives it away.
			w.endpoint = newEndpoint(t, newGuard(t, w.clock, auth.Issuer{URL: other}), w.clock)
			w.unavailable(t, w.token(with("iss", other)))
			require.ErrorContains(t, w.last.Err, "spells itself otherwise")
		})
	}
}

// TestDiscovery: where metadata is looked for, and what is made of it.
func TestDiscovery(t *testing.T) {
	const oidc, oauth, inserted = "/tenant/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/tenant", "/.well-known/openid-configuration/tenant"
	status := func(code int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	for _, tt := range []struct {
		name   string
		set    func(i *issuer)
		status int
		says   string
		asked  []string
	}{
		{"OpenID Connect", func(*issuer) {}, 200, "", []string{oidc, "/keys"}},
		{"RFC 8414", func(i *issuer) { i.reply(oidc, nil); i.reply(oauth, i.metadata()) }, 200, "", []string{oidc, oauth, "/keys"}},
		{"path in the middle", func(i *issuer) { i.reply(oidc, status(403)); i.reply(inserted, i.metadata()) }, 200, "", []string{oidc, oauth, inserted, "/keys"}},
		{"nowhere", func(i *issuer) { i.reply(oidc, nil) }, 503, "no metadata found", []string{oidc, oauth, inserted}},
		{"broken", func(i *issuer) { i.reply(oidc, status(500)); i.reply(oauth, i.metadata()) }, 503, "answered status 500", []string{oidc}},
		{"of another issuer", func(i *issuer) {
			i.reply(oidc, jsonReply(map[string]any{"issuer": "https://other.example", "jwks_uri": i.URL + "/keys"}))
		}, 503, "spells itself otherwise", []string{oidc}},
		{"no JSON", func(i *issuer) { i.reply(oidc, jsonReply("x")) }, 503, "is no metadata", []string{oidc}},
		{"two issuers", func(i *issuer) {
			i.reply(oidc, jsonReply(json.RawMessage(fmt.Sprintf(`{"issuer":"https://other.example","issuer":%q,"jwks_uri":%q}`, i.id, i.URL+"/keys"))))
		}, 503, "is no metadata", []string{oidc}},
		{"keys without TLS", func(i *issuer) {
			i.reply(oidc, jsonReply(map[string]any{"issuer": i.id, "jwks_uri": "http://keys.example/keys"}))
		}, 503, "jwks_uri is no https URL", []string{oidc}},
		{"no keys", func(i *issuer) { i.reply(oidc, jsonReply(map[string]any{"issuer": i.id})) }, 503, "jwks_uri is no https URL", []string{oidc}},
		{"moved", func(i *issuer) {
			i.reply(oidc, http.RedirectHandler("/moved", http.StatusFound))
			i.reply("/moved", i.metadata())
		}, 200, "", []string{oidc, "/moved", "/keys"}},
		{"moved to where it can be changed", func(i *issuer) {
			i.reply(oidc, http.RedirectHandler("http://metadata.example/", http.StatusFound))
		}, 503, "no metadata found", []string{oidc, oauth, inserted}},
		{"moved in circles", func(i *issuer) { i.reply(oidc, http.RedirectHandler(oidc, http.StatusFound)) }, 503, "no metadata found", nil},
		{"huge", func(i *issuer) { i.reply("/keys", jsonReply(strings.Repeat("x", 1<<20))) }, 503, "has more than 1048576 bytes", []string{oidc, "/keys"}},
		{"keys that are none", func(i *issuer) { i.reply("/keys", jsonReply(map[string]any{"keys": "x"})) }, 503, "no JWK set", []string{oidc, "/keys"}},
		{"a document that is no set", func(i *issuer) { i.reply("/keys", jsonReply(map[string]any{})) }, 503, "no JWK set", []string{oidc, "/keys"}},
		{"too many keys", func(i *issuer) { i.reply("/keys", jsonReply(map[string]any{"keys": make([]int, 101)})) }, 503, "no JWK set", []string{oidc, "/keys"}},
		{"keys gone", func(i *issuer) { i.reply("/keys", status(404)) }, 503, "answered status 404", []string{oidc, "/keys"}},
		{"an empty set", func(i *issuer) { i.publish() }, 401, "", []string{oidc, "/keys"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "/tenant")
			tt.set(w.issuer)
			require.Equal(t, tt.status, w.status(w.token()))
			if tt.says != "" {
				require.ErrorContains(t, w.last.Err, tt.says)
			}
			counts := w.issuer.counts()
			for _, path := range tt.asked {
				require.Equal(t, 1, counts[path], path)
			}
			if tt.asked != nil {
				require.Len(t, counts, len(tt.asked))
			}
		})
	}
}

// TestOddKeys: keys that cannot be used are left out and hide nobody.
func TestOddKeys(t *testing.T) {
	w := newWorld(t, "")
	w.issuer.extra = []any{
		map[string]any{"kty": "oct", "kid": "ec", "k": b64("secret")},
		map[string]any{"kty": "OKP", "crv": "Ed448", "kid": "ed", "x": "AA"},
		map[string]any{"kty": "EC", "crv": "secp256k1", "kid": "ec", "x": "AA", "y": "AA"},
		map[string]any{"kty": 5}, "x", nil,
		jose.JSONWebKey{Key: otherKey.Public(), KeyID: "for encryption", Use: "enc"},
		jose.JSONWebKey{Key: otherKey.Public(), KeyID: "of another algorithm", Algorithm: "ES384"},
		jose.JSONWebKey{Key: otherKey.Public(), KeyID: "ec"}, // an id twice
	}
	require.Equal(t, http.StatusOK, w.status(w.token()))
	require.Equal(t, http.StatusOK, w.status(w.token(func(g *grant) { g.key = otherKey })), "either key of that id")
	for _, kid := range []string{"for encryption", "of another algorithm"} {
		require.Equal(t, http.StatusUnauthorized, w.status(w.token(func(g *grant) { g.key, g.kid = otherKey, kid })))
		require.Equal(t, auth.ReasonKey, w.last.Reason)
	}
}

// TestSmallKeys: an RSA key of less than 2048 bits is as good as none.
func TestSmallKeys(t *testing.T) {
	if fips140.Enforced() {
		t.Skip("there are no small keys in this mode")
	}
	for bits, want := range map[int]int{1024: http.StatusUnauthorized, 2048: http.StatusOK} {
		key := must(rsa.GenerateKey(rand.Reader, bits))
		w := newWorld(t, "")
		w.issuer.publish(jose.JSONWebKey{Key: key.Public(), KeyID: "k"})
		require.Equal(t, want, w.status(w.token(func(g *grant) { g.alg, g.key, g.kid = jose.RS256, key, "k" })), bits)
	}
}

// TestIssuersApart: each issuer's keys are good for its own tokens alone.
func TestIssuersApart(t *testing.T) {
	one, two, c := newIssuer(t, ""), newIssuer(t, ""), newClock()
	two.publish(jose.JSONWebKey{Key: otherKey.Public(), KeyID: "ec"})
	e := newEndpoint(t, newGuard(t, c, auth.Issuer{URL: one.id}, auth.Issuer{URL: two.id}), c)
	status := func(token string) int { return e.do(post("Bearer " + token)).Code }
	of := func(g *grant) { g.key = otherKey }
	require.Equal(t, http.StatusOK, status(one.grant(c.Now())))
	require.Equal(t, http.StatusOK, status(two.grant(c.Now(), of)))
	require.Equal(t, http.StatusUnauthorized, status(one.grant(c.Now(), of)))
	require.Equal(t, http.StatusUnauthorized, status(two.grant(c.Now())))
	two.setDown(true)
	c.Add(2 * time.Hour)
	require.Equal(t, http.StatusOK, status(one.grant(c.Now())))
}
