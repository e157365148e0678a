package otlp

import (
	"context"
	"sync"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Limits of a Queue.
const (
	MaxSpans = 2048 // that wait; the oldest go first
	MaxTries = 3    // to send the same spans
)

// Queue is a span processor that keeps ended spans until it is flushed, in the
// time of whoever flushes. It starts no goroutine: a process that is frozen
// between requests has no use for one. It is safe for concurrent use; the zero
// value is not ready for use.
type Queue struct {
	exporter sdktrace.SpanExporter
	turn     chan struct{} // held by the flush that is under way

	mu     sync.Mutex
	spans  []sdktrace.ReadOnlySpan
	tries  int // that failed since the last one that did not
	closed bool
}

var _ sdktrace.SpanProcessor = (*Queue)(nil)

// NewQueue returns a queue in front of an exporter.
func NewQueue(exporter sdktrace.SpanExporter) *Queue {
	return &Queue{exporter: exporter, turn: make(chan struct{}, 1)}
}

// OnStart does nothing.
func (q *Queue) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd keeps a sampled span.
func (q *Queue) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.spans = append(q.spans, s)
	q.trim()
}

// ForceFlush sends the spans that wait, within ctx. After an error they wait for
// the next call, up to MaxTries; spans that were sent although the answer did
// not come in time are sent twice, under the same ids.
func (q *Queue) ForceFlush(ctx context.Context) error {
	select {
	case q.turn <- struct{}{}:
		defer func() { <-q.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	q.mu.Lock()
	batch := q.spans
	q.spans = nil
	q.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	err := q.exporter.ExportSpans(ctx, batch)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err == nil {
		q.tries = 0
		return nil
	}
	if q.tries++; q.tries >= MaxTries {
		q.tries = 0
		return err
	}
	q.spans = append(batch[:len(batch):len(batch)], q.spans...)
	q.trim()
	return err
}

// Shutdown flushes and ends the exporter; later spans are dropped.
func (q *Queue) Shutdown(ctx context.Context) error {
	err := q.ForceFlush(ctx)
	q.mu.Lock()
	q.closed = true
	q.spans = nil
	q.mu.Unlock()
	if end := q.exporter.Shutdown(ctx); err == nil {
		err = end
	}
	return err
}

// trim drops the oldest spans over the limit.
func (q *Queue) trim() {
	if over := len(q.spans) - MaxSpans; over > 0 {
		q.spans = append([]sdktrace.ReadOnlySpan(nil), q.spans[over:]...)
	}
}
