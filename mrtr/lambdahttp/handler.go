package lambdahttp

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Limits that apply where Options leave theirs zero.
const (
	DefaultMargin        = 500 * time.Millisecond
	DefaultMaxReplyBytes = 6 << 20 // what Lambda takes for a buffered reply
)

// Options change how events are served. The zero value is ready for use.
type Options struct {
	// Margin is how long before the invocation's deadline the request's context
	// ends, so that there is time left to answer. Zero means DefaultMargin, less
	// than zero none.
	Margin time.Duration

	// GatewayTimeout is how long the gateway waits for a reply, where that is
	// shorter than the function's own timeout: 30 s for an HTTP API, 29 s for a
	// REST API unless raised. The margin is taken off it as well. Zero means no
	// limit of its own.
	GatewayTimeout time.Duration

	// MaxReplyBytes is the limit of a buffered reply, in bytes of the JSON that
	// it becomes. Zero means DefaultMaxReplyBytes.
	MaxReplyBytes int

	// TooLarge answers a request whose buffered reply is over the limit. It gets
	// the same request with its body readable from the start. Nil means a 500
	// with a fixed text, which is also the answer when TooLarge's own is over.
	TooLarge http.Handler

	// Logger gets one record for each panic and each event that is not an HTTP
	// request; none holds anything that a client sent. Nil means slog.Default().
	Logger *slog.Logger

	// Replied is called once for each request that the handler was given, with
	// the request's context, when it has been answered: a buffered reply leaves
	// when it returns, a streamed one has left. Lambda may freeze the process soon
	// after. Nil means that nothing is to be done then.
	Replied func(context.Context)

	// Now is the clock for GatewayTimeout. Nil means time.Now.
	Now func() time.Time
}

// Handler returns a Lambda handler that answers each event with one JSON reply.
// It never returns an error, and its Invoke may be called concurrently as far as
// h allows. It panics if h is nil.
func Handler(h http.Handler, opts Options) lambda.Handler {
	return newAdapter(h, opts)
}

// adapter serves events with a handler.
type adapter struct {
	handler http.Handler
	opts    Options
}

var _ lambda.Handler = (*adapter)(nil)

func newAdapter(h http.Handler, opts Options) *adapter {
	if h == nil {
		panic("lambdahttp: nil handler")
	}
	if opts.Margin == 0 {
		opts.Margin = DefaultMargin
	}
	opts.Margin = max(opts.Margin, 0)
	if opts.MaxReplyBytes <= 0 {
		opts.MaxReplyBytes = DefaultMaxReplyBytes
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &adapter{handler: h, opts: opts}
}

// Invoke serves one event.
func (a *adapter) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	x, reply := a.open(ctx, payload)
	if x == nil {
		return reply, nil
	}
	defer x.cancel()
	return a.whole(x), nil
}

// whole is buffered with all that is done before the reply leaves.
func (a *adapter) whole(x *exchange) []byte {
	reply := a.buffered(x)
	a.replied(x)
	return reply
}

func (a *adapter) replied(x *exchange) {
	if a.opts.Replied != nil {
		a.opts.Replied(x.req.Context())
	}
}

// exchange is a request on its way.
type exchange struct {
	kind   Kind
	v1     bool
	req    *http.Request
	body   []byte // the request's
	cancel context.CancelFunc
}

// open turns an event into an exchange, or into the reply that refuses it.
func (a *adapter) open(ctx context.Context, payload []byte) (*exchange, []byte) {
	var e event
	e.decode(payload)
	if e.kind == KindUnknown {
		a.log(ctx, slog.LevelWarn, "lambdahttp: event is not an HTTP request")
		return nil, refusal(false, http.StatusBadRequest, refusedEvent)
	}
	dctx, cancel := a.deadline(ctx)
	ictx := &invocationContext{Context: dctx}
	ictx.inv.LambdaRequestID = requestID(ctx)
	req, body, refused := e.request(ictx)
	if refused != "" {
		cancel()
		return nil, refusal(e.v1, http.StatusBadRequest, refused)
	}
	return &exchange{kind: e.kind, v1: e.v1, req: req, body: body, cancel: cancel}, nil
}

// deadline returns a context that ends a margin before the invocation does.
func (a *adapter) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if t := a.opts.GatewayTimeout; t > 0 {
		if gw := a.opts.Now().Add(t); !ok || gw.Before(end) {
			end, ok = gw, true
		}
	}
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, end.Add(-a.opts.Margin))
}

// buffered runs the handler and returns its reply, or what stands for it.
func (a *adapter) buffered(x *exchange) []byte {
	reply, fits, ok := a.collect(a.handler, x, x.req)
	if ok && !fits && a.opts.TooLarge != nil {
		again := x.req.WithContext(x.req.Context())
		again.Body = newBody(x.body)
		reply, fits, ok = a.collect(a.opts.TooLarge, x, again)
	}
	switch {
	case !ok:
		return refusal(x.v1, http.StatusInternalServerError, "internal error")
	case !fits:
		return refusal(x.v1, http.StatusInternalServerError, "reply too large")
	}
	return reply
}

// collect runs one handler into a buffer. ok is false if it did not end well.
func (a *adapter) collect(h http.Handler, x *exchange, r *http.Request) (reply []byte, fits, ok bool) {
	w := &bufferedWriter{max: a.opts.MaxReplyBytes}
	w.v1, w.noBody = x.v1, r.Method == http.MethodHead
	if a.serve(h, w, r) != served {
		return nil, false, false
	}
	reply, fits = w.reply()
	return reply, fits, true
}

// outcome says how a handler ended.
type outcome uint8

const (
	aborted  outcome = iota // panic(http.ErrAbortHandler), or runtime.Goexit
	panicked                // any other panic
	served
)

// serve runs a handler. A panic is logged with the place it came from, never
// with its value.
func (a *adapter) serve(h http.Handler, w http.ResponseWriter, r *http.Request) (o outcome) {
	defer func() {
		if o == served {
			return
		}
		if v := recover(); v != nil && v != http.ErrAbortHandler {
			o = panicked
			a.log(r.Context(), slog.LevelError, "lambdahttp: handler panicked", slog.String("at", panicPlace()))
		}
	}()
	h.ServeHTTP(w, r)
	return served
}

func (a *adapter) log(ctx context.Context, level slog.Level, msg string, attrs ...slog.Attr) {
	l := a.opts.Logger
	if l == nil {
		l = slog.Default()
	}
	if id := requestID(ctx); id != "" {
		attrs = append(attrs, slog.String("request_id", id))
	}
	l.LogAttrs(ctx, level, msg, attrs...)
}

// requestID returns the invocation's id, if ctx comes from the Lambda loop.
func requestID(ctx context.Context) string {
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		return lc.AwsRequestID
	}
	return ""
}

// panicPlace names the functions above a panic, innermost first, without their
// arguments. It is called by the function that recovers.
func panicPlace() string {
	var pcs [24]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])]) // skips Callers, this, the deferred function
	var b strings.Builder
	for n := 0; n < 8; {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			if n > 0 {
				b.WriteString(" < ")
			}
			fmt.Fprintf(&b, "%s (%s:%d)", f.Function, path.Base(f.File), f.Line)
			n++
		}
		if !more {
			break
		}
	}
	return b.String()
}
