package awslambda_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// receiver takes spans by OTLP over HTTP.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*spans.Span
	bad   []string
	fails http.HandlerFunc // answers in its place; nil: nothing does
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(func() {
		r.Close()
		require.Empty(t, r.bad)
	})
	return r
}

func (r *receiver) serve(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	r.mu.Lock()
	fails := r.fails
	r.mu.Unlock()
	if fails != nil {
		fails(w, hr)
		return
	}
	var m collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &m)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || hr.URL.Path != "/v1/traces" || hr.Header.Get("Content-Type") != "application/x-protobuf" {
		r.bad = append(r.bad, fmt.Sprint(hr.URL.Path, " ", hr.Header.Get("Content-Type"), " ", err))
	}
	for _, rs := range m.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			r.spans = append(r.spans, ss.Spans...)
		}
	}
}

func (r *receiver) fail(h http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = h
}

func (r *receiver) got() []*spans.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans)
}

// build builds testdata/endpoint with those tags.
func build(t *testing.T, tags ...string) (bootstrap string) {
	t.Helper()
	os.Unsetenv("AWS_CA_BUNDLE")
	bootstrap = filepath.Join(t.TempDir(), "bootstrap")
	require.NoError(t, lambdatest.Build(t.Context(), ".", "./testdata/endpoint", bootstrap, tags...))
	return bootstrap
}

// start runs it beside a KMS of its own.
func start(t *testing.T, bootstrap string, env ...string) (*lambdatest.API, error) {
	t.Helper()
	kms := kmstest.NewServer(kmstest.Options{})
	t.Cleanup(kms.Close)
	api, err := lambdatest.Start(t.Context(), lambdatest.Options{
		Bootstrap: bootstrap, FunctionName: "book-trip",
		Env: append(append(kms.Env(), "MRTR_KMS_KEY_ID="+kms.CreateKey(kmstest.KeyOptions{}).ARN, "MRTR_AUDIENCE=traces"), env...),
	})
	if err == nil {
		t.Cleanup(func() { api.Close() })
	}
	return api, err
}

// The answers, which nothing but the reply may hold.
const (
	secretName  = "Rumpelstiltskin"
	secretColor = "heliotrope"
)

