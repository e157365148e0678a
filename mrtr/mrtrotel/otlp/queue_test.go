package otlp_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrotel/otlp"
)

// exporter keeps the names of the spans that it was given, batch by batch.
type exporter struct {
	err     error
	block   chan struct{} // exports wait for it, or for their context; nil: they do not
	begun   chan struct{} // gets one element an export; nil: none
	batches [][]string
	ended   bool
}

func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if e.begun != nil {
		e.begun <- struct{}{}
	}
	if e.block != nil {
		select {
		case <-e.block:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var names []string
	for _, s := range spans {
		names = append(names, s.Name())
	}
	e.batches = append(e.batches, names)
	return e.err
}

func (e *exporter) Shutdown(context.Context) error {
	e.ended = true
	return nil
}

func newQueue(e *exporter, opts ...sdktrace.TracerProviderOption) (*otlp.Queue, func(names ...string)) {
	q := otlp.NewQueue(e)
	tracer := sdktrace.NewTracerProvider(append(opts, sdktrace.WithSpanProcessor(q))...).Tracer("")
	return q, func(names ...string) {
		for _, name := range names {
			_, span := tracer.Start(context.Background(), name)
			span.End()
		}
	}
}

func TestQueue(t *testing.T) {
	e := &exporter{}
	q, spans := newQueue(e)
	require.NoError(t, q.ForceFlush(t.Context()))
	require.Empty(t, e.batches, "nothing is sent for nothing")
	spans("a", "b")
	require.Empty(t, e.batches, "nothing is sent before a flush")
	require.NoError(t, q.ForceFlush(t.Context()))
	require.NoError(t, q.ForceFlush(t.Context()))
	require.Equal(t, [][]string{{"a", "b"}}, e.batches)

	spans("c")
	require.NoError(t, q.Shutdown(t.Context()))
	require.Equal(t, [][]string{{"a", "b"}, {"c"}}, e.batches)
	require.True(t, e.ended)
	spans("late")
	require.NoError(t, q.ForceFlush(t.Context()))
	require.Len(t, e.batches, 2)
}

// TestQueueRetries: what could not be sent goes with the next flush, a bounded
// number of times.
func TestQueueRetries(t *testing.T) {
	e := &exporter{err: errors.New("down")}
	q, spans := newQueue(e)
	spans("a")
	require.ErrorIs(t, q.ForceFlush(t.Context()), e.err)
	spans("b")
	require.Error(t, q.ForceFlush(t.Context()))
	require.Error(t, q.ForceFlush(t.Context()))
	require.NoError(t, q.ForceFlush(t.Context()), "given up: nothing is left")
	require.Equal(t, [][]string{{"a"}, {"a", "b"}, {"a", "b"}}, e.batches)
	require.Len(t, e.batches, otlp.MaxTries)

	spans("c")
	require.Error(t, q.ForceFlush(t.Context()), "tries are counted anew")
	e.err = nil
	require.NoError(t, q.ForceFlush(t.Context()))
	require.Equal(t, []string{"c"}, e.batches[len(e.batches)-1])
}

// TestQueueCap: a flush ends with its context, and its spans go with the next.
func TestQueueCap(t *testing.T) {
	e := &exporter{block: make(chan struct{}), begun: make(chan struct{}, 2)}
	q, spans := newQueue(e)
	spans("a")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- q.ForceFlush(ctx) }()
	<-e.begun
	late, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, q.ForceFlush(late), context.Canceled, "one flush at a time")
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	close(e.block)
	require.NoError(t, q.ForceFlush(t.Context()))
	require.Equal(t, [][]string{{"a"}}, e.batches)
}

func TestQueueBounded(t *testing.T) {
	e := &exporter{err: errors.New("down")}
	q, spans := newQueue(e)
	spans("oldest", "older")
	for range otlp.MaxSpans - 1 {
		spans("x")
	}
	require.Error(t, q.ForceFlush(t.Context()))
	require.Len(t, e.batches[0], otlp.MaxSpans)
	require.Equal(t, "older", e.batches[0][0])
	spans("new")
	e.err = nil
	require.NoError(t, q.ForceFlush(t.Context()))
	require.Len(t, e.batches[1], otlp.MaxSpans)
	require.Equal(t, []string{"x", "new"}, []string{e.batches[1][0], e.batches[1][otlp.MaxSpans-1]})
}

func TestQueueUnsampled(t *testing.T) {
	e := &exporter{}
	q, spans := newQueue(e, sdktrace.WithSampler(recordOnly{}))
	spans("a")
	require.NoError(t, q.ForceFlush(t.Context()))
	require.Empty(t, e.batches)
}

// recordOnly records and does not sample.
type recordOnly struct{}

func (recordOnly) ShouldSample(sdktrace.SamplingParameters) sdktrace.SamplingResult {
	return sdktrace.SamplingResult{Decision: sdktrace.RecordOnly}
}
func (recordOnly) Description() string { return "recordOnly" }
