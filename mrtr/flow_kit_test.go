package mrtr_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// flowHost serves a server and lets a test send single rounds to it, in any
// order and with any state.
type flowHost struct {
	t       testing.TB
	handler http.Handler

	method    string          // of the rounds; empty: tools/call
	caps      string          // what the client declares
	principal *mrtr.Principal // who calls; nil: nobody

	mu    sync.Mutex
	infos []mrtr.RoundInfo
	log   bytes.Buffer
}

var flowAlice = mrtr.Principal{Issuer: "https://issuer.example", Subject: "alice"}

// flowKeys are keys that every host shares.
func flowKeys(t testing.TB) requeststate.Keys {
	keys, err := requeststate.NewStaticKeys(bytes.Repeat([]byte{7}, requeststate.MinSecretSize))
	require.NoError(t, err)
	return keys
}

// newFlowHost serves what register registers. The caller is Alice.
func newFlowHost(t testing.TB, register func(*mrtr.Server), configure ...func(*mrtr.HandlerOptions)) *flowHost {
	srv := mrtr.NewServer(protocol.Implementation{Name: "flows", Version: "1"}, nil)
	register(srv)
	h := &flowHost{t: t, principal: &flowAlice, caps: `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`}
	opts := mrtr.HandlerOptions{Keys: flowKeys(t), Audience: "flows", Logger: slog.New(slog.NewTextHandler(&h.log, nil))}
	opts.Observers = []mrtr.Observer{func(ctx context.Context, info *mrtr.RoundInfo) (context.Context, func()) {
		return ctx, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.infos = append(h.infos, *info)
		}
	}}
	for _, f := range configure {
		f(&opts)
	}
	var err error
	h.handler, err = srv.Handler(opts)
	require.NoError(t, err)
	return h
}

// flowTool registers one tool whose handler returns a text.
func flowTool(handle func(context.Context, *mrtr.Call) (string, error)) func(*mrtr.Server) {
	return flowToolOf(mrtr.Tool{Name: "tool"}, handle)
}

func flowToolOf(tool mrtr.Tool, handle func(context.Context, *mrtr.Call) (string, error)) func(*mrtr.Server) {
	return func(s *mrtr.Server) {
		mrtr.AddTool(s, tool, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
			text, err := handle(ctx, c)
			if err != nil {
				return nil, err
			}
			return mrtr.Text(text), nil
		})
	}
}

// flowAnswers are inputResponses, in JSON.
type flowAnswers map[string]string

const (
	flowYes     = `{"action":"accept","content":{"ok":true}}`
	flowNo      = `{"action":"accept","content":{"ok":false}}`
	flowDecline = `{"action":"decline"}`
	flowCancel  = `{"action":"cancel"}`
)

// flowName answers a form of one name.
func flowName(name string) string { return `{"action":"accept","content":{"name":"` + name + `"}}` }

// flowForm is that form.
type flowForm struct {
	Name string `json:"name"`
}

// flowReply is what a round got.
type flowReply struct {
	status int
	body   string
	err    *mrtrtest.Error
	result struct {
		Type     protocol.ResultType     `json:"resultType"`
		Requests *protocol.InputRequests `json:"inputRequests"`
		State    string                  `json:"requestState"`
		Content  protocol.ContentList    `json:"content"`
		IsError  bool                    `json:"isError"`
		Meta     protocol.Object         `json:"_meta"`
		Other    jsontext.Value          `json:",embed"`
	}
	info mrtr.RoundInfo
}

// call sends one round for tool and returns the reply. An empty state is left
// out.
func (h *flowHost) call(tool, state string, answers flowAnswers) flowReply {
	return h.callContext(context.Background(), tool, state, answers)
}

