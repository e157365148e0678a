package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFindsFaults judges endpoints that are broken in one way each.
func TestFindsFaults(t *testing.T) {
	const token = "not-a-token-0123456789"
	// reworded changes the replies of a sound endpoint.
	reworded := func(change func(r *http.Request, body string, rec *httptest.ResponseRecorder)) func(*testing.T) http.Handler {
		return func(t *testing.T) http.Handler {
			p := newInProcess(t)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				r.Body = io.NopCloser(bytes.NewReader(body))
				rec := httptest.NewRecorder()
				p.ServeHTTP(rec, r)
				change(r, string(body), rec)
				for name, values := range rec.Header() {
					w.Header()[name] = values
				}
				w.WriteHeader(rec.Code)
				_, _ = w.Write(rec.Body.Bytes())
			})
		}
	}
	replace := func(rec *httptest.ResponseRecorder, old, new string) {
		s := strings.ReplaceAll(rec.Body.String(), old, new)
		rec.Body.Reset()
		rec.Body.WriteString(s)
	}
	// protected answers 401 without the token, with that challenge and metadata.
	protected := func(challenge, metadata string) func(*testing.T) http.Handler {
		return func(t *testing.T) http.Handler {
			p := newInProcess(t)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				here := "http://" + r.Host
				switch {
				case strings.HasPrefix(r.URL.Path, metadataPath):
					_, _ = io.WriteString(w, strings.ReplaceAll(metadata, "HERE", here))
				case r.Method == http.MethodPost && r.Header.Get("Authorization") != "Bearer "+token:
					if challenge != "" {
						w.Header().Set("WWW-Authenticate", strings.ReplaceAll(challenge, "HERE", here))
					}
					w.WriteHeader(http.StatusUnauthorized)
				default:
					p.ServeHTTP(w, r)
				}
			})
		}
	}
	const (
		challenged = `Bearer resource_metadata="HERE` + metadataPath + `/mcp"`
		described  = `{"resource":"HERE/mcp","authorization_servers":["https://issuer.example"]}`
	)
	var requests atomic.Int64

	for _, tt := range []struct {
		name    string
		token   string
		handler func(*testing.T) http.Handler
		check   string
		want    string
	}{
		{"nothing", token, protected(challenged, described), "", ""},
		{"no auth", token, protected("", ""), "WWW-Authenticate", "FAIL WWW-Authenticate the 401 has none"},
		{"basic auth", token, protected(`Basic realm="x"`, described), "WWW-Authenticate", "FAIL WWW-Authenticate its scheme is not Bearer"},
		{"metadata elsewhere", token, protected(`Bearer resource_metadata="https://other.example/x"`, described), "protected-resource metadata", "another origin"},
		{"metadata of another resource", token, protected(challenged, `{"resource":"https://other.example/mcp","authorization_servers":["https://issuer.example"]}`), "protected-resource metadata", `FAIL protected-resource metadata resource is "https://other.example/mcp"`},
		{"no authorization server", token, protected(challenged, `{"resource":"HERE/mcp"}`), "protected-resource metadata", "authorization_servers is missing"},
		{"offline access", token, protected(challenged, strings.Replace(described, "}", `,"scopes_supported":["offline_access"]}`, 1)), "protected-resource metadata", "offline_access"},
		{"anyone is served", token, func(t *testing.T) http.Handler { return newInProcess(t) }, "no credentials", "FAIL no credentials served"},
		{"a token that is not accepted", "another-0123456789", protected(challenged, described), "tools/list", "FAIL tools/list HTTP 401: the endpoint wants credentials that it accepts"},

		{"a tool is missing", "", reworded(func(_ *http.Request, _ string, rec *httptest.ResponseRecorder) {
			replace(rec, `"name":"test_incomplete_result_multi_round"`, `"name":"other"`)
		}), "tools/list", "FAIL tools/list not offered: test_incomplete_result_multi_round"},
		{"a tool answers wrongly", "", reworded(func(_ *http.Request, _ string, rec *httptest.ResponseRecorder) {
			replace(rec, "The model says", "The model sings")
		}), "test_incomplete_result_sampling", "another result than the answers make"},
		{"a no is no no", "", reworded(func(_ *http.Request, _ string, rec *httptest.ResponseRecorder) {
			replace(rec, `"isError":true`, `"isError":false`)
		}), "refund_order", "it went on after a no"},
		{"answers are mixed up", "", reworded(func(_ *http.Request, _ string, rec *httptest.ResponseRecorder) { replace(rec, "Flow 7", "Flow 8") }),
			"20 flows at one time", "FAIL 20 flows at one time 1 failed; one: round 3 finishes with another result"},
		{"some requests fail", "", reworded(func(_ *http.Request, _ string, rec *httptest.ResponseRecorder) {
			if requests.Add(1) > 70 {
				rec.Code = http.StatusServiceUnavailable
				rec.Body.Reset()
				rec.Body.WriteString(`{"message":"Service Unavailable"}`)
			}
		}), "20 flows at one time", "HTTP 503: the gateway found no instance of the function"},

		{"a state may be changed", "", reworded(func(_ *http.Request, _ string, rec *httptest.ResponseRecorder) {
			if rec.Code == http.StatusBadRequest {
				rec.Code = http.StatusOK
				rec.Body.Reset()
				rec.Body.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"Hello, Alice!"}]}}`)
			}
		}), "state: last byte changed", "FAIL state: last byte changed accepted"},
		{"arguments may be swapped", "", reworded(func(_ *http.Request, body string, rec *httptest.ResponseRecorder) {
			if strings.Contains(body, "Graz") {
				rec.Code = http.StatusOK
				rec.Body.Reset()
				rec.Body.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}`)
			}
		}), "state: other arguments", "FAIL state: other arguments accepted"},
		{"the reason is told", "", reworded(func(_ *http.Request, body string, rec *httptest.ResponseRecorder) {
			if strings.Contains(body, sameQuestion) {
				replace(rec, "cannot be continued", "is of another tool")
			}
		}), "state: another tool", "refused in other words"},
		{"no way to start again", "", reworded(func(_ *http.Request, _ string, rec *httptest.ResponseRecorder) {
			replace(rec, `{"restart":true}`, `{}`)
		}),
			"state: last byte changed", "without data.restart"},

		{"any page may call", "", reworded(func(r *http.Request, _ string, rec *httptest.ResponseRecorder) {
			if r.Method == http.MethodOptions {
				rec.Code = http.StatusNoContent
				rec.Header().Set("Access-Control-Allow-Origin", "*")
				rec.Body.Reset()
			}
		}), "CORS: a foreign page", "FAIL CORS: a foreign page the preflight of https://smoke.invalid is allowed"},
		{"the page may not call", "", func(t *testing.T) http.Handler { return newInProcess(t) }, "CORS: an allowed page", "FAIL CORS: an allowed page its preflight gets HTTP 403"},

		{"another service", "", func(*testing.T) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
		}, "tools/list", "FAIL tools/list HTTP 200 with a body that is no JSON-RPC response"},
		{"moved", "", func(*testing.T) http.Handler { return http.RedirectHandler("/elsewhere", http.StatusTemporaryRedirect) },
			"tools/list", "FAIL tools/list HTTP 307"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(tt.handler(t))
			t.Cleanup(server.Close)
			args := []string{server.URL + "/mcp"}
			if strings.HasPrefix(tt.check, "CORS: an allowed") {
				args = append([]string{"-origin", "https://app.example"}, args...)
			}
			out, ok := smoke(t, map[string]string{"TOKEN": tt.token}, args...)
			require.Equal(t, tt.check == "", ok, out)
			if tt.check != "" {
				require.Contains(t, verdict(t, out, tt.check), "FAIL "+tt.check)
				require.Contains(t, verdict(t, out, tt.check), tt.want)
			}
		})
	}
}

// TestBounded: a run ends whatever the endpoint does, and goes nowhere else.
func TestBounded(t *testing.T) {
	s, err := parse([]string{"https://a.example/mcp"}, func(string) string { return "" }, nil)
	require.NoError(t, err)
	e := newEndpoint(s)
	e.sent.Store(maxRequests)
	_, err = e.do(t.Context(), request{method: http.MethodGet})
	require.ErrorContains(t, err, "more than 500 requests")
}