// play plays the two-question flow. meta returns what round n says in _meta
// besides, each with a comma before it; arrived is called as a reply arrives.
// It returns the logs and the states.
func play(t *testing.T, api *lambdatest.API, kind lambdatest.Kind, meta func(round int) string, arrived func(round int)) (logs string, states []string) {
	t.Helper()
	const tool = "test_incomplete_result_multi_round"
	members := ""
	for round, answer := range []string{"", `"step1":{"action":"accept","content":{"name":"` + secretName + `"}}`, `"step2":{"action":"accept","content":{"color":"` + secretColor + `"}}`} {
		if round > 0 {
			members = `,"requestState":"` + states[round-1] + `","inputResponses":{` + answer + `}`
		}
		body := `{"jsonrpc":"2.0","id":` + fmt.Sprint(round+1) + `,"method":"tools/call","params":{"name":"` + tool + `"` + members +
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}` + meta(round+1) + `}}}`
		r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "*/*", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool} {
			r.Header.Set(name, value)
		}
		event, err := lambdatest.Event(kind, r, []byte(body))
		require.NoError(t, err)
		res, err := api.InvokeFunc(t.Context(), event, func(string, []byte) { arrived(round + 1) })
		require.NoError(t, err)
		require.Nil(t, res.FunctionError)
		logs += res.Logs
		reply, err := res.Reply()
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, reply.Status, string(reply.Body))
		if round == 2 {
			require.Contains(t, string(reply.Body), secretColor)
			break
		}
		var asked struct {
			Result protocol.InputRequiredResult `json:"result"`
		}
		require.NoError(t, json.Unmarshal(reply.Body, &asked))
		require.NotEmpty(t, asked.Result.RequestState)
		states = append(states, asked.Result.RequestState)
	}
	return logs, states
}

// discreet fails where text holds an answer or a part of a state.
func discreet(t *testing.T, text string, states []string) {
	t.Helper()
	for _, secret := range append(states, secretName, secretColor) {
		require.NotContains(t, text, secret[:min(len(secret), 24)])
	}
}

// TestTraces follows a flow of three rounds, with a client that traces and with
// one that does not, to a receiver that must have each round's span before the
// round's reply leaves.
func TestTraces(t *testing.T) {
	r := newReceiver(t)
	bootstrap := build(t, "otlp")
	api, err := start(t, bootstrap, "OTEL_EXPORTER_OTLP_ENDPOINT="+r.URL, "MRTR_TRACE_WAIT=5s")
	require.NoError(t, err)

	t.Run("a client that traces", func(t *testing.T) {
		before, arrived := len(r.got()), map[int]int{}
		exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(r.URL+"/v1/traces"))
		require.NoError(t, err)
		provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
		ctx, client := provider.Tracer("client").Start(t.Context(), "book a trip", trace.WithSpanKind(trace.SpanKindClient))
		parent := "00-" + client.SpanContext().TraceID().String() + "-" + client.SpanContext().SpanID().String() + "-01"
		logs, states := play(t, api, lambdatest.HTTPAPI, func(round int) string {
			meta := `,"traceparent":"` + parent + `","tracestate":"a=1"`
			if round > 1 {
				meta += `,"` + mrtr.MetaTraceLink + `":"` + parent + `"`
			}
			return meta
		}, func(round int) { arrived[round] = len(r.got()) - before })
		require.Equal(t, map[int]int{1: 1, 2: 2, 3: 3}, arrived, "spans when a reply arrived")
		client.End()
		require.NoError(t, provider.ForceFlush(ctx))

		all := r.got()[before:]
		require.Len(t, all, 4)
		root := all[3]
		require.Equal(t, "book a trip", root.Name)
		for i, s := range all[:3] {
			require.Equal(t, root.TraceId, s.TraceId, "one trace")
			require.Equal(t, root.SpanId, s.ParentSpanId)
			require.Equal(t, "a=1", s.TraceState)
			require.LessOrEqual(t, root.StartTimeUnixNano, s.StartTimeUnixNano)
			require.LessOrEqual(t, s.EndTimeUnixNano, root.EndTimeUnixNano)
			require.LessOrEqual(t, s.StartTimeUnixNano, s.EndTimeUnixNano)
			want := [][]byte{root.SpanId, all[0].SpanId}
			if i == 0 {
				want = nil
			}
			require.Equal(t, want, linked(s))
		}
		checkRounds(t, all[:3], logs, states)
	})

	t.Run("a client that does not", func(t *testing.T) {
		before, arrived := len(r.got()), map[int]int{}
		logs, states := play(t, api, lambdatest.HTTPAPI, func(int) string { return "" }, func(round int) { arrived[round] = len(r.got()) - before })
		require.Equal(t, map[int]int{1: 1, 2: 2, 3: 3}, arrived)
		all := r.got()[before:]
		require.Len(t, all, 3)
		traces := map[string]bool{}
		for i, s := range all {
			require.Empty(t, s.ParentSpanId)
			traces[string(s.TraceId)] = true
			want := [][]byte{all[0].SpanId}
			if i == 0 {
				want = nil
			}
			require.Equal(t, want, linked(s))
		}
		require.Len(t, traces, 3)
		checkRounds(t, all, logs, states)
	})

	t.Run("replies that are streamed", func(t *testing.T) {
		api, err := start(t, bootstrap, "OTEL_EXPORTER_OTLP_ENDPOINT="+r.URL, "MRTR_TRACE_WAIT=5s", "MRTR_RESPONSE_MODE=stream")
		require.NoError(t, err)
		before, arrived := len(r.got()), map[int]int{}
		logs, states := play(t, api, lambdatest.FunctionURL, func(int) string { return "" }, func(round int) { arrived[round] = len(r.got()) - before })
		require.Equal(t, map[int]int{1: 0, 2: 1, 3: 2}, arrived, "replies do not wait for spans, the next event does")
		all := r.got()[before:]
		require.Len(t, all, 3)
		checkRounds(t, all, logs, states)
	})

	t.Run("a client that does not want to be sampled", func(t *testing.T) {
		before := len(r.got())
		play(t, api, lambdatest.HTTPAPI, func(int) string { return `,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"` }, func(int) {})
		require.Len(t, r.got(), before)
	})

	t.Run("a receiver that is down for a while", func(t *testing.T) {
		before, arrived := len(r.got()), map[int]int{}
		r.fail(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
		logs, states := play(t, api, lambdatest.HTTPAPI, func(int) string { return "" }, func(round int) {
			arrived[round] = len(r.got()) - before
			if round == 2 {
				r.fail(nil)
			}
		})
		require.Equal(t, map[int]int{1: 0, 2: 0, 3: 3}, arrived, "what waited goes with the next round's")
		require.Equal(t, 1, strings.Count(logs, "spans could not be sent"))
		discreet(t, logs, states)
	})

	t.Run("a receiver that hangs", func(t *testing.T) {
		api, err := start(t, bootstrap, "OTEL_EXPORTER_OTLP_ENDPOINT="+r.URL, "MRTR_TRACE_WAIT=1ms")
		require.NoError(t, err)
		before := len(r.got())
		r.fail(func(_ http.ResponseWriter, hr *http.Request) { <-hr.Context().Done() })
		logs, states := play(t, api, lambdatest.HTTPAPI, func(int) string { return "" }, func(int) {})
		require.Len(t, r.got(), before, "replies do not wait for it")
		require.Equal(t, 1, strings.Count(logs, "spans could not be sent"))
		discreet(t, logs, states)
	})

	for setting, says := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=user:secret@host": `OTEL_EXPORTER_OTLP_ENDPOINT: want an http or https URL`,
		"MRTR_TRACE_WAIT=50":                           `MRTR_TRACE_WAIT: "50" is no duration up to 5s`,
		"MRTR_TRACE_WAIT=6s":                           `MRTR_TRACE_WAIT: "6s" is no duration up to 5s`,
	} {
		t.Run(setting, func(t *testing.T) {
			_, err := start(t, bootstrap, "OTEL_TRACES_EXPORTER=otlp", setting)
			var failed *lambdatest.InitError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, 1, strings.Count(failed.Logs, "mrtr: "))
			require.Contains(t, failed.Logs, "mrtr: "+says+"\n")
		})
	}
}

