//go:build otlp

package awslambda

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrotel"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrotel/otlp"
)

// Limits of MRTR_TRACE_WAIT: how long a request's spans may take to be sent, while
// a buffered reply waits.
const (
	defaultTraceWait = 50 * time.Millisecond
	maxTraceWait     = 5 * time.Second
)

// tracing returns the observer that makes spans and the function that sends
// them, as the OTEL variables say; both are nil where they ask for none. The
// provider becomes the process's, so that the instrumentation of tools finds it.
func tracing(logger *slog.Logger) (mrtr.Observer, func(context.Context), error) {
	provider, err := otlp.FromEnv(context.Background())
	if err != nil || provider == nil {
		return nil, nil, err
	}
	wait := defaultTraceWait
	if text := os.Getenv("MRTR_TRACE_WAIT"); text != "" {
		if wait, err = time.ParseDuration(text); err != nil || wait <= 0 || wait > maxTraceWait {
			return nil, nil, fmt.Errorf("MRTR_TRACE_WAIT: %q is no duration up to %v", text, maxTraceWait)
		}
	}
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) // may quote what a client sent
	var failing atomic.Bool
	return mrtrotel.Observer(provider, nil), func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
		defer cancel()
		err := provider.Flush(ctx)
		if was := failing.Swap(err != nil); err != nil && !was {
			logger.LogAttrs(ctx, slog.LevelWarn, "spans could not be sent; they are tried again, and this is not said again until it works", slog.Any("error", err))
		}
	}, nil
}
