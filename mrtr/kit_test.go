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
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// kit is a server under test with a clock, keys and a log that a test holds.
type kit struct {
	t       *testing.T
	handler http.Handler
	keys    *switchKeys

	mu     sync.Mutex
	now    time.Time
	logs   bytes.Buffer
	rounds []mrtr.RoundInfo
}

// newKit serves what register registers. edit may change the options; nil: no
// change. Callers are anonymous and allowed to confirm, where edit does not say
// otherwise.
func newKit(t *testing.T, register func(*mrtr.Server), edit func(*mrtr.HandlerOptions)) *kit {
	t.Helper()
	k := &kit{t: t, now: time.Unix(1_800_000_000, 0), keys: newSwitchKeys(t)}
	srv := mrtr.NewServer(protocol.Implementation{Name: "kit", Version: "1"}, nil)
	register(srv)
	opts := mrtr.HandlerOptions{
		Keys: k.keys, Audience: "kit", AllowAnonymous: true,
		Now:    k.clock,
		Logger: slog.New(slog.NewJSONHandler(lockedWriter{k}, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Observers: []mrtr.Observer{func(ctx context.Context, i *mrtr.RoundInfo) (context.Context, func()) {
			return ctx, func() {
				k.mu.Lock()
				defer k.mu.Unlock()
				k.rounds = append(k.rounds, *i)
			}
		}},
	}
	if edit != nil {
		edit(&opts)
	}
	h, err := srv.Handler(opts)
	require.NoError(t, err)
	k.handler = h
	return k
}

func (k *kit) clock() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

func (k *kit) advance(d time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now = k.now.Add(d)
}

func (k *kit) log() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.logs.String()
}

// last returns what the server says of the last request.
func (k *kit) last() mrtr.RoundInfo {
	k.mu.Lock()
	defer k.mu.Unlock()
	require.NotEmpty(k.t, k.rounds)
	return k.rounds[len(k.rounds)-1]
}

type lockedWriter struct{ k *kit }

func (w lockedWriter) Write(b []byte) (int, error) {
	w.k.mu.Lock()
	defer w.k.mu.Unlock()
	return w.k.logs.Write(b)
}

// switchKeys are static keys that a test can take away.
type switchKeys struct {
	*requeststate.StaticKeys
	mu  sync.Mutex
	err error
}

func newSwitchKeys(t *testing.T) *switchKeys {
	keys, err := requeststate.NewStaticKeys(bytes.Repeat([]byte("k"), requeststate.MinSecretSize))
	require.NoError(t, err)
	return &switchKeys{StaticKeys: keys}
}

func (k *switchKeys) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = err
}

func (k *switchKeys) failing() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func (k *switchKeys) SealKey(ctx context.Context, p requeststate.Purpose, s requeststate.Salt) (requeststate.SealKey, error) {
	if err := k.failing(); err != nil {
		return requeststate.SealKey{}, err
	}
	return k.StaticKeys.SealKey(ctx, p, s)
}

func (k *switchKeys) OpenSecret(ctx context.Context, h requeststate.Header, s requeststate.Salt) (*requeststate.Secret, error) {
	if err := k.failing(); err != nil {
		return nil, err
	}
	return k.StaticKeys.OpenSecret(ctx, h, s)
}

// request is a request as a test writes it. Zero fields are what a modern
// client with all capabilities sends.
type request struct {
	method string            // tools/call
	name   string            // tool or prompt; for resources/read the URI
	params string            // further members of params, without braces
	caps   string            // client capabilities
	id     string            // 1
	body   string            // the whole body, in place of all of the above
	header map[string]string // "-" removes
	ctx    context.Context
}

const allCaps = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}`

func metaWith(caps string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + caps + `}`
}

func (r request) build() *http.Request {
	if r.method == "" {
		r.method = protocol.MethodCallTool
	}
	if r.id == "" {
		r.id = "1"
	}
	if r.caps == "" {
		r.caps = allCaps
	}
	body := r.body
	if body == "" {
		members := []string{}
		if r.name != "" {
			member := "name"
			if r.method == protocol.MethodReadResource {
				member = "uri"
			}
			members = append(members, `"`+member+`":`+quote(r.name))
		}
		if r.params != "" {
			members = append(members, r.params)
		}
		body = `{"jsonrpc":"2.0","id":` + r.id + `,"method":` + quote(r.method) + `,"params":{` + strings.Join(append(members, metaWith(r.caps)), ",") + `}}`
	}
	hr := httptest.NewRequest(http.MethodPost, "http://mcp.example/mcp", strings.NewReader(body))
	hr.Header = http.Header{
		"Content-Type":                {"application/json"},
		"Accept":                      {"application/json, text/event-stream"},
		jsonrpc.HeaderProtocolVersion: {protocol.Version20260728},
		jsonrpc.HeaderMethod:          {r.method},
	}
	if r.name != "" {
		hr.Header.Set(jsonrpc.HeaderName, jsonrpc.EncodeHeaderValue(r.name))
	}
	for name, value := range r.header {
		if value == "-" {
			hr.Header.Del(name)
		} else {
			hr.Header.Set(name, value)
		}
	}
	if r.ctx != nil {
		hr = hr.WithContext(r.ctx)
	}
	return hr
}

func quote(s string) string {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// response is what came back.
type response struct {
	status int
	header http.Header
	body   string

	ID     jsontext.Value
	Result struct {
		ResultType string `json:"resultType"`
		Content    []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError       bool                      `json:"isError"`
		Structured    jsontext.Value            `json:"structuredContent"`
		InputRequests protocol.InputRequests    `json:"inputRequests"`
		RequestState  string                    `json:"requestState"`
		Meta          map[string]jsontext.Value `json:"_meta"`
	}
	Error *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data"`
	}
}

