//go:build !otlp

package awslambda

import (
	"context"
	"log/slog"
	"os"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// tracing returns nothing: this build links no exporter. It says so where the
// OTEL variables ask for one.
func tracing(logger *slog.Logger) (mrtr.Observer, func(context.Context), error) {
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "" || os.Getenv("OTEL_TRACES_EXPORTER") == "otlp" {
		logger.Warn("the OTEL variables ask for traces, and this build has no exporter; build with -tags otlp, or make build TRACE=otlp")
	}
	return nil, nil, nil
}
