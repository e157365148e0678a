package otlp

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Provider is a tracer provider whose spans wait for Flush. It is safe for
// concurrent use.
type Provider struct {
	*sdktrace.TracerProvider
	queue *Queue
}

var _ trace.TracerProvider = (*Provider)(nil)

// FromEnv returns the provider that the environment asks for, nil where it asks
// for none. The error names the variable that is wrong, and not its value, which
// may hold credentials. Nothing is sent or connected to before the first Flush.
func FromEnv(ctx context.Context) (*Provider, error) {
	on, err := wanted(os.Getenv)
	if err != nil || !on {
		return nil, err
	}
	// The queue tries again itself, in time that the caller of Flush grants.
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
	if err != nil {
		return nil, fmt.Errorf("setting up the OTLP exporter: %w", err)
	}
	res, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithAttributes(function(os.Getenv)...), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: not of the form name=value,…")
	}
	queue := NewQueue(exporter)
	return &Provider{
		TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithSpanProcessor(queue)),
		queue:          queue,
	}, nil
}

// Flush sends the spans that have ended, within ctx. What could not be sent is
// tried again by later calls.
func (p *Provider) Flush(ctx context.Context) error { return p.queue.ForceFlush(ctx) }

// wanted reports whether the environment asks for traces.
func wanted(getenv func(string) string) (bool, error) {
	exporter := getenv("OTEL_TRACES_EXPORTER")
	switch {
	case getenv("OTEL_SDK_DISABLED") == "true" || exporter == "none":
		return false, nil
	case exporter != "" && exporter != "otlp":
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER: want otlp or none")
	}
	on := exporter == "otlp"
	for _, name := range [...]string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		if v := getenv(name); v != "" {
			if u, err := url.Parse(v); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
				return false, fmt.Errorf("%s: want an http or https URL", name)
			}
			on = true
		}
	}
	if !on {
		return false, nil
	}
	for _, name := range [...]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		switch getenv(name) {
		case "", "http/protobuf", "http/json":
		default:
			return false, fmt.Errorf("%s: want http/protobuf or http/json", name)
		}
	}
	return true, nil
}

// function returns what Lambda says of the function.
func function(getenv func(string) string) []attribute.KeyValue {
	name := getenv("AWS_LAMBDA_FUNCTION_NAME")
	if name == "" {
		return nil
	}
	kv := []attribute.KeyValue{
		attribute.String("service.name", name),
		attribute.String("cloud.provider", "aws"),
		attribute.String("cloud.platform", "aws_lambda"),
		attribute.String("faas.name", name),
	}
	for _, v := range [...]struct{ variable, key string }{
		{"AWS_REGION", "cloud.region"},
		{"AWS_LAMBDA_FUNCTION_VERSION", "faas.version"},
		{"AWS_LAMBDA_LOG_STREAM_NAME", "faas.instance"},
	} {
		if value := getenv(v.variable); value != "" {
			kv = append(kv, attribute.String(v.key, value))
		}
	}
	if mb, err := strconv.ParseInt(getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"), 10, 64); err == nil {
		kv = append(kv, attribute.Int64("faas.max_memory", mb<<20))
	}
	return kv
}