// asked returns the keys of the questions, in order.
func (r *response) asked() []string {
	keys := []string{}
	for _, q := range r.Result.InputRequests {
		keys = append(keys, q.Key)
	}
	return keys
}

func (r *response) text() string {
	var parts []string
	for _, c := range r.Result.Content {
		parts = append(parts, c.Text)
	}
	return strings.Join(parts, "\n")
}

// do sends a request and reads the JSON reply, if there is a body.
func (k *kit) do(r request) *response {
	k.t.Helper()
	return serve(k.t, k.handler, r.build())
}

func serve(t *testing.T, h http.Handler, hr *http.Request) *response {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, hr)
	return read(t, w)
}

func read(t *testing.T, w *httptest.ResponseRecorder) *response {
	t.Helper()
	res := &response{status: w.Code, header: w.Header(), body: w.Body.String()}
	if res.body != "" && w.Header().Get("Content-Type") == "application/json" {
		var wire struct {
			Version string         `json:"jsonrpc"`
			ID      jsontext.Value `json:"id"`
			Result  jsontext.Value `json:"result"`
			Error   jsontext.Value `json:"error"`
		}
		require.NoError(t, json.Unmarshal([]byte(res.body), &wire), res.body)
		require.Equal(t, "2.0", wire.Version)
		require.NotEqual(t, wire.Result == nil, wire.Error == nil, "a response has a result or an error")
		require.NotContains(t, strings.TrimSpace(res.body), "\n", "a message is one line")
		res.ID = wire.ID
		if wire.Result != nil {
			require.NoError(t, json.Unmarshal(wire.Result, &res.Result), res.body)
		} else {
			require.NoError(t, json.Unmarshal(wire.Error, &res.Error), res.body)
		}
	}
	return res
}

// failed requires a JSON-RPC error.
func (r *response) failed(t *testing.T, status, code int) {
	t.Helper()
	require.Equal(t, status, r.status, r.body)
	require.NotNil(t, r.Error, r.body)
	require.Equal(t, code, r.Error.Code, r.body)
}

// asks requires an input_required result with these questions, and returns the
// state.
func (r *response) asks(t *testing.T, keys ...string) string {
	t.Helper()
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, "input_required", r.Result.ResultType, r.body)
	require.Equal(t, keys, r.asked(), r.body)
	require.NotEmpty(t, r.Result.RequestState)
	return r.Result.RequestState
}

// says requires a complete result with this text.
func (r *response) says(t *testing.T, text string) {
	t.Helper()
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, "complete", r.Result.ResultType, r.body)
	require.False(t, r.Result.IsError, r.body)
	require.Equal(t, text, r.text())
}

// failsInWords requires a result with isError.
func (r *response) failsInWords(t *testing.T) {
	t.Helper()
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, "complete", r.Result.ResultType, r.body)
	require.True(t, r.Result.IsError, r.body)
}

// retry is the params of a later round.
func retry(state string, answers ...string) string {
	return `"requestState":` + quote(state) + `,"inputResponses":{` + strings.Join(answers, ",") + `}`
}

// accept is the answer to key with this content.
func accept(key, content string) string {
	return quote(key) + `:{"action":"accept","content":` + content + `}`
}

// tool registers a tool that takes any object.
func tool(s *mrtr.Server, name string, h func(ctx context.Context, c *mrtr.Call) (*mrtr.Result, error)) {
	mrtr.AddTool(s, mrtr.Tool{Name: name, InputSchema: jsontext.Value(`{"type":"object"}`)},
		func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) { return h(ctx, c) })
}

type nameForm struct {
	Name string `json:"name"`
}

// greet asks for a name.
func greet(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
	user, err := mrtr.Ask[nameForm](c, "user_name", "What is your name?")
	if err != nil {
		return nil, err
	}
	return mrtr.Text("Hello, " + user.Name + "!"), nil
}

// frozen is the one reply to every state that is not accepted.
const frozen = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: this requestState cannot be continued; start the call again without it","data":{"restart":true}}}`
