package otlp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrotel"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrotel/otlp"
)

// variables are those that count here.
var variables = []string{
	"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_TRACES_SAMPLER", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES",
	"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS",
	"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
	"AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_VERSION", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "AWS_LAMBDA_LOG_STREAM_NAME", "AWS_REGION",
}

// setenv sets NAME=value pairs, and the other variables to nothing.
func setenv(t *testing.T, env ...string) {
	for _, name := range variables {
		t.Setenv(name, "")
	}
	for _, pair := range env {
		name, value, ok := strings.Cut(pair, "=")
		require.True(t, ok)
		require.Contains(t, variables, name)
		t.Setenv(name, value)
	}
}

func TestFromEnv(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318"
	for _, tt := range []struct {
		env []string
		on  bool
		err string
	}{
		{nil, false, ""},
		{[]string{endpoint}, true, ""},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://collector.example/v1/traces"}, true, ""},
		{[]string{"OTEL_TRACES_EXPORTER=otlp"}, true, ""},
		{[]string{"OTEL_TRACES_EXPORTER=none", endpoint}, false, ""},
		{[]string{"OTEL_SDK_DISABLED=true", endpoint}, false, ""},
		{[]string{"OTEL_SDK_DISABLED=false", endpoint}, true, ""},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"}, true, ""},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json"}, true, ""},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, false, "OTEL_EXPORTER_OTLP_PROTOCOL: want http/protobuf or http/json"},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc"}, false, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: want http/protobuf or http/json"},
		{[]string{"OTEL_TRACES_EXPORTER=zipkin"}, false, "OTEL_TRACES_EXPORTER: want otlp or none"},
		{[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=user:secret@collector:4318"}, false, "OTEL_EXPORTER_OTLP_ENDPOINT: want an http or https URL"},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=:secret"}, false, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: want an http or https URL"},
		{[]string{endpoint, "OTEL_RESOURCE_ATTRIBUTES=secret"}, false, "OTEL_RESOURCE_ATTRIBUTES: not of the form name=value,…"},
		{[]string{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, false, ""},
	} {
		t.Run(strings.Join(tt.env, " "), func(t *testing.T) {
			setenv(t, tt.env...)
			p, err := otlp.FromEnv(t.Context())
			if tt.err != "" {
				require.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.on, p != nil)
		})
	}
}

// TestExport sends spans to a receiver and reads what it got.
func TestExport(t *testing.T) {
	var got []*collector.ExportTraceServiceRequest
	var header http.Header
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			m := &collector.ExportTraceServiceRequest{}
			if err = proto.Unmarshal(body, m); err == nil {
				got, header = append(got, m), r.Header
			}
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("a bad export to %s: %v", r.URL.Path, err)
		}
	}))
	defer receiver.Close()
	for _, tt := range []struct {
		env  []string
		want map[string]string
	}{
		{[]string{"AWS_LAMBDA_FUNCTION_NAME=book-trip", "AWS_LAMBDA_FUNCTION_VERSION=7", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE=128", "AWS_REGION=eu-central-1", "AWS_LAMBDA_LOG_STREAM_NAME=stream"}, map[string]string{
			"service.name": "book-trip", "faas.name": "book-trip", "faas.version": "7", "faas.max_memory": "134217728", "faas.instance": "stream",
			"cloud.provider": "aws", "cloud.platform": "aws_lambda", "cloud.region": "eu-central-1",
		}},
		{[]string{"AWS_LAMBDA_FUNCTION_NAME=book-trip", "OTEL_SERVICE_NAME=trips", "OTEL_RESOURCE_ATTRIBUTES=faas.version=8,team=a"}, map[string]string{
			"service.name": "trips", "faas.name": "book-trip", "faas.version": "8", "team": "a", "cloud.provider": "aws", "cloud.platform": "aws_lambda",
		}},
	} {
		got = nil
		setenv(t, append(tt.env, "OTEL_EXPORTER_OTLP_ENDPOINT="+receiver.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-key=k1")...)
		p, err := otlp.FromEnv(t.Context())
		require.NoError(t, err)
		_, span := p.Tracer("").Start(t.Context(), "one")
		span.End()
		require.Empty(t, got)
		require.NoError(t, p.Flush(t.Context()))
		require.Len(t, got, 1)
		require.Equal(t, "k1", header.Get("X-Key"))
		require.Len(t, got[0].ResourceSpans, 1)
		require.Equal(t, "one", got[0].ResourceSpans[0].ScopeSpans[0].Spans[0].Name)
		attributes := map[string]string{}
		for _, kv := range got[0].ResourceSpans[0].Resource.Attributes {
			v := kv.Value.GetStringValue()
			if v == "" {
				v = fmt.Sprint(kv.Value.GetIntValue())
			}
			if !strings.HasPrefix(kv.Key, "telemetry.sdk.") {
				attributes[kv.Key] = v
			}
		}
		require.Equal(t, tt.want, attributes)
	}
}

func ExampleFromEnv() {
	ctx := context.Background()
	provider, err := otlp.FromEnv(ctx)
	if err != nil || provider == nil {
		fmt.Println("no traces:", err)
		return
	}
	opts := mrtr.HandlerOptions{Observers: []mrtr.Observer{mrtrotel.Observer(provider, nil)}}
	_ = opts // serve with them, and after each request:
	if err := provider.Flush(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: no traces: <nil>
}
