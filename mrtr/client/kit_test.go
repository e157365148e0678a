package client_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

const (
	secretState  = "state-0123-secret"
	secretAnswer = "answer-4567-secret"
)

var info = &mcp.Implementation{Name: "client test", Version: "1"}

// fill returns handlers that answer everything, forms with the content of their
// key.
func fill(forms map[string]string) *client.Handlers {
	return &client.Handlers{
		Form: func(_ context.Context, q *client.FormQuestion) (protocol.ElicitResult, error) {
			content, ok := forms[q.Key]
			if !ok {
				return protocol.ElicitResult{}, fmt.Errorf("no answer to %q", q.Key)
			}
			return protocol.ElicitResult{Action: protocol.ElicitAccept, Content: jsontext.Value(content)}, nil
		},
		URL: func(context.Context, *client.URLQuestion) (protocol.ElicitAction, error) {
			return protocol.ElicitAccept, nil
		},
		Sampling: func(context.Context, *protocol.CreateMessageParams) (*protocol.CreateMessageResult, error) {
			return &protocol.CreateMessageResult{
				Role: protocol.RoleAssistant, Model: "m", Content: protocol.SamplingContent{protocol.Text("Paris")},
			}, nil
		},
		Roots: func(context.Context) ([]protocol.Root, error) {
			return []protocol.Root{{URI: "file:///work"}}, nil
		},
	}
}

// log is a handler around another that notes the keys it was asked.
type log struct {
	mu   sync.Mutex
	keys []string
}

func (l *log) around(h client.InputHandler) client.InputHandler {
	return func(ctx context.Context, q client.Question) (jsontext.Value, error) {
		l.mu.Lock()
		l.keys = append(l.keys, q.Key)
		l.mu.Unlock()
		return h(ctx, q)
	}
}

// naps collects the pauses in place of making them.
type naps []time.Duration

func (n *naps) sleep(ctx context.Context, d time.Duration) error {
	*n = append(*n, d)
	return ctx.Err()
}

// connect connects a client with the handlers to a URL.
func connect(t *testing.T, url string, h *client.Handlers, version string) *mcp.ClientSession {
	t.Helper()
	return connectOver(t, &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}, h, version)
}

func connectOver(t *testing.T, transport mcp.Transport, h *client.Handlers, version string) *mcp.ClientSession {
	t.Helper()
	c := client.New(info, h, nil)
	s, err := c.Connect(t.Context(), client.Transport(transport), &mcp.ClientSessionOptions{ProtocolVersion: version})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// endpoint serves our server over HTTP.
func endpoint(t *testing.T, s *mrtr.Server, change func(*mrtr.HandlerOptions)) string {
	t.Helper()
	secret := make([]byte, requeststate.MinSecretSize)
	_, _ = rand.Read(secret)
	keys, err := requeststate.NewStaticKeys(secret)
	require.NoError(t, err)
	opts := mrtr.HandlerOptions{Keys: keys, Audience: "test", AllowAnonymous: true, Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&opts)
	}
	h, err := s.Handler(opts)
	require.NoError(t, err)
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	return web.URL
}

// wire is a request as a fake server gets it.
type wire struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name           string                     `json:"name"`
		URI            string                     `json:"uri"`
		Arguments      json.RawMessage            `json:"arguments"`
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
		RequestState   *string                    `json:"requestState"`
		Meta           map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
}

// fake is a server that says what a test wants: its answer to the nth call,
// from 1, as a "result" or "error" member.
type fake struct {
	answer    func(n int, r wire) string
	handshake bool
	events    bool

	mu    sync.Mutex
	calls []wire
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var m wire
	if json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	reply := ""
	switch m.Method {
	case "server/discover":
		reply = `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
		if f.handshake {
			reply = `"error":{"code":-32601,"message":"no"}`
		}
	case "initialize":
		reply = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}`
	case "tools/list":
		reply = `"result":{"tools":[]}`
	default:
		f.mu.Lock()
		f.calls = append(f.calls, m)
		n := len(f.calls)
		f.mu.Unlock()
		reply = f.answer(n, m)
	}
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, reply)
	if f.events && strings.HasPrefix(reply, `"result"`) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, part := range []string{
			": hello\r\n\r\n", "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n\n",
			"event: message\nid: 1\n",
		} {
			_, _ = io.WriteString(w, part)
			_ = http.NewResponseController(w).Flush()
		}
		for line := range strings.SplitSeq(indent(message), "\n") {
			_, _ = io.WriteString(w, "data: "+line+"\n")
		}
		_, _ = io.WriteString(w, "\n")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if strings.HasPrefix(reply, `"error"`) && !f.handshake {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = io.WriteString(w, message)
}

func indent(s string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(s), "", " ") != nil {
		return s
	}
	return b.String()
}

func (f *fake) start(t *testing.T) string {
	t.Helper()
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	return web.URL
}

// say returns an answer function that gives the list in order, and its last
// element from then on.
func say(replies ...string) func(int, wire) string {
	return func(n int, _ wire) string { return replies[min(n, len(replies))-1] }
}

// formParams are the params of a form with the given schema.
func formParams(message, schema string) string {
	return fmt.Sprintf(`{"mode":"form","message":%q,"requestedSchema":%s}`, message, schema)
}

const (
	nameSchema    = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	confirmSchema = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`
	done          = `"result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}`
	restart       = `"error":{"code":-32602,"message":"no","data":{"restart":true}}`
)

// ask is an input_required result; pairs are keys and the requests under them.
func ask(state string, pairs ...string) string {
	var b strings.Builder
	b.WriteString(`"result":{"resultType":"input_required","inputRequests":{`)
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", pairs[i], pairs[i+1])
	}
	b.WriteString("}")
	if state != "" {
		fmt.Fprintf(&b, `,"requestState":%q`, state)
	}
	return b.String() + "}"
}

func form(message, schema string) string {
	return `{"method":"elicitation/create","params":` + formParams(message, schema) + `}`
}

func text(t *testing.T, r *mcp.CallToolResult) string {
	t.Helper()
	require.NotNil(t, r)
	require.Len(t, r.Content, 1)
	c, ok := r.Content[0].(*mcp.TextContent)
	require.True(t, ok)
	return c.Text
}

// requireNoSecrets fails if an error shows what it must not.
func requireNoSecrets(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}

func sortedKeys(m map[string]json.RawMessage) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
