package main_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
)

// front is a way to the endpoint: an API, or a custom domain in front of one.
type front struct {
	name     string
	kind     lambdatest.Kind
	resource string // URL of the endpoint there
	stage    string
	strip    string // prefix of the URL's path that the event lacks
	add      string // prefix of the event's path that the URL's lacks
	format1  bool   // of an HTTP API: payload format 1.0

	api *lambdatest.API
}

var fronts = []front{
	{name: "HTTP API", kind: lambdatest.HTTPAPI, resource: "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/mcp", stage: "$default"},
	{name: "HTTP API, stage prod", kind: lambdatest.HTTPAPI, resource: "https://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/prod/mcp", stage: "prod"},
	{name: "HTTP API, base path", kind: lambdatest.HTTPAPI, resource: "https://mcp.example.com/v1/mcp", stage: "$default", strip: "/v1"},
	{name: "HTTP API, base path to stage prod", kind: lambdatest.HTTPAPI, resource: "https://mcp.example.com/v1/mcp", stage: "prod", strip: "/v1", add: "/prod"},
	{name: "HTTP API of format 1.0, base path", kind: lambdatest.HTTPAPI, resource: "https://mcp.example.com/v1/mcp", stage: "$default", format1: true},
	{name: "REST API, stage prod", kind: lambdatest.REST, resource: "https://f6g7h8i9j0.execute-api.eu-central-1.amazonaws.com/prod/mcp", stage: "prod", strip: "/prod"},
	{name: "REST API, base path", kind: lambdatest.REST, resource: "https://mcp.example.com/v1/mcp", stage: "prod"},
	{name: "REST API, base path named as the stage", kind: lambdatest.REST, resource: "https://mcp.example.com/prod/mcp", stage: "prod"},
	{name: "REST API, domain alone", kind: lambdatest.REST, resource: "https://mcp.example.com/mcp", stage: "prod"},
	{name: "Function URL", kind: lambdatest.FunctionURL, resource: "https://abcdefghijklmnopqrstuvwxyz012345.lambda-url.eu-central-1.on.aws/mcp", stage: "$default"},
}

// event is the event of a request to a URL of the front's.
func (f *front) event(t *testing.T, r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	host, called := r.URL.Host, r.URL.Path
	path, ok := strings.CutPrefix(called, f.strip)
	require.True(t, ok, "%s is not of this front", called)
	path = f.add + path
	kind := f.kind
	if f.format1 {
		kind = lambdatest.REST
	}
	raw, err := lambdatest.Event(kind, r, body)
	require.NoError(t, err)
	var ev map[string]any
	require.NoError(t, json.Unmarshal(raw, &ev))
	headers, ctx := ev["headers"].(map[string]any), ev["requestContext"].(map[string]any)
	ctx["stage"], ctx["domainName"], ctx["domainPrefix"] = f.stage, host, strings.Split(host, ".")[0]
	if kind == lambdatest.REST {
		headers["Host"], ev["multiValueHeaders"].(map[string]any)["Host"] = host, []string{host}
		ev["path"], ctx["path"] = path, called
		if f.format1 {
			ev["version"], ev["resource"], ctx["resourcePath"] = "1.0", "$default", "$default"
			delete(ctx, "resourceId")
		}
	} else {
		headers["host"] = host
		ev["rawPath"], ctx["http"].(map[string]any)["path"] = path, path
	}
	out, err := json.Marshal(ev)
	require.NoError(t, err)
	return out
}

// send sends a request that was made for the front.
func (f *front) send(t *testing.T, r *http.Request) *lambdatest.Reply {
	t.Helper()
	res, err := f.api.Invoke(t.Context(), f.event(t, r))
	require.NoError(t, err)
	require.Nil(t, res.FunctionError)
	reply, err := res.Reply()
	require.NoError(t, err)
	return reply
}

