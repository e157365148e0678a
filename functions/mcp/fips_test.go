package main_test

import (
	"debug/buildinfo"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
)

// fipsOnly refuses every algorithm that FIPS 140-3 does not approve.
const fipsOnly = "GODEBUG=fips140=only"

// TestFIPSModule: where these tests are built on a certified module, so are the
// binaries that they run. make test-fips does that.
func TestFIPSModule(t *testing.T) {
	setting := func(settings []debug.BuildSetting) string {
		for _, s := range settings {
			if s.Key == "GOFIPS140" {
				return s.Value
			}
		}
		return ""
	}
	ours, ok := debug.ReadBuildInfo()
	require.True(t, ok)
	for _, binary := range []string{bootstrap, rounds} {
		info, err := buildinfo.ReadFile(binary)
		require.NoError(t, err)
		require.Equal(t, setting(ours.Settings), setting(info.Settings))
	}
}

// TestFIPSOnly plays flows of the real binary under approved algorithms alone:
// states, KMS over TLS, signatures of requests to it, and tokens.
func TestFIPSOnly(t *testing.T) {
	needContract(t)
	t.Parallel()
	fake := kmstest.NewServer(kmstest.Options{TLS: true})
	t.Cleanup(fake.Close)
	const resource = "https://mcp.example.com/mcp"
	issuer := newOIDCIssuer(t)
	for _, mode := range []string{"derived", "strict"} {
		api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: bootstrap, Fresh: true, Env: append(fake.Env(), fipsOnly,
			"MRTR_KMS_KEY_ID="+fake.CreateKey(kmstest.KeyOptions{}).ARN, "MRTR_KMS_MODE="+mode, "MRTR_AUDIENCE=fips",
			"MRTR_AUTH=jwt", "MRTR_OAUTH_ISSUER="+issuer.URL, "MRTR_OAUTH_RESOURCE="+resource,
		)})
		require.NoError(t, err)
		played := mrtrtest.Play(t, mrtrtest.Handler(api.HTTPHandler(lambdatest.HTTPAPI)), mrtrtest.Call{
			Name:    multiRound,
			Answers: mrtrtest.Answers{"step1": map[string]any{"name": "Alice"}, "step2": map[string]any{"color": "blue"}},
			Edit: func(_ int, r *mrtrtest.Request) {
				r.Header.Set("Authorization", issuer.bearer(t, "ann", resource, ""))
			},
		})
		require.NoError(t, api.Close())
		require.Equal(t, greeting, played.Text())
		require.Len(t, played.Rounds, 3)
	}

	// The mode is on: a key of less than 112 bits is not approved.
	short := append(fake.Env(), "AWS_SECRET_ACCESS_KEY=short",
		"MRTR_KMS_KEY_ID="+fake.CreateKey(kmstest.KeyOptions{}).ARN, "MRTR_AUDIENCE=fips")
	logs := func(env ...string) string {
		api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: bootstrap, Fresh: true, Env: append(short, env...)})
		require.NoError(t, err)
		defer api.Close()
		res, err := api.Invoke(t.Context(), event(t, lambdatest.HTTPAPI, multiRound, `{}`))
		if failed, ok := errors.AsType[*lambdatest.InitError](err); ok {
			return failed.Logs
		}
		require.NoError(t, err)
		return res.Logs
	}
	require.Contains(t, logs("GODEBUG=fips140=off"), `"msg":"mcp request"`)
	require.Contains(t, logs(fipsOnly), "FIPS 140-only mode")
}

// connectProxy is a proxy that connects nobody and keeps whom it was asked for.
type connectProxy struct {
	*httptest.Server
	mu    sync.Mutex
	hosts []string
}

func newConnectProxy(t *testing.T) *connectProxy {
	p := &connectProxy{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hosts = append(p.hosts, r.Method+" "+r.Host)
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(p.Close)
	return p
}

// TestFIPSEndpoint: which KMS the binary would call. A proxy stands in its way.
func TestFIPSEndpoint(t *testing.T) {
	t.Parallel()
	fake := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(fake.Close)
	shared := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(shared, []byte("[default]\nuse_fips_endpoint = true\n"), 0o600))
	for _, tt := range []struct {
		name, region string
		env          []string
		host         string
	}{
		{"not asked for", "us-east-1", nil, "kms.us-east-1.amazonaws.com:443"},
		{"asked for", "us-east-1", []string{"AWS_USE_FIPS_ENDPOINT=true"}, "kms-fips.us-east-1.amazonaws.com:443"},
		{"asked for in a file", "ca-central-1", []string{"AWS_CONFIG_FILE=" + shared}, "kms-fips.ca-central-1.amazonaws.com:443"},
		{"asked for in GovCloud", "us-gov-west-1", []string{"AWS_USE_FIPS_ENDPOINT=true"}, "kms-fips.us-gov-west-1.amazonaws.com:443"},
		{"with both families of addresses", "us-west-2", []string{"AWS_USE_FIPS_ENDPOINT=true", "AWS_USE_DUALSTACK_ENDPOINT=true"}, "kms-fips.us-west-2.api.aws:443"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			proxy := newConnectProxy(t)
			// The template sets an empty endpoint where none is said.
			env := append(fake.Env(), "AWS_ENDPOINT_URL_KMS=", "AWS_REGION="+tt.region, "HTTPS_PROXY="+proxy.URL, fipsOnly,
				"MRTR_KMS_KEY_ID=alias/state", "MRTR_AUDIENCE=fips")
			api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: bootstrap, Env: append(env, tt.env...)})
			require.NoError(t, err)
			require.NoError(t, api.Close())
			proxy.mu.Lock()
			defer proxy.mu.Unlock()
			require.NotEmpty(t, proxy.hosts)
			for _, host := range proxy.hosts {
				require.Equal(t, "CONNECT "+tt.host, host)
			}
		})
	}

	// An endpoint of one's own cannot be made to be one: the SDK says so, and
	// sends nothing anywhere.
	t.Run("beside an endpoint of one's own", func(t *testing.T) {
		api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: bootstrap, Env: append(fake.Env(),
			"AWS_USE_FIPS_ENDPOINT=true", "MRTR_KMS_KEY_ID=alias/state", "MRTR_AUDIENCE=fips")})
		require.NoError(t, err)
		t.Cleanup(func() { api.Close() })
		res, err := api.Invoke(t.Context(), event(t, lambdatest.HTTPAPI, multiRound, `{}`))
		require.NoError(t, err)
		require.Contains(t, res.Logs, "not_sent")
		require.Zero(t, fake.Count())
	})
}