func (h *flowHost) callContext(ctx context.Context, tool, state string, answers flowAnswers) flowReply {
	method, named := h.method, "name"
	switch method {
	case "":
		method = protocol.MethodCallTool
	case protocol.MethodReadResource:
		named = "uri"
	}
	params := map[string]any{named: tool, "_meta": map[string]any{
		protocol.MetaProtocolVersion:    protocol.Version20260728,
		protocol.MetaClientCapabilities: jsontext.Value(h.caps),
	}}
	if state != "" {
		params["requestState"] = state
	}
	if answers != nil {
		raw := make(map[string]jsontext.Value)
		for key, a := range answers {
			raw[key] = jsontext.Value(a)
		}
		params["inputResponses"] = raw
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	require.NoError(h.t, err)
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/mcp", bytes.NewReader(body))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": protocol.Version20260728, "Mcp-Method": method, "Mcp-Name": tool,
	} {
		r.Header.Set(name, value)
	}
	return h.do(r)
}

func (h *flowHost) do(r *http.Request) flowReply {
	if h.principal != nil {
		r = r.WithContext(mrtr.WithPrincipal(r.Context(), *h.principal))
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	reply := flowReply{status: w.Code, body: w.Body.String()}
	var envelope struct {
		Result jsontext.Value  `json:"result"`
		Error  *mrtrtest.Error `json:"error"`
	}
	require.NoError(h.t, json.Unmarshal(w.Body.Bytes(), &envelope), reply.body)
	if reply.err = envelope.Error; reply.err == nil {
		require.NoError(h.t, json.Unmarshal(envelope.Result, &reply.result), reply.body)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	reply.info = h.infos[len(h.infos)-1]
	return reply
}

// asks requires that the round asked these keys, in order, and returns the
// state.
func (h *flowHost) asks(r flowReply, keys ...string) string {
	h.t.Helper()
	require.Equal(h.t, protocol.ResultInputRequired, r.result.Type, r.body)
	require.NotNil(h.t, r.result.Requests, "inputRequests is left out")
	got := []string{}
	for _, q := range *r.result.Requests {
		got = append(got, q.Key)
	}
	require.Equal(h.t, append([]string{}, keys...), got)
	require.NotEmpty(h.t, r.result.State)
	require.Equal(h.t, mrtr.OutcomeInputRequired, r.info.Outcome)
	return r.result.State
}

// says requires that the call ended with a text.
func (h *flowHost) says(r flowReply, text string) {
	h.t.Helper()
	require.False(h.t, r.result.IsError, r.body)
	require.Equal(h.t, text, r.text())
}

// fails requires that the call ended with a text as an error of the tool.
func (h *flowHost) fails(r flowReply, text string) {
	h.t.Helper()
	require.True(h.t, r.result.IsError, r.body)
	require.Equal(h.t, text, r.text())
}

// restarts requires that the state was refused, and returns why.
func (h *flowHost) restarts(r flowReply) string {
	h.t.Helper()
	require.NotNil(h.t, r.err, r.body)
	require.Equal(h.t, http.StatusBadRequest, r.status)
	require.Equal(h.t, -32602, r.err.Code)
	require.Equal(h.t, `{"restart":true}`, string(r.err.Data))
	require.Equal(h.t, mrtr.OutcomeRefused, r.info.Outcome)
	return r.info.Reason
}

// broken requires that the request failed over a mistake of the author's, and
// returns what the log says of it.
func (h *flowHost) broken(r flowReply, reason string) string {
	h.t.Helper()
	require.NotNil(h.t, r.err, r.body)
	require.Equal(h.t, http.StatusOK, r.status)
	require.Equal(h.t, mrtrtest.Error{Code: -32603, Message: "Internal error"}, *r.err)
	require.Equal(h.t, reason, r.info.Reason)
	require.Error(h.t, r.info.Err)
	return r.info.Err.Error()
}

func (r flowReply) text() string {
	var lines []string
	for _, c := range r.result.Content {
		if t, ok := c.(*protocol.TextContent); ok {
			lines = append(lines, t.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// message returns what a question says.
func (r flowReply) message(t testing.TB, key string) string {
	t.Helper()
	q, ok := r.result.Requests.Get(key)
	require.True(t, ok, r.body)
	var p struct {
		Message string         `json:"message"`
		Other   jsontext.Value `json:",embed"`
	}
	require.NoError(t, json.Unmarshal(q.Params, &p))
	return p.Message
}