// TestPaths: under stages and base paths the endpoint's own URLs are right, and
// what it says of itself comes from its settings alone.
func TestPaths(t *testing.T) {
	needContract(t)
	t.Parallel()
	fake := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(fake.Close)
	key := fake.CreateKey(kmstest.KeyOptions{})
	issuer := newOIDCIssuer(t)
	ways := make([]front, len(fronts))
	for i := range fronts {
		f := &ways[i]
		*f = fronts[i]
		api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: bootstrap, FunctionName: "function-" + string(rune('a'+i)),
			Env: append(fake.Env(), "MRTR_KMS_KEY_ID="+key.ARN, "MRTR_AUDIENCE=paths",
				"MRTR_AUTH=jwt", "MRTR_OAUTH_ISSUER="+issuer.URL, "MRTR_OAUTH_RESOURCE="+f.resource)})
		require.NoError(t, err)
		t.Cleanup(func() { api.Close() })
		f.api = api
	}
	metadata := regexp.MustCompile(`resource_metadata="([^"]+)"`)
	for i := range ways {
		f := &ways[i]
		t.Run(f.name, func(t *testing.T) {
			// A client that knows the endpoint's URL alone finds its way.
			reply := f.send(t, httptest.NewRequest(http.MethodPost, f.resource, strings.NewReader("{}")))
			require.Equal(t, http.StatusUnauthorized, reply.Status)
			m := metadata.FindStringSubmatch(reply.Header.Get("Www-Authenticate"))
			require.NotNil(t, m)
			require.Equal(t, strings.TrimSuffix(f.resource, "/mcp")+"/.well-known/oauth-protected-resource/mcp", m[1])
			described, err := url.Parse(m[1])
			require.NoError(t, err)
			for _, at := range []string{described.String(), strings.TrimSuffix(described.String(), "/mcp")} {
				reply = f.send(t, httptest.NewRequest(http.MethodGet, at, nil))
				require.Equal(t, http.StatusOK, reply.Status, at)
				require.JSONEq(t, `{"resource":"`+f.resource+`","authorization_servers":["`+issuer.URL+`"],"bearer_methods_supported":["header"]}`, string(reply.Body))
			}

			// Neither Host nor anything forwarded changes what it says, or whom it trusts.
			lying := func(method, token string) *http.Request {
				r := httptest.NewRequest(method, f.resource, strings.NewReader("{}"))
				r.URL.Host = "evil.example"
				r.Header.Set("X-Forwarded-Host", "evil.example")
				r.Header.Set("Forwarded", "host=evil.example;proto=http")
				if token != "" {
					r.Header.Set("Authorization", token)
				}
				return r
			}
			for _, token := range []string{
				"",
				issuer.bearer(t, "ann", "https://evil.example/mcp", ""),
				issuer.bearer(t, "ann", "https://evil.example"+mustParse(f.resource).Path, ""),
				issuer.bearer(t, "ann", strings.TrimSuffix(f.resource, "/mcp"), ""),
				issuer.bearer(t, "ann", f.resource+"/", ""),
			} {
				reply = f.send(t, lying(http.MethodPost, token))
				require.Equal(t, http.StatusUnauthorized, reply.Status)
				require.Contains(t, reply.Header.Get("Www-Authenticate"), `resource_metadata="`+described.String()+`"`)
			}
			require.Equal(t, http.StatusUnsupportedMediaType, f.send(t, lying(http.MethodPost, issuer.bearer(t, "ann", f.resource, ""))).Status, "let in, and no MCP")

			// The audience of states is a setting too: a flow goes on by any way.
			round := 0
			endpoint := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				way := &ways[(i+round*3)%len(ways)]
				round++
				r.URL = mustParse(way.resource)
				r.Header.Set("Authorization", issuer.bearer(t, "ann", way.resource, ""))
				reply := way.send(t, r)
				for name, values := range reply.Header {
					w.Header()[name] = values
				}
				w.WriteHeader(reply.Status)
				_, _ = w.Write(reply.Body)
			})
			played := mrtrtest.Play(t, mrtrtest.Handler(endpoint), mrtrtest.Call{
				Name:    multiRound,
				Answers: mrtrtest.Answers{"step1": map[string]any{"name": "Alice"}, "step2": map[string]any{"color": "blue"}},
			})
			require.Equal(t, greeting, played.Text())
		})
	}
}

func mustParse(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return u
}
