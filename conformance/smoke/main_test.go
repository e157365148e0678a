package main

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// TestLocal judges an endpoint as make run serves it.
func TestLocal(t *testing.T) {
	out, ok := smoke(t, nil, "-origin", "http://localhost:3000", startLocal(t))
	require.True(t, ok, out)
	require.Equal(t, map[string]int{"pass": 18, "skip": 4}, verdicts(out), out)
	require.Equal(t, "pass refund_order 3 rounds, ended by a no", verdict(t, out, "refund_order"))
	require.Equal(t, "skip no credentials neither TOKEN nor AWS=1: the endpoint is open, whoever finds it can call it", verdict(t, out, "no credentials"))
	require.Contains(t, out, "18 passed, 0 failed, 4 skipped")
	require.Regexp(t, `(?m)^first request of the run +1 +\d+\.\d +\d+\.\d +\d+\.\d$`, out)
	require.Regexp(t, `(?m)^many at once, later rounds +40 `, out)
}

// TestGateway judges a function behind each kind of gateway: open, and with
// tokens that it checks.
func TestGateway(t *testing.T) {
	fake := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(fake.Close)
	for _, kind := range []lambdatest.Kind{lambdatest.HTTPAPI, lambdatest.REST, lambdatest.FunctionURL} {
		for _, protected := range []bool{false, true} {
			t.Run(map[bool]string{false: "none ", true: "jwt "}[protected]+string(kind), func(t *testing.T) {
				server := httptest.NewUnstartedServer(nil)
				url := "http://" + server.Listener.Addr().String() + "/mcp"
				env := append(fake.Env(), asEndpoint+"=1", "MRTR_KMS_KEY_ID="+fake.CreateKey(kmstest.KeyOptions{}).ARN, "MRTR_AUDIENCE="+url,
					"MRTR_ALLOWED_ORIGINS=https://app.example")
				secrets := map[string]string{}
				want := map[string]int{"pass": 18, "skip": 4}
				if protected {
					i := newIssuer(t)
					env = append(env, "MRTR_AUTH=jwt", "MRTR_OAUTH_ISSUER="+i.URL, "MRTR_OAUTH_RESOURCE="+url, "MRTR_OAUTH_SCOPES=mcp")
					secrets["TOKEN"], secrets["OTHER_TOKEN"] = i.token(t, "ann", url, "mcp"), i.token(t, "bob", url, "mcp")
					want = map[string]int{"pass": 22, "skip": 1}
				} else {
					env = append(env, "MRTR_AUTH=none")
				}
				api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: bootstrap(t), Instances: 4, Env: env})
				require.NoError(t, err)
				t.Cleanup(func() { api.Close() })
				server.Config.Handler = api.HTTPHandler(kind)
				server.Start()
				t.Cleanup(server.Close)

				out, ok := smoke(t, secrets, "-origin", "https://app.example", url)
				require.True(t, ok, out)
				require.Equal(t, want, verdicts(out), out)
				switch {
				case !protected:
					require.Equal(t, "pass refund_order 2 rounds, then refused to a caller who is not signed in", verdict(t, out, "refund_order"))
				case kind == lambdatest.REST:
					require.Contains(t, verdict(t, out, "WWW-Authenticate"), "renamed by the REST API")
					require.Equal(t, "pass protected-resource metadata /.well-known/oauth-protected-resource/mcp", verdict(t, out, "protected-resource metadata"))
				default:
					require.Equal(t, "pass WWW-Authenticate Bearer with resource_metadata", verdict(t, out, "WWW-Authenticate"))
					require.Equal(t, "pass state: another person refused", verdict(t, out, "state: another person"))
				}
			})
		}
	}
}

// inProcess is the server with a clock of the test's.
type inProcess struct {
	http.Handler
	late time.Duration // added to the time
}

func newInProcess(t *testing.T) *inProcess {
	keys, err := requeststate.NewStaticKeys(make([]byte, requeststate.MinSecretSize))
	require.NoError(t, err)
	p := new(inProcess)
	p.Handler, err = newServer().Handler(mrtr.HandlerOptions{
		Keys: keys, Audience: "smoke", RoundTTL: time.Minute, AllowAnonymous: true,
		Now: func() time.Time { return time.Now().Add(p.late) },
	})
	require.NoError(t, err)
	return p
}

