package mrtrotel

import (
	"context"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// Scope is the name of the tracer.
const Scope = "github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrotel"

// Options change what Observer does.
type Options struct {
	// NewRoot begins a trace of its own with every request and links the caller's
	// trace context instead of making it the parent: for endpoints where a
	// stranger's decision to sample must not count.
	NewRoot bool

	// Baggage puts the baggage of the request's _meta in the handler's context.
	// It is a client's word, and where a propagator of baggage is installed it
	// goes out with the calls that the handler makes: only for endpoints whose
	// clients may set it for what lies behind. Without effect with NewRoot.
	Baggage bool
}

// Observer returns an observer that opens a span for each request on a tracer of
// tp. A nil opts means the zero value. It panics if tp is nil. It is safe for
// concurrent use.
func Observer(tp trace.TracerProvider, opts *Options) mrtr.Observer {
	if tp == nil {
		panic("mrtrotel: nil TracerProvider")
	}
	o := &observer{tracer: tp.Tracer(Scope)}
	if opts != nil {
		o.opts = *opts
	}
	return o.begin
}

type observer struct {
	tracer trace.Tracer
	opts   Options
}

// begin opens the span.
func (o *observer) begin(ctx context.Context, info *mrtr.RoundInfo) (context.Context, func()) {
	// 1. Where the request comes from.
	var links []trace.Link
	link := func(sc trace.SpanContext) {
		if sc.IsValid() {
			links = append(links, trace.Link{SpanContext: sc})
		}
	}
	caller, ambient := parse(info.Trace.Traceparent, info.Trace.Tracestate), trace.SpanContextFromContext(ctx)
	switch {
	case o.opts.NewRoot:
		link(caller)
		link(ambient)
	case caller.IsValid():
		link(ambient)
		ctx = trace.ContextWithRemoteSpanContext(ctx, caller)
	}
	// 2. What it says of the flow's first round.
	told := parse(info.Trace.Link, "")
	link(told)
	// 3. The span.
	start := make([]trace.SpanStartOption, 0, 5)
	start = append(start, trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(info.Start), trace.WithAttributes(known(info)...))
	if links != nil {
		start = append(start, trace.WithLinks(links...))
	}
	if o.opts.NewRoot {
		start = append(start, trace.WithNewRoot())
	}
	ctx, span := o.tracer.Start(ctx, methodName(info), start...)
	if b := info.Trace.Baggage; b != "" && o.opts.Baggage && !o.opts.NewRoot {
		if members, err := baggage.Parse(b); err == nil {
			ctx = baggage.ContextWithBaggage(ctx, members)
		}
	}
	if !span.IsRecording() {
		return ctx, nil
	}
	own := format(span.SpanContext())
	info.Traceparent = own
	return ctx, func() {
		if info.Round > 1 && info.Traceparent != own {
			if first := parse(info.Traceparent, ""); first.IsValid() && !same(first, told) {
				span.AddLink(trace.Link{SpanContext: first})
			}
		}
		span.SetName(spanName(info))
		attributes, failed := learned(info)
		span.SetAttributes(attributes...)
		if failed {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}
