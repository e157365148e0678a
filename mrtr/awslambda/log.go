package awslambda

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
)

// newLogger returns the logger of a run: JSON on Lambda, text elsewhere.
func newLogger(w io.Writer, onLambda bool) *slog.Logger {
	if onLambda {
		return slog.New(invocationHandler{slog.NewJSONHandler(w, nil)})
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// invocationHandler adds to each record which invocation it belongs to:
//
//	requestId    Lambda's id of it
//	xrayTraceId  the X-Ray trace that it is part of
type invocationHandler struct{ slog.Handler }

func (h invocationHandler) Handle(ctx context.Context, r slog.Record) error {
	if inv, ok := lambdahttp.RequestContext(ctx); ok && inv.LambdaRequestID != "" {
		r.AddAttrs(slog.String("requestId", inv.LambdaRequestID))
	}
	if id := xrayTraceID(ctx); id != "" {
		r.AddAttrs(slog.String("xrayTraceId", id))
	}
	return h.Handler.Handle(ctx, r)
}

func (h invocationHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return invocationHandler{h.Handler.WithAttrs(attrs)}
}

func (h invocationHandler) WithGroup(name string) slog.Handler {
	return invocationHandler{h.Handler.WithGroup(name)}
}

// xrayTraceID returns the trace id in the header that the Lambda loop puts into
// a context, "Root=1-…;Parent=…;Sampled=0". What is not an id counts as absent:
// a caller has a say in it.
func xrayTraceID(ctx context.Context) string {
	header, _ := ctx.Value("x-amzn-trace-id").(string)
	for field := range strings.SplitSeq(header, ";") {
		id, ok := strings.CutPrefix(field, "Root=")
		if ok && len(id) == len("1-01234567-0123456789abcdef01234567") && strings.Trim(id, "-0123456789abcdef") == "" {
			return id
		}
	}
	return ""
}
