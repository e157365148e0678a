package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/awslambda"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// asEndpoint is in the environment of a process of this test's binary that is to
// be an endpoint instead.
const asEndpoint = "SMOKE_TEST_ENDPOINT"

func TestMain(m *testing.M) {
	if os.Getenv(asEndpoint) != "" {
		awslambda.Main(newServer)
	}
	os.Unsetenv("AWS_CA_BUNDLE")
	os.Exit(m.Run())
}

// newServer returns a server with the tools of the contract, and one that asks
// and confirms as refund_order does.
func newServer() *mrtr.Server {
	srv := mrtr.NewServer(protocol.Implementation{Name: "smoke", Version: "1"}, nil)
	fixture.Register(srv)
	type refund struct {
		Order  string `json:"order"`
		Reason string `json:"reason"`
	}
	mrtr.AddTool(srv, mrtr.Tool{Name: "refund_order"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		r, err := mrtr.Ask[refund](c, "order", "Which order, and why?")
		if err != nil {
			return nil, err
		}
		if err := mrtr.Confirm(c, "confirm", "Refund "+r.Order+"?"); err != nil {
			return nil, err
		}
		return mrtr.Text("Refunded."), nil
	})
	return srv
}

// bootstrap returns the binary of an endpoint with those tools, which needs
// asEndpoint in its environment.
func bootstrap(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// startLocal runs the endpoint as make run does and returns its URL.
func startLocal(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bootstrap(t), "-addr", "127.0.0.1:0")
	cmd.Env = []string{asEndpoint + "=1", "AWS_CONFIG_FILE=" + os.DevNull}
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
