package awslambda

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

var update = flag.Bool("update", false, "write the golden lines anew")

const goldenMetrics = "testdata/metrics.golden"

// TestMetricsGolden compares the line of each kind of request with its golden
// one, and holds it against the format's rules.
func TestMetricsGolden(t *testing.T) {
	at := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	var got bytes.Buffer
	m := newMetrics(&got, "MRTR", "book-trip")
	for _, tt := range []struct {
		name string
		info mrtr.RoundInfo
	}{
		{"a first round that asks, cold", mrtr.RoundInfo{Method: "tools/call", Target: "book_trip", FlowID: "secretflow", Round: 1, Outcome: mrtr.OutcomeInputRequired, Cold: true,
			Status: 200, StateBytes: 412, KeyCalls: 1, Duration: 31456789, Handler: 1234567, RequestID: "secretid"}},
		{"a last round", mrtr.RoundInfo{Method: "tools/call", Target: "book_trip", FlowID: "secretflow", Round: 3, Outcome: mrtr.OutcomeComplete, Status: 200, Duration: 900 * time.Microsecond, Handler: 250}},
		{"an answer asked again", mrtr.RoundInfo{Method: "tools/call", Target: "book_trip", Round: 2, Outcome: mrtr.OutcomeInputRequired, Reason: "invalid_answer", StateBytes: 500, Duration: time.Millisecond, Handler: time.Microsecond}},
		{"a refused state", mrtr.RoundInfo{Method: "tools/call", Target: "book_trip", Outcome: mrtr.OutcomeRefused, Reason: "forged", Err: errors.New("secret"), Status: 400, Code: -32602, Duration: 50 * time.Microsecond}},
		{"keys unavailable", mrtr.RoundInfo{Method: "tools/call", Target: "book_trip", Outcome: mrtr.OutcomeRPCError, Reason: "keys_unavailable", Err: errors.New("secret"), Status: 503, Code: -32603, KeyCalls: 1, Duration: 3 * time.Second}},
		{"a tool error", mrtr.RoundInfo{Method: "tools/call", Target: "book_trip", Round: 1, Outcome: mrtr.OutcomeToolError, Status: 200, Duration: time.Millisecond, Handler: time.Millisecond}},
		{"declined", mrtr.RoundInfo{Method: "tools/call", Target: "book_trip", Round: 2, Outcome: mrtr.OutcomeToolError, Reason: "declined", Status: 200, Duration: time.Millisecond, Handler: time.Millisecond}},
		{"a list", mrtr.RoundInfo{Method: "tools/list", Outcome: mrtr.OutcomeComplete, Status: 200, Duration: time.Millisecond}},
		{"a notification", mrtr.RoundInfo{Method: "notifications/cancelled", Outcome: mrtr.OutcomeNotification, Status: 202, Duration: time.Millisecond}},
		{"no JSON", mrtr.RoundInfo{Outcome: mrtr.OutcomeRPCError, Status: 400, Code: -32700}},
		{"a target with all sorts of signs", mrtr.RoundInfo{Method: "resources/read", Target: `note:///{id}?a="b"\é` + "\n", Round: 1, Outcome: mrtr.OutcomeComplete, Status: 200, Duration: time.Millisecond}},
		{"a long target", mrtr.RoundInfo{Method: "resources/read", Target: strings.Repeat("é", 500), Round: 1, Outcome: mrtr.OutcomeComplete, Status: 200, Duration: time.Millisecond}},
		{"a blank target", mrtr.RoundInfo{Method: "tools/call", Target: "  ", Round: 1, Outcome: mrtr.OutcomeComplete, Status: 200, Duration: time.Millisecond}},
		{"an author's reason", mrtr.RoundInfo{Method: "tools/call", Outcome: mrtr.OutcomeRPCError, Reason: "token of Ann expired", Status: 401, Code: -32600, Duration: time.Millisecond}},
	} {
		before := got.Len()
		tt.info.Start = at
		ctx, end := m.observe(t.Context(), &tt.info)
		require.Equal(t, t.Context(), ctx)
		require.Equal(t, before, got.Len())
		end()
		checkMetrics(t, got.Bytes()[before:])
	}
	require.NotContains(t, got.String(), "secret")
	require.NotContains(t, got.String(), "Ann")
	if *update {
		require.NoError(t, os.WriteFile(goldenMetrics, got.Bytes(), 0o666))
	}
	want, err := os.ReadFile(goldenMetrics)
	require.NoError(t, err, "run with -update to write it")
	require.Equal(t, string(want), got.String())
}

