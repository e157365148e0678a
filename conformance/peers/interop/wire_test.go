package interop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// message is what a client sent, as far as the page or a check speaks of it.
type message struct {
	at      time.Time
	version string // the header MCP-Protocol-Version
	session bool   // the header Mcp-Session-Id was there

	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name           string          `json:"name"`
		InputResponses json.RawMessage `json:"inputResponses"`
		RequestState   *string         `json:"requestState"`
	} `json:"params"`
}

// wire stands between one client and the endpoint and keeps what the client
// sends. Calls of the tools in canned it answers itself.
type wire struct {
	url    string
	canned map[string]cannedTool

	mu       sync.Mutex
	messages []message
}

// newWire serves until the test ends.
func newWire(t *testing.T, endpoint *url.URL, canned map[string]cannedTool) *wire {
	w := &wire{canned: canned}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: endpoint.Scheme, Host: endpoint.Host}) },
		FlushInterval: -1,
	}
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			proxy.ServeHTTP(rw, r)
			return
		}
		m := message{at: time.Now(), version: r.Header.Get("MCP-Protocol-Version"), session: r.Header.Get("Mcp-Session-Id") != ""}
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &m) != nil {
			http.Error(rw, "unreadable", http.StatusBadRequest)
			return
		}
		round := w.keep(m)
		if tool, ok := w.canned[m.Params.Name]; ok && m.Method == "tools/call" {
			rw.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, tool(round))
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		proxy.ServeHTTP(rw, r)
	}))
	t.Cleanup(srv.Close)
	w.url = srv.URL + endpoint.Path
	return w
}

// keep returns how often the same tool was called, this time included.
func (w *wire) keep(m message) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.messages = append(w.messages, m)
	return len(w.callsLocked(m.Params.Name))
}

// calls returns the calls of one tool in their order.
func (w *wire) calls(tool string) []message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.callsLocked(tool)
}

func (w *wire) callsLocked(tool string) []message {
	var calls []message
	for _, m := range w.messages {
		if m.Method == "tools/call" && m.Params.Name == tool {
			calls = append(calls, m)
		}
	}
	return calls
}

// opening returns the first method that the client sent.
func (w *wire) opening(t *testing.T) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	require.NotEmpty(t, w.messages, "the client sent nothing")
	return w.messages[0].Method
}

// revision returns the revision that tools/list was sent in, after checking
// that everything else that names a tool was sent in the same.
func (w *wire) revision(t *testing.T) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.IndexFunc(w.messages, func(m message) bool { return m.Method == "tools/list" })
	require.GreaterOrEqual(t, list, 0, "the client did not list the tools")
	version, session := w.messages[list].version, w.messages[list].session
	for _, m := range w.messages {
		if m.Method == "tools/list" || m.Method == "tools/call" {
			require.Equal(t, version, m.version, m.Method)
			require.Equal(t, session, m.session, m.Method)
		}
	}
	require.Equal(t, version != modern, session, "a session id goes with the handshake, and only with it")
	return version
}
