package lambdahttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"
	"github.com/go-json-experiment/json/jsontext"
)

// Content types of what the Runtime API is sent.
const (
	contentTypeStream = "application/vnd.awslambda.http-integration-response"
	contentTypeJSON   = "application/json"
)

// preludeEnd parts the status and headers of a streamed reply from its body.
const preludeEnd = "\x00\x00\x00\x00\x00\x00\x00\x00"

// streamBuffer is how much of a streamed reply waits for a Flush.
const streamBuffer = 4 << 10

// StreamHandler returns a Lambda handler, in the form that lambda.Start takes,
// whose replies are sent while h writes them. Events of HTTP APIs, which cannot
// stream, and refused ones get a buffered reply. The handler's error is always
// nil. The Lambda loop closes the reply, which cancels the request's context and
// waits for h to return. It panics if h is nil.
func StreamHandler(h http.Handler, opts Options) func(context.Context, jsontext.Value) (io.ReadCloser, error) {
	a := newAdapter(h, opts)
	return func(ctx context.Context, payload jsontext.Value) (io.ReadCloser, error) {
		x, reply := a.open(ctx, payload)
		if x == nil {
			return wholeReply(reply), nil
		}
		if x.kind == KindHTTPAPI {
			defer x.cancel()
			return wholeReply(a.whole(x)), nil
		}
		return a.stream(x), nil
	}
}

var errStalled = errors.New("lambdahttp: nobody reads the reply")

// streamReply is what the Lambda loop reads a reply from.
type streamReply struct {
	io.Reader
	contentType string
	close       func()
}

func wholeReply(b []byte) *streamReply {
	return &streamReply{Reader: bytes.NewReader(b), contentType: contentTypeJSON, close: func() {}}
}

// ContentType is read by the Lambda loop.
func (r *streamReply) ContentType() string { return r.contentType }

// MarshalJSON fails, so that the Lambda loop reads the reply.
func (r *streamReply) MarshalJSON() ([]byte, error) {
	return nil, errors.New("lambdahttp: a streamed reply is not JSON")
}

// Close ends the exchange; the handler has returned when it does.
func (r *streamReply) Close() error {
	r.close()
	return nil
}

// stream starts the handler on a goroutine of its own, joined by Close.
func (a *adapter) stream(x *exchange) io.ReadCloser {
	pr, pw := io.Pipe()
	w := &streamWriter{pipe: pw}
	w.v1, w.noBody = x.v1, x.req.Method == http.MethodHead
	done := make(chan struct{})
	// A reader that has stalled must not hold a handler past the deadline: what
	// is left of the margin is for the handler to end and say so.
	stop := context.AfterFunc(x.req.Context(), func() {
		t := time.NewTimer(a.opts.Margin / 2)
		defer t.Stop()
		select {
		case <-done:
		case <-t.C:
			pr.CloseWithError(errStalled)
		}
	})
	go func() {
		defer close(done)
		defer x.cancel()
		ended := aborted // also when the handler ends its goroutine
		defer func() { w.finish(ended) }()
		ended = a.serve(a.handler, w, x.req)
	}()
	return &streamReply{Reader: pr, contentType: contentTypeStream, close: func() {
		x.cancel()
		pr.Close() // fails writes that nobody reads
		<-done
		stop()
		a.replied(x)
	}}
}

// streamWriter hands a reply over as it is flushed.
type streamWriter struct {
	responseHead
	pipe    *io.PipeWriter
	buf     []byte // written, not yet handed over
	started bool   // the prelude has been handed over
}

var _ http.Flusher = (*streamWriter)(nil)

func (w *streamWriter) Write(p []byte) (int, error) {
	keep, err := w.accept()
	if err != nil {
		return 0, err
	}
	if !keep {
		return len(p), nil
	}
	w.seal(p)
	w.buf = append(w.buf, p...)
	if len(w.buf) < streamBuffer {
		return len(p), nil
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush hands over what was written.
func (w *streamWriter) Flush() { _ = w.FlushError() }

// FlushError is Flush for http.ResponseController: it fails when nobody reads
// the reply any more.
func (w *streamWriter) FlushError() error {
	w.seal(nil)
	return w.flush()
}

// flush hands the prelude and the buffer to the reader, which has taken them
// when it returns.
func (w *streamWriter) flush() error {
	b := w.buf
	if !w.started {
		w.started = true
		b = append(append(append(w.encoded, '}'), preludeEnd...), b...)
	}
	if len(b) == 0 {
		return nil
	}
	w.buf = w.buf[:0]
	_, err := w.pipe.Write(b)
	return err
}

// finish ends the stream: well, as a 500, or with an error trailer.
func (w *streamWriter) finish(o outcome) {
	switch {
	case o == served:
		w.seal(nil)
		_ = w.flush()
		_ = w.pipe.Close()
	case !w.started:
		w.responseHead = responseHead{v1: w.v1, noBody: w.noBody}
		w.buf = nil
		w.Header().Set("Content-Type", contentTypeJSON)
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write(refusalBody("internal error"))
		_ = w.flush()
		_ = w.pipe.Close()
	case o == panicked:
		_ = w.pipe.CloseWithError(messages.InvokeResponse_Error{
			Type: "Handler.Panic", Message: "the handler panicked"})
	default:
		_ = w.pipe.CloseWithError(messages.InvokeResponse_Error{
			Type: "Handler.Aborted", Message: "the handler aborted its reply"})
	}
}
