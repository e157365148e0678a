//go:build otlp

package awslambda

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrotel"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrotel/otlp"
)

// flushWait is how long a request's spans may take to be sent. Buffered replies
// wait for it.
const flushWait = 50 * time.Millisecond

// tracing returns the observer that makes spans and the function that sends
// them, as the OTEL variables say; both are nil where they ask for none. The
// provider becomes the process's, so that the instrumentation of tools finds it.
func tracing(logger *slog.Logger) (mrtr.Observer, func(context.Context), error) {
	provider, err := otlp.FromEnv(context.Background())
	if err != nil || provider == nil {
		return nil, nil, err
	}
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {})) // may quote what a client sent
	var failing atomic.Bool
	return mrtrotel.Observer(provider, nil), func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushWait)
		defer cancel()
		err := provider.Flush(ctx)
		if was := failing.Swap(err != nil); err != nil && !was {
			logger.LogAttrs(ctx, slog.LevelWarn, "spans could not be sent; they are tried again, and this is not said again until it works", slog.Any("error", err))
		}
	}, nil
}
