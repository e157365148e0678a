package signin

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

func address(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	require.NoError(t, err)
	return u
}

func TestBearer(t *testing.T) {
	var got []string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
	}))
	defer srv.Close()
	transport, err := Bearer(address(t, srv.URL+"/mcp"), "abc")
	require.NoError(t, err)
	c := &http.Client{Transport: transport}
	resp, err := c.Post(srv.URL+"/mcp", "text/plain", strings.NewReader("x"))
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, []string{"Bearer abc"}, got)

	// Nowhere else.
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("sent to another host") }))
	defer other.Close()
	_, err = c.Post(other.URL, "text/plain", strings.NewReader("x"))
	require.ErrorContains(t, err, "credentials are not sent to")
	require.NotContains(t, err.Error(), "abc")
}

func TestBearerRefuses(t *testing.T) {
	for _, tt := range []struct{ endpoint, token, want string }{
		{"http://example.com/mcp", "abc", "in clear text"},
		{"http://192.0.2.1/mcp", "abc", "in clear text"},
		{"http://localhost.example.com/mcp", "abc", "in clear text"},
		{"https://example.com/mcp", "", "empty"},
		{"https://example.com/mcp", "a b", "characters"},
		{"https://example.com/mcp", "a\nHost: x", "characters"},
	} {
		_, err := Bearer(address(t, tt.endpoint), tt.token)
		require.ErrorContains(t, err, tt.want)
	}
	for _, endpoint := range []string{"https://example.com/mcp", "http://localhost:1/mcp", "http://127.0.0.1/mcp", "http://[::1]:8080/mcp"} {
		_, err := Bearer(address(t, endpoint), "abc")
		require.NoError(t, err)
	}
}

// TestAWS: what arrives is what was signed, its body and MCP’s headers too.
func TestAWS(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	credentials := aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret", SessionToken: "session"}
	var got *http.Request
	var body string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, body = r, string(b)
	}))
	defer srv.Close()
	cfg := aws.Config{Region: "eu-west-3", Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return credentials, nil
	})}
	transport, err := AWS(address(t, srv.URL+"/mcp"), cfg, func() time.Time { return now })
	require.NoError(t, err)
	r, err := http.NewRequest(http.MethodPost, srv.URL+"/mcp", strings.NewReader(`{"jsonrpc":"2.0"}`))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Method", "tools/call")
	resp, err := (&http.Client{Transport: transport}).Do(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Empty(t, r.Header.Get("Authorization"), "the caller's request is left alone")

	sent := got.Header.Get("Authorization")
	require.Contains(t, sent, "Credential=AKIDEXAMPLE/20270115/eu-west-3/execute-api/aws4_request")
	require.Contains(t, sent, "SignedHeaders=content-length;content-type;host;mcp-method;x-amz-date;x-amz-security-token")
	require.Equal(t, `{"jsonrpc":"2.0"}`, body)
	// The same by the signer alone, with the hash of that body written out.
	again, err := http.NewRequest(http.MethodPost, srv.URL+"/mcp", strings.NewReader(body))
	require.NoError(t, err)
	again.Header.Set("Content-Type", "application/json")
	again.Header.Set("Mcp-Method", "tools/call")
	const hash = "049aba59a5035ce3ebb781e1f9176faa52302d2f5cb23b9a692673654f334fe6"
	require.NoError(t, v4.NewSigner().SignHTTP(t.Context(), credentials, again, hash, "execute-api", "eu-west-3", now))
	require.Equal(t, sent, again.Header.Get("Authorization"))
}

func TestAWSNames(t *testing.T) {
	for host, want := range map[string][2]string{
		"abc123.execute-api.eu-central-1.amazonaws.com":       {"execute-api", "eu-central-1"},
		"abc123.execute-api.cn-north-1.amazonaws.com.cn":      {"execute-api", "cn-north-1"},
		"abc123.lambda-url.us-east-1.on.aws":                  {"lambda", "us-east-1"},
		"mcp.example.com":                                     {"execute-api", ""},
		"127.0.0.1":                                           {"execute-api", ""},
		"abc123.lambda-url.us-east-1.on.aws.attacker.example": {"execute-api", ""},
	} {
		service, region := awsName(host)
		require.Equal(t, want, [2]string{service, region}, host)
	}
	_, err := AWS(address(t, "https://mcp.example.com/mcp"), aws.Config{}, nil)
	require.ErrorContains(t, err, "no AWS region")
	_, err = AWS(address(t, "https://mcp.example.com/mcp"), aws.Config{Region: "eu-west-3"}, nil)
	require.ErrorContains(t, err, "no AWS credentials")
}