// TestExpiry gives the endpoint the time that the tool would wait.
func TestExpiry(t *testing.T) {
	for name, tt := range map[string]struct {
		ttl     time.Duration
		elapses bool
		want    string
	}{
		"expires":         {time.Minute, true, "pass state: expired refused after 1m0s"},
		"does not expire": {time.Minute, false, "FAIL state: expired accepted"},
		"too long":        {10 * time.Minute, true, "skip state: expired a ROUND_TTL of 10m0s is more than this run waits for"},
		"not known":       {0, true, "skip state: expired no ROUND_TTL"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newInProcess(t)
			server := httptest.NewServer(p)
			t.Cleanup(server.Close)
			s, err := parse([]string{"-round-ttl", tt.ttl.String(), server.URL + "/mcp"}, func(string) string { return "" }, nil)
			require.NoError(t, err)
			s.wait = func(_ context.Context, d time.Duration) error {
				if tt.elapses {
					p.late += d
				}
				return nil
			}
			out, ok := smokeWith(t, s)
			require.Equal(t, !strings.HasPrefix(tt.want, "FAIL"), ok, out)
			require.Equal(t, tt.want, verdict(t, out, "state: expired"))
		})
	}
}

// TestSigned judges an endpoint that takes signed requests alone.
func TestSigned(t *testing.T) {
	p := newInProcess(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const want = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"
		if a := r.Header.Get("Authorization"); r.Method != http.MethodOptions && (!strings.HasPrefix(a, want) || !strings.Contains(a, "/eu-west-1/execute-api/aws4_request")) {
			http.Error(w, `{"message":"Missing Authentication Token"}`, http.StatusForbidden)
			return
		}
		p.ServeHTTP(w, r.WithContext(mrtr.WithPrincipal(r.Context(), mrtr.Principal{Issuer: "aws", Subject: "AIDAEXAMPLE"})))
	}))
	t.Cleanup(server.Close)
	s, err := parse([]string{"-aws", server.URL + "/mcp"}, func(string) string { return "" }, nil)
	require.NoError(t, err)
	s.sign = newSigner(aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "never-shown"}, nil
	}), "execute-api", "eu-west-1")
	out, ok := smokeWith(t, s)
	require.True(t, ok, out)
	require.Equal(t, "pass no credentials HTTP 403", verdict(t, out, "no credentials"))
	require.NotContains(t, out, "AKIDEXAMPLE")
	require.NotContains(t, out, "never-shown")
}

func TestSignedFor(t *testing.T) {
	for host, want := range map[string][2]string{
		"a1b2.execute-api.eu-west-3.amazonaws.com":     {"execute-api", "eu-west-3"},
		"a1b2.execute-api.cn-north-1.amazonaws.com.cn": {"execute-api", "cn-north-1"},
		"a1b2.lambda-url.us-east-2.on.aws":             {"lambda", "us-east-2"},
		"mcp.example.com":                              {"execute-api", "us-west-1"},
		"localhost":                                    {"execute-api", "us-west-1"},
	} {
		service, region := signedFor(host, "us-west-1")
		require.Equal(t, want, [2]string{service, region}, host)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		env  map[string]string
		args []string
		want string
	}{
		{nil, nil, "name the URL"},
		{nil, []string{""}, "name the URL"},
		{nil, []string{"https://a/mcp", "https://b/mcp"}, "name the URL"},
		{nil, []string{"ftp://a/mcp"}, "the URL is not"},
		{nil, []string{"https://user:word@a/mcp"}, "the URL is not"},
		{nil, []string{"https://a/mcp?token=t"}, "the URL is not"},
		{map[string]string{"TOKEN": "t"}, []string{"http://a.example/mcp"}, "https alone"},
		{nil, []string{"-aws", "http://a.example/mcp"}, "https alone"},
		{map[string]string{"TOKEN": "t"}, []string{"-aws", "https://a/mcp"}, "exclude each other"},
		{map[string]string{"OTHER_TOKEN": "t"}, []string{"https://a/mcp"}, "beside a TOKEN"},
		{map[string]string{"TOKEN": "Bearer t"}, []string{"https://a/mcp"}, "without Bearer"},
		{nil, []string{"-parallel", "101", "https://a/mcp"}, "-parallel from 1 to 100"},
		{nil, []string{"-round-ttl", "soon", "https://a/mcp"}, "reading the command line"},
	} {
		_, err := parse(tt.args, func(name string) string { return tt.env[name] }, nil)
		require.ErrorContains(t, err, tt.want, "%q", tt.args)
		for _, secret := range tt.env {
			require.NotContains(t, err.Error(), `"`+secret+`"`)
		}
	}
	var help strings.Builder
	_, err := parse([]string{"-h"}, func(string) string { return "" }, &help)
	require.True(t, errors.Is(err, flag.ErrHelp))
	require.Contains(t, help.String(), "usage: smoke [flags] URL")
}

func TestPercentile(t *testing.T) {
	var ten []time.Duration
	for i := range 10 {
		ten = append(ten, time.Duration(i+1))
	}
	require.EqualValues(t, 5, percentile(ten, 50))
	require.EqualValues(t, 9, percentile(ten, 90))
	require.EqualValues(t, 1, percentile(ten[:1], 50))
	require.EqualValues(t, 2, percentile(ten[:2], 90))
	require.EqualValues(t, 1, percentile(ten[:2], 50))
}
