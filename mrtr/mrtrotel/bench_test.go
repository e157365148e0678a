package mrtrotel_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrotel"
)

// BenchmarkObserver compares a tools/call without an observer with one whose
// provider does nothing, one that samples nothing, and one that records.
func BenchmarkObserver(b *testing.B) {
	never := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	always := sdktrace.NewTracerProvider()
	for _, bb := range []struct {
		name      string
		observers []mrtr.Observer
	}{
		{"none", nil},
		{"noop", []mrtr.Observer{mrtrotel.Observer(noop.NewTracerProvider(), nil)}},
		{"unsampled", []mrtr.Observer{mrtrotel.Observer(never, nil)}},
		{"recorded", []mrtr.Observer{mrtrotel.Observer(always, nil)}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			h := serve(b, bb.observers...)
			hr := request{name: "fail", meta: metaTrace(traceOne)}.build(b)
			body, err := io.ReadAll(hr.Body)
			if err != nil {
				b.Fatal(err)
			}
			w := discard{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				hr.Body = io.NopCloser(strings.NewReader(string(body)))
				h.ServeHTTP(w, hr)
			}
		})
	}
}
