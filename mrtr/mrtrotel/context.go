package mrtrotel

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// carrier is trace context as strings.
type carrier struct{ traceparent, tracestate string }

var _ propagation.TextMapCarrier = (*carrier)(nil)

func (c *carrier) Get(key string) string {
	switch key {
	case "traceparent":
		return c.traceparent
	case "tracestate":
		return c.tracestate
	}
	return ""
}

func (c *carrier) Set(key, value string) {
	switch key {
	case "traceparent":
		c.traceparent = value
	case "tracestate":
		c.tracestate = value
	}
}

func (c *carrier) Keys() []string { return []string{"traceparent", "tracestate"} }

// parse reads W3C trace context. What is in no such form gives an invalid
// SpanContext; a bad tracestate is left out.
func parse(traceparent, tracestate string) trace.SpanContext {
	if traceparent == "" {
		return trace.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), &carrier{traceparent, tracestate})
	return trace.SpanContextFromContext(ctx)
}

// format returns the traceparent that names a span.
func format(sc trace.SpanContext) string {
	var c carrier
	propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), sc), &c)
	return c.traceparent
}

// same reports whether both name the same span.
func same(a, b trace.SpanContext) bool {
	return a.SpanID() == b.SpanID() && a.TraceID() == b.TraceID()
}