// linked returns the ids of the spans that s is linked to.
func linked(s *spans.Span) (ids [][]byte) {
	for _, l := range s.Links {
		ids = append(ids, l.SpanId)
	}
	return ids
}

// checkRounds holds the spans of a flow against what a round's span says.
func checkRounds(t *testing.T, rounds []*spans.Span, logs string, states []string) {
	t.Helper()
	flow := ""
	for i, s := range rounds {
		require.Equal(t, "tools/call test_incomplete_result_multi_round", s.Name)
		require.Equal(t, spans.Span_SPAN_KIND_SERVER, s.Kind)
		a := map[string]string{}
		for _, kv := range s.Attributes {
			a[kv.Key] = value(kv.Value)
		}
		require.Equal(t, fmt.Sprint(i+1), a["mrtr.round"])
		require.Equal(t, []string{"input_required", "input_required", "complete"}[i], a["mrtr.outcome"])
		require.Regexp(t, "^[0-9a-f]{32}$", a["mrtr.flow_id"])
		if flow == "" {
			flow = a["mrtr.flow_id"]
		}
		require.Equal(t, flow, a["mrtr.flow_id"])
		discreet(t, s.String(), states)
	}
	discreet(t, logs, states)
	require.Equal(t, 3, strings.Count(logs, `"flow":"`+flow+`"`), "the log names the flow as the spans do")
}

func value(v *common.AnyValue) string {
	if s, ok := v.Value.(*common.AnyValue_IntValue); ok {
		return fmt.Sprint(s.IntValue)
	}
	return v.GetStringValue()
}

// TestOutput: a default build writes one log line and one line of metrics a
// request, neither with an answer or a state, and links no exporter.
func TestOutput(t *testing.T) {
	bootstrap := build(t)
	for _, tt := range []struct {
		env       string
		metrics   int
		namespace string
	}{
		{"", 3, `"Namespace":"MRTR"`},
		{"MRTR_METRICS_NAMESPACE=Trips", 3, `"Namespace":"Trips"`},
		{"MRTR_METRICS_NAMESPACE=", 0, ""},
	} {
		t.Run(tt.env, func(t *testing.T) {
			env := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"}
			if tt.env != "" {
				env = append(env, tt.env)
			}
			api, err := start(t, bootstrap, env...)
			require.NoError(t, err)
			logs, states := play(t, api, lambdatest.HTTPAPI, func(int) string { return "" }, func(int) {})
			discreet(t, logs, states)
			require.Contains(t, logs, "this build has no exporter")
			requests, metrics := map[string]bool{}, 0
			for line := range strings.Lines(logs) {
				var record struct {
					Message  string         `json:"msg"`
					Request  string         `json:"requestId"`
					Trace    string         `json:"xrayTraceId"`
					AWS      map[string]any `json:"_aws"`
					Function string         `json:"FunctionName"`
				}
				require.NoError(t, json.Unmarshal([]byte(line), &record), line)
				switch {
				case record.AWS != nil:
					metrics++
					require.Contains(t, line, tt.namespace)
					require.Equal(t, "book-trip", record.Function)
				case record.Message == "mcp request":
					require.NotEmpty(t, record.Request)
					require.Regexp(t, `^1-[0-9a-f]{8}-[0-9a-f]{24}$`, record.Trace)
					requests[record.Request] = true
				}
			}
			require.Len(t, requests, 3)
			require.Equal(t, tt.metrics, metrics)
		})
	}
}
