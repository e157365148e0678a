package mrtr_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

type sink struct {
	header http.Header
	body   []byte
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Write(b []byte) (int, error) { s.body = append(s.body[:0], b...); return len(b), nil }

type benchText struct {
	Text string `json:"text"`
}

func benchHandler(b *testing.B) http.Handler {
	srv := mrtr.NewServer(protocol.Implementation{Name: "bench", Version: "1"}, nil)
	mrtr.AddTool(srv, mrtr.Tool{Name: "greet"}, func(_ context.Context, _ *mrtr.Call, in benchText) (*mrtr.Result, error) {
		return mrtr.Text("Hello, " + in.Text), nil
	})
	mrtr.AddTool(srv, mrtr.Tool{Name: "ask"}, func(_ context.Context, c *mrtr.Call, in benchText) (*mrtr.Result, error) {
		for _, key := range []string{"a", "b", "c"} {
			if _, err := mrtr.Ask[benchText](c, key, "And?"); err != nil {
				return nil, err
			}
		}
		return mrtr.Text("done"), nil
	})
	mrtr.AddTool(srv, mrtr.Tool{Name: "long"}, func(_ context.Context, c *mrtr.Call, in benchText) (*mrtr.Result, error) {
		for i := range 42 {
			if _, err := mrtr.Ask[benchText](c, strconv.Itoa(i), "And?"); err != nil {
				return nil, err
			}
		}
		return mrtr.Text("done"), nil
	})
	keys, err := requeststate.NewStaticKeys(make([]byte, 32))
	require.NoError(b, err)
	h, err := srv.Handler(mrtr.HandlerOptions{Keys: keys, Audience: "bench", Logger: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	return h
}

func benchRequest(name string, params string) func() *http.Request {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":{"text":"Alice"},` + params +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`
	header := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {name},
	}
	return func() *http.Request {
		return &http.Request{Method: http.MethodPost, Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
	}
}

func BenchmarkCall(b *testing.B) {
	h, request := benchHandler(b), benchRequest("greet", "")
	w := &sink{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, request())
	}
	require.Contains(b, string(w.body), "Hello, Alice")
}

// BenchmarkCallDeadline is a call whose context has a deadline, as those of
// Lambda have: the handler runs on a goroutine of its own.
func BenchmarkCallDeadline(b *testing.B) {
	h, request := benchHandler(b), benchRequest("greet", "")
	w := &sink{header: http.Header{}}
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, request().WithContext(ctx))
	}
	require.Contains(b, string(w.body), "Hello, Alice")
}

// BenchmarkRound opens a state with an answer of 1 kB, takes another answer and
// seals both.
func BenchmarkRound(b *testing.B) {
	h := benchHandler(b)
	w := &sink{header: http.Header{}}
	state := func() string {
		var reply struct {
			Result protocol.InputRequiredResult `json:"result"`
		}
		require.NoError(b, json.Unmarshal(w.body, &reply))
		require.NotEmpty(b, reply.Result.RequestState, string(w.body))
		return reply.Result.RequestState
	}
	h.ServeHTTP(w, benchRequest("ask", "")())
	long := strings.Repeat("x", 1000)
	h.ServeHTTP(w, benchRequest("ask", `"inputResponses":{"a":{"action":"accept","content":{"text":"`+long+`"}}},"requestState":"`+state()+`",`)())
	request := benchRequest("ask", `"inputResponses":{"b":{"action":"accept","content":{"text":"short"}}},"requestState":"`+state()+`",`)
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(w, request())
	}
	require.Contains(b, string(w.body), `"c":{`)
}

// BenchmarkEarlierAnswers takes an answer of 200 bytes behind some others, and
// asks the next question: the handler runs over all of them again.
func BenchmarkEarlierAnswers(b *testing.B) {
	for _, earlier := range []int{1, 10, 40} {
		b.Run(strconv.Itoa(earlier), func(b *testing.B) {
			h := benchHandler(b)
			w := &sink{header: http.Header{}}
			request := benchRequest("long", "")
			for i := range earlier + 1 {
				h.ServeHTTP(w, request())
				var reply struct {
					Result protocol.InputRequiredResult `json:"result"`
				}
				require.NoError(b, json.Unmarshal(w.body, &reply))
				require.NotEmpty(b, reply.Result.RequestState, string(w.body))
				request = benchRequest("long", `"inputResponses":{"`+strconv.Itoa(i)+`":{"action":"accept","content":{"text":"`+strings.Repeat("x", 189)+`"}}},"requestState":"`+reply.Result.RequestState+`",`)
			}
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(w, request())
			}
			require.Contains(b, string(w.body), `"`+strconv.Itoa(earlier+1)+`":{`)
		})
	}
}
