package mrtrotel_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrotel"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

type form struct {
	Value string `json:"value"`
}

// register adds the tools, a prompt and a resource that the tests call.
func register(srv *mrtr.Server) {
	text := func(s string) (*mrtr.Result, error) { return mrtr.Text(s), nil }
	mrtr.AddTool(srv, mrtr.Tool{Name: "order"}, func(ctx context.Context, c *mrtr.Call, _ form) (*mrtr.Result, error) {
		_, child := trace.SpanFromContext(ctx).TracerProvider().Tracer("handler").Start(ctx, "work")
		defer child.End()
		for _, key := range []string{"size", "street"} {
			if _, err := mrtr.Ask[form](c, key, "And the "+key+"?"); err != nil {
				return nil, err
			}
		}
		return text("secret result")
	})
	mrtr.AddTool(srv, mrtr.Tool{Name: "fail"}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) {
		return nil, mrtr.Errorf("secret failure")
	})
	mrtr.AddTool(srv, mrtr.Tool{Name: "panic"}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) {
		panic("secret panic")
	})
	mrtr.AddPrompt(srv, mrtr.Prompt{Name: "greet"}, func(context.Context, *mrtr.Call, map[string]string) (*protocol.GetPromptResult, error) {
		return &protocol.GetPromptResult{}, nil
	})
	mrtr.AddResourceTemplate(srv, mrtr.ResourceTemplate{Name: "note", URITemplate: "note:///{id}"}, func(context.Context, *mrtr.Call, string, map[string]string) ([]protocol.ResourceContents, error) {
		return []protocol.ResourceContents{{URI: "note:///1", Text: "secret note"}}, nil
	})
}

// kit is a server whose spans are recorded.
type kit struct {
	t        *testing.T
	handler  http.Handler
	recorder *tracetest.SpanRecorder
	provider *sdktrace.TracerProvider
}

func newKit(t *testing.T, opts *mrtrotel.Options, provider ...sdktrace.TracerProviderOption) *kit {
	k := &kit{t: t, recorder: tracetest.NewSpanRecorder()}
	k.provider = sdktrace.NewTracerProvider(append(provider, sdktrace.WithSpanProcessor(k.recorder))...)
	k.handler = serve(t, mrtrotel.Observer(k.provider, opts))
	return k
}

func serve(t testing.TB, observers ...mrtr.Observer) http.Handler {
	srv := mrtr.NewServer(protocol.Implementation{Name: "kit", Version: "1"}, nil)
	register(srv)
	keys, err := requeststate.NewStaticKeys(bytes.Repeat([]byte("k"), requeststate.MinSecretSize))
	require.NoError(t, err)
	h, err := srv.Handler(mrtr.HandlerOptions{Keys: keys, Audience: "kit", Logger: slog.New(slog.DiscardHandler), Observers: observers})
	require.NoError(t, err)
	return h
}

// request is what a test sends; zero fields are a modern client's tools/call.
type request struct {
	method  string // empty: tools/call
	id      string // JSON; empty: 1, "-": none
	name    string // also of headers
	members string // of params, each with a comma before it
	meta    string // of _meta, each with a comma before it
	body    string // in place of all that
	ctx     context.Context
}

func (r request) build(t testing.TB) *http.Request {
	if r.method == "" {
		r.method = protocol.MethodCallTool
	}
	id := `"id":` + r.id + `,`
	switch r.id {
	case "":
		id = `"id":1,`
	case "-":
		id = ""
	}
	named := "name"
	if r.method == protocol.MethodReadResource {
		named = "uri"
	}
	body := r.body
	if body == "" {
		quoted, err := jsontext.AppendQuote(nil, r.name)
		require.NoError(t, err)
		body = `{"jsonrpc":"2.0",` + id + `"method":"` + r.method + `","params":{"` + named + `":` + string(quoted) + r.members +
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}` + r.meta + `}}}`
	}
	hr := httptest.NewRequest(http.MethodPost, "http://mcp.example/mcp", strings.NewReader(body))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "*/*", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": r.method, "Mcp-Name": r.name,
	} {
		hr.Header.Set(name, value)
	}
	if r.ctx != nil {
		hr = hr.WithContext(r.ctx)
	}
	return hr
}

func (k *kit) send(r request) *httptest.ResponseRecorder {
	k.t.Helper()
	w := httptest.NewRecorder()
	k.handler.ServeHTTP(w, r.build(k.t))
	return w
}

// last returns the span of the last request, which ended last.
func (k *kit) last() sdktrace.ReadOnlySpan {
	k.t.Helper()
	ended := k.recorder.Ended()
	require.NotEmpty(k.t, ended)
	return ended[len(ended)-1]
}

const arguments = `,"arguments":{"value":"secret argument"}`

// flow plays the order tool's three rounds, with the meta of each, and returns
// their spans.
func (k *kit) flow(meta ...string) (spans []sdktrace.ReadOnlySpan) {
	k.t.Helper()
	require.Len(k.t, meta, 3)
	members := arguments
	for i, key := range []string{"size", "street", ""} {
		w := k.send(request{name: "order", members: members, meta: meta[i]})
		require.Equal(k.t, http.StatusOK, w.Code, w.Body)
		spans = append(spans, k.last())
		if key == "" {
			require.Contains(k.t, w.Body.String(), "secret result")
			break
		}
		var reply struct {
			Result protocol.InputRequiredResult `json:"result"`
		}
		require.NoError(k.t, json.Unmarshal(w.Body.Bytes(), &reply))
		require.NotEmpty(k.t, reply.Result.RequestState)
		members = arguments + `,"requestState":"` + reply.Result.RequestState + `","inputResponses":{"` + key + `":{"action":"accept","content":{"value":"secret answer"}}}`
	}
	return spans
}

// attributes returns a span's attributes as text.
func attributes(s sdktrace.ReadOnlySpan) map[string]string {
	m := map[string]string{}
	for _, kv := range s.Attributes() {
		m[string(kv.Key)] = kv.Value.String()
	}
	return m
}

// links returns the traceparents that a span is linked to.
func links(s sdktrace.ReadOnlySpan) []string {
	var all []string
	for _, l := range s.Links() {
		all = append(all, traceparent(l.SpanContext))
	}
	return all
}

func traceparent(sc trace.SpanContext) string {
	return "00-" + sc.TraceID().String() + "-" + sc.SpanID().String() + "-" + sc.TraceFlags().String()
}

// text is all that a span says.
func text(s sdktrace.ReadOnlySpan) string {
	var b strings.Builder
	add := func(kvs []attribute.KeyValue) {
		for _, kv := range kvs {
			b.WriteString(string(kv.Key) + "=" + kv.Value.String() + "\n")
		}
	}
	b.WriteString(s.Name() + "\n" + s.Status().Description + "\n" + s.SpanContext().TraceState().String() + "\n")
	add(s.Attributes())
	for _, e := range s.Events() {
		b.WriteString(e.Name + "\n")
		add(e.Attributes)
	}
	for _, l := range s.Links() {
		add(l.Attributes)
	}
	return b.String()
}
