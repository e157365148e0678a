package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

// bootstrap is the binary of functions/mcp.
var bootstrap string

func TestMain(m *testing.M) {
	os.Unsetenv("AWS_CA_BUNDLE")
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "smoke")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		bootstrap = filepath.Join(dir, "bootstrap")
		return m.Run()
	}())
}

// build builds the bootstrap, once.
func build(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(bootstrap); err != nil {
		require.NoError(t, lambdatest.Build(t.Context(), ".", "../../functions/mcp", bootstrap))
	}
}

// startLocal runs the endpoint as make run does and returns its URL.
func startLocal(t *testing.T, env ...string) string {
	t.Helper()
	build(t)
	cmd := exec.CommandContext(t.Context(), bootstrap, "-addr", "127.0.0.1:0")
	cmd.Env = append([]string{"AWS_CONFIG_FILE=" + os.DevNull}, env...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// smoke runs the tool and returns what it printed, and whether nothing failed.
// No credentials and no state may be in it.
func smoke(t *testing.T, env map[string]string, args ...string) (string, bool) {
	t.Helper()
	s, err := parse(args, func(name string) string { return env[name] }, &strings.Builder{})
	require.NoError(t, err)
	return smokeWith(t, s)
}

func smokeWith(t *testing.T, s *settings) (string, bool) {
	t.Helper()
	var out strings.Builder
	ok := run(t.Context(), s, &out)
	for _, secret := range []string{s.token, s.otherToken} {
		if secret != "" {
			require.NotContains(t, out.String(), secret)
		}
	}
	require.NotRegexp(t, `AR[A-Za-z0-9_-]{60}`, out.String(), "a state")
	return out.String(), ok
}

// verdict returns the line of a check.
func verdict(t *testing.T, out, check string) string {
	t.Helper()
	for line := range strings.SplitSeq(out, "\n") {
		if len(line) > 6 && strings.HasPrefix(line[6:], check) {
			return strings.Join(strings.Fields(line), " ")
		}
	}
	t.Fatalf("no line for %q in\n%s", check, out)
	return ""
}

// verdicts counts the lines of each outcome.
func verdicts(out string) map[string]int {
	n := map[string]int{}
	for line := range strings.SplitSeq(out, "\n") {
		if word, _, ok := strings.Cut(line, "  "); ok && (word == "pass" || word == "FAIL" || word == "skip") {
			n[word]++
		}
	}
	return n
}

// issuer is an OpenID Connect issuer on this machine.
type issuer struct {
	*httptest.Server
	key *ecdsa.PrivateKey
}

func newIssuer(t *testing.T) *issuer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	i := &issuer{key: key}
	mux := http.NewServeMux()
	reply := func(v any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(v) }
	}
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	mux.Handle("/.well-known/openid-configuration", reply(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"}))
	mux.Handle("/keys", reply(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Use: "sig"}}}))
	return i
}

// token returns a fresh access token.
func (i *issuer) token(t *testing.T, subject, audience, scope string) string {
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: i.key, KeyID: "k"}}, nil)
	require.NoError(t, err)
	token, err := jwt.Signed(s).Claims(jwt.Claims{
		Issuer: i.URL, Subject: subject, Audience: jwt.Audience{audience}, Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour)),
	}).Claims(map[string]any{"scope": scope, "client_id": "c"}).Serialize()
	require.NoError(t, err)
	return token
}