// checkMetrics holds one line against the specification of the embedded metric
// format, and returns the metrics as "Name{Dimension=value,…}".
func checkMetrics(t *testing.T, line []byte) []string {
	t.Helper()
	require.True(t, bytes.HasSuffix(line, []byte("}\n")))
	require.Equal(t, 1, bytes.Count(line, []byte("\n")))
	require.Less(t, len(line), 256<<10)
	var root map[string]any
	require.NoError(t, json.Unmarshal(line, &root))
	var meta struct {
		AWS struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		} `json:"_aws"`
	}
	require.NoError(t, json.Unmarshal(line, &meta))
	require.Positive(t, meta.AWS.Timestamp)
	require.NotEmpty(t, meta.AWS.CloudWatchMetrics)
	var all []string
	for _, d := range meta.AWS.CloudWatchMetrics {
		require.Regexp(t, `^[^:].{0,254}$`, d.Namespace)
		require.LessOrEqual(t, len(d.Metrics), 100)
		require.NotEmpty(t, d.Metrics)
		require.Len(t, d.Dimensions, 1)
		require.LessOrEqual(t, len(d.Dimensions[0]), 9)
		var values []string
		for _, name := range d.Dimensions[0] {
			value, ok := root[name].(string)
			require.True(t, ok, "%s is a dimension without a value", name)
			require.Regexp(t, regexp.MustCompile(`^[ -~]{1,255}$`), value)
			require.NotEmpty(t, strings.TrimSpace(value))
			values = append(values, name+"="+value)
		}
		for _, m := range d.Metrics {
			require.Contains(t, []string{"Count", "Milliseconds", "Bytes"}, m.Unit)
			require.IsType(t, float64(0), root[m.Name], "%s is a metric without a value", m.Name)
			all = append(all, m.Name+"{"+strings.Join(values, ",")+"}")
		}
	}
	return all
}

// TestMetricsBounded: what callers and authors say cannot make metrics without
// end.
func TestMetricsBounded(t *testing.T) {
	var out bytes.Buffer
	m := newMetrics(&out, "MRTR", "f")
	seen := map[string]bool{}
	for i := range 1000 {
		out.Reset()
		_, end := m.observe(t.Context(), &mrtr.RoundInfo{Outcome: mrtr.OutcomeRPCError, Reason: fmt.Sprintf("reason_%d", i), Start: time.Unix(1, 0)})
		end()
		for _, name := range checkMetrics(t, out.Bytes()) {
			seen[name] = true
		}
	}
	require.Len(t, seen, 4+1+1+maxReasons+1)
	require.True(t, seen["Failed{FunctionName=f,Reason=other}"])
}

func TestReadNamespace(t *testing.T) {
	for _, tt := range []struct {
		value string
		set   bool
		want  string
		bad   bool
	}{
		{"", false, "MRTR", false},
		{"", true, "", false},
		{"Trips/prod #1.2_x-y", true, "Trips/prod #1.2_x-y", false},
		{":x", true, "", true},
		{"AWS/Lambda", true, "", true},
		{" x", true, "", true},
		{`a"b`, true, "", true},
		{"é", true, "", true},
		{strings.Repeat("x", 255), true, strings.Repeat("x", 255), false},
		{strings.Repeat("x", 256), true, "", true},
	} {
		got, err := readNamespace(func(name string) (string, bool) {
			require.Equal(t, "MRTR_METRICS_NAMESPACE", name)
			return tt.value, tt.set
		})
		if tt.bad {
			require.ErrorContains(t, err, "MRTR_METRICS_NAMESPACE: ")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
	}
}

func BenchmarkMetrics(b *testing.B) {
	m := newMetrics(discardWriter{}, "MRTR", "book-trip")
	info := &mrtr.RoundInfo{Method: "tools/call", Target: "book_trip", Round: 1, Outcome: mrtr.OutcomeInputRequired, StateBytes: 412, Duration: time.Millisecond, Handler: time.Microsecond}
	b.ReportAllocs()
	for b.Loop() {
		_, end := m.observe(b.Context(), info)
		end()
	}
}

type discardWriter struct{}

func (discardWriter) Write(b []byte) (int, error) { return len(b), nil }
