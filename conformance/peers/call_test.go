package peers

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// callBody is one tools/call of revision 2026-07-28, as a client sends it.
const callBody = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ada"},` +
	`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`

// callHeader holds the headers that go with a call of the tool.
func callHeader(tool string) http.Header {
	return http.Header{
		"Content-Type":         {"application/json"},
		"Accept":               {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"},
		"Mcp-Method":           {"tools/call"},
		"Mcp-Name":             {tool},
	}
}

// post sends body to h and returns the recorded answer. The request is built
// without parsing, so that little is measured beside the handler.
func post(h http.Handler, base *http.Request, body []byte) *httptest.ResponseRecorder {
	req := base.WithContext(base.Context())
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.ContentLength = int64(len(body))
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return rec
}

// newPost returns a request without a body for post.
func newPost(header http.Header) *http.Request {
	req := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8080/mcp", nil)
	req.Header = header
	return req
}

// measure checks once that h answers body with want in it, then sends it b.N
// times.
func measure(b *testing.B, h http.Handler, header http.Header, body []byte, want string) {
	base := newPost(header)
	rec := post(h, base, body)
	require.Equal(b, http.StatusOK, rec.Code, rec.Body.String())
	require.Contains(b, rec.Body.String(), want)

	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		if rec := post(h, base, body); rec.Code != http.StatusOK {
			b.Fatal(rec.Code)
		}
	}
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
}

// processorTime returns what the process has used so far, user and system.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// peers are the servers that are measured, each with the tool greet.
var peers = []struct {
	name    string
	handler func(testing.TB) http.Handler
}{
	{"official-sdk", officialSDK},
	{"mcp-go", mcpGo},
	{"mrtr", ours},
}

// TestCall holds that every peer does what is measured.
func TestCall(t *testing.T) {
	for _, peer := range peers {
		t.Run(peer.name, func(t *testing.T) {
			rec := post(peer.handler(t), newPost(callHeader("greet")), []byte(callBody))
			require.Equal(t, http.StatusOK, rec.Code, rec.Body.String())
			require.Equal(t, "application/json", rec.Header().Get("Content-Type"))
			require.Contains(t, rec.Body.String(), `"resultType":"complete"`)
			require.Contains(t, rec.Body.String(), "Hello, Ada!")
		})
	}
}

// BenchmarkCall is a tools/call without state: one string in, one text out.
func BenchmarkCall(b *testing.B) {
	for _, peer := range peers {
		b.Run(peer.name, func(b *testing.B) {
			measure(b, peer.handler(b), callHeader("greet"), []byte(callBody), "Hello, Ada!")
		})
	}
}

// BenchmarkHarness is what measuring itself costs: a handler that sends back
// the bytes it was sent.
func BenchmarkHarness(b *testing.B) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "reading", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
	measure(b, echo, callHeader("greet"), []byte(callBody), "greet")
}
