package awslambda

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"slices"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// observe adds the observers that the settings ask for: metrics on Lambda, and
// traces. flush sends what was traced once a request has been answered; nil:
// there is nothing to send.
func (s *settings) observe(options *mrtr.HandlerOptions, logger *slog.Logger) (flush func(context.Context), err error) {
	namespace, err := readNamespace(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	options.Observers = slices.Clip(options.Observers)
	if s.onLambda && namespace != "" {
		options.Observers = append(options.Observers, newMetrics(os.Stdout, namespace, os.Getenv("AWS_LAMBDA_FUNCTION_NAME")).observe)
	}
	spans, flush, err := tracing(logger)
	if err != nil {
		return nil, err
	}
	if spans != nil {
		options.Observers = append(options.Observers, spans)
	}
	return flush, nil
}

// flushed calls flush after each request, if it is not nil.
func flushed(h http.Handler, flush func(context.Context)) http.Handler {
	if flush == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer flush(r.Context())
		h.ServeHTTP(w, r)
	})
}
