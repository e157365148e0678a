package oauth

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

const multiRound = "test_incomplete_result_multi_round"

// scene is a place to sign in: the function behind a gateway, and the
// authorization server whose tokens it takes.
type scene struct {
	*issuer
	url string
	api http.Handler

	mu       sync.Mutex
	age      bool // the next call with a state comes with a token past its end
	requests []request
}

// request is what a client sent and what it got.
type request struct {
	path, tool string // the tool that is called, empty in other requests
	state      bool   // a state came along
	token      claims
	status     int
	challenge  bool // the reply has WWW-Authenticate
	restart    bool // the reply says data.restart
}

// sceneOptions vary a scene.
type sceneOptions struct {
	issuerOptions
	kind       lambdatest.Kind
	toolScopes string // further scopes of tools, as MRTR_OAUTH_TOOL_SCOPES has them
	age        bool
}

// newScene sets one up until the test ends.
func newScene(t *testing.T, bootstrap string, opts sceneOptions) *scene {
	s := &scene{age: opts.age}
	srv := httptest.NewUnstartedServer(s)
	s.url = "http://" + srv.Listener.Addr().(*net.TCPAddr).String() + "/mcp"
	s.issuer = newIssuer(t, s.url, opts.issuerOptions)
	kms := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(kms.Close)
	api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: bootstrap, Instances: 2, Env: append(kms.Env(),
		"MRTR_KMS_KEY_ID="+kms.CreateKey(kmstest.KeyOptions{}).ARN, "MRTR_AUDIENCE=oauth",
		"MRTR_AUTH=jwt", "MRTR_OAUTH_ISSUER="+s.issuer.url, "MRTR_OAUTH_RESOURCE="+s.url,
		"MRTR_OAUTH_SCOPES=mcp", "MRTR_OAUTH_TOOL_SCOPES="+opts.toolScopes,
	)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = api.Close() })
	s.api = api.HTTPHandler(opts.kind)
	srv.Start()
	t.Cleanup(func() {
		srv.Close()
		if t.Failed() {
			t.Logf("requests: %+v\nthe issuer's refusals: %q", s.all(), s.problems)
		}
	})
	return s
}

// buildBootstrap builds functions/mcp.
func buildBootstrap(t *testing.T) string {
	bootstrap := filepath.Join(t.TempDir(), "bootstrap")
	require.NoError(t, lambdatest.Build(t.Context(), filepath.Join("..", "..", ".."), "./functions/mcp", bootstrap))
	return bootstrap
}

// ServeHTTP passes a request on and notes it.
func (s *scene) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name  string  `json:"name"`
			State *string `json:"requestState"`
		} `json:"params"`
	}
	_ = json.Unmarshal(body, &m)
	q := request{path: r.URL.Path, state: m.Params.State != nil}
	if m.Method == "tools/call" {
		q.tool = m.Params.Name
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	aging := s.age && q.state
	s.age = s.age && !aging
	s.mu.Unlock()
	if aging {
		token = s.aged(token)
		r.Header.Set("Authorization", "Bearer "+token)
	}
	q.token = readClaims(token)

	r.Body = io.NopCloser(bytes.NewReader(body))
	rec := httptest.NewRecorder()
	s.api.ServeHTTP(rec, r)
	q.status, q.challenge = rec.Code, rec.Header().Get("WWW-Authenticate") != ""
	q.restart = strings.Contains(rec.Body.String(), `"restart":true`)
	s.mu.Lock()
	s.requests = append(s.requests, q)
	s.mu.Unlock()
	for name, values := range rec.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(rec.Code)
	_, _ = w.Write(rec.Body.Bytes())
}

// all returns what was asked so far.
func (s *scene) all() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// calls returns the calls of the tool in their order.
func (s *scene) calls() []request {
	var calls []request
	for _, q := range s.all() {
		if q.tool == multiRound {
			calls = append(calls, q)
		}
	}
	return calls
}

// statuses returns what calls were answered with.
func statuses(calls []request) []int {
	var out []int
	for _, q := range calls {
		out = append(out, q.status)
	}
	return out
}