func TestStore(t *testing.T) {
	s := store{t.TempDir() + "/mrtr/tokens"}
	k, err := s.read("https://a.example/mcp")
	require.NoError(t, err)
	require.Nil(t, k)

	c := &oauth2.Config{ClientID: "me", Endpoint: oauth2.Endpoint{TokenURL: "https://as.example/token", AuthStyle: oauth2.AuthStyleInParams}}
	token := &oauth2.Token{AccessToken: "access", RefreshToken: "refresh", TokenType: "Bearer", Expiry: time.Unix(1_800_000_000, 0).UTC()}
	require.NoError(t, s.write(keep("https://a.example/mcp", c, token)))
	k, err = s.read("https://a.example/mcp")
	require.NoError(t, err)
	require.Equal(t, token, k.token())
	require.Equal(t, c, k.config())

	// Another endpoint has another token, and only the user reads it.
	other, err := s.read("https://a.example/mcp2")
	require.NoError(t, err)
	require.Nil(t, other)
	info, err := os.Stat(s.path("https://a.example/mcp"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	dir, err := os.Stat(s.dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), dir.Mode().Perm())
	left, err := os.ReadDir(s.dir)
	require.NoError(t, err)
	require.Len(t, left, 1)

	// What cannot be read is as none.
	require.NoError(t, os.WriteFile(s.path("https://a.example/mcp"), []byte("{"), 0o600))
	k, err = s.read("https://a.example/mcp")
	require.NoError(t, err)
	require.Nil(t, k)
}

// TestSecretStaysWithItsIssuer holds that a client's secret goes to the
// authorization server that it is for, whichever one the endpoint names.
func TestSecretStaysWithItsIssuer(t *testing.T) {
	var mu sync.Mutex
	var got []string // what came to the token endpoint
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	defer srv.Close()
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.ReplaceAll(text, "BASE", srv.URL))
		}
	}
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+srv.URL+`/resource"`)
		w.WriteHeader(http.StatusUnauthorized)
	})
	mux.HandleFunc("/resource", says(`{"resource":"BASE/mcp","authorization_servers":["BASE"]}`))
	mux.HandleFunc("/.well-known/oauth-authorization-server", says(`{"issuer":"BASE","authorization_endpoint":"BASE/authorize",
		"token_endpoint":"BASE/token","response_types_supported":["code"],"code_challenge_methods_supported":["S256"],
		"token_endpoint_auth_methods_supported":["client_secret_post"]}`))
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.FormValue("client_secret"))
		says(`{"access_token":"a","token_type":"Bearer"}`)(w, r)
	})
	for _, tt := range []struct {
		issuer string
		err    string
		want   []string
	}{
		{"https://auth.example", "does not match", nil},
		{srv.URL, "", []string{"the secret"}},
	} {
		got = nil
		o := Options{Dir: t.TempDir(), ClientID: "mine", ClientSecret: "the secret", Issuer: tt.issuer}
		o.Show = func(address string) error {
			u, err := url.Parse(address)
			if err != nil {
				return err
			}
			go func() {
				resp, err := http.Get(u.Query().Get("redirect_uri") + "?code=c&state=" + u.Query().Get("state"))
				if err == nil {
					_ = resp.Body.Close()
				}
			}()
			return nil
		}
		h, err := OAuth(address(t, srv.URL+"/mcp"), o)
		require.NoError(t, err)
		resp, err := http.Get(srv.URL + "/mcp")
		require.NoError(t, err)
		err = h.Authorize(t.Context(), resp.Request, resp)
		if tt.err == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, tt.err)
		}
		require.Equal(t, tt.want, got)
	}
	_, err := OAuth(address(t, srv.URL+"/mcp"), Options{ClientID: "mine", ClientSecret: "the secret"})
	require.ErrorContains(t, err, "without the authorization server")
	require.NotContains(t, err.Error(), "the secret")
}

// TestRefreshIsNotRedirected holds that a refresh token and a secret go where
// they are for and nowhere else.
func TestRefreshIsNotRedirected(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("sent to another place") }))
	defer other.Close()
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer srv.Close()
	h := &handler{store: store{t.TempDir()}}
	source := h.saving(
		&oauth2.Config{ClientID: "me", ClientSecret: "hidden", Endpoint: oauth2.Endpoint{TokenURL: srv.URL, AuthStyle: oauth2.AuthStyleInParams}},
		&oauth2.Token{AccessToken: "access", RefreshToken: "refresh", Expiry: time.Unix(1, 0)})
	_, err := source.Token()
	require.ErrorContains(t, err, "meant for it alone")
	require.NotContains(t, err.Error(), "hidden")
}
