package mrtr

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// ServeHTTP answers one request: origin, caller, method, headers, size,
// decoding, dispatch, in this order.
func (h *handler) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	info := &RoundInfo{Start: time.Now(), Cold: h.warm.CompareAndSwap(false, true)}
	r := &request{handler: h, http: hr, info: info, stream: &stream{w: w, limit: h.opts.MaxReplyBytes}}
	if !h.originAllowed(hr) {
		info.Status = r.stream.finish(h.errorBody(r, errOrigin))
		r.report(hr.Context())
		return
	}
	if len(h.origins) > 0 || h.opts.AllowLoopbackOrigins {
		allowOrigin(w, hr)
		if hr.Method == http.MethodOptions {
			preflight(w, hr)
			return
		}
	}
	ctx, calls := requeststate.WithCalls(hr.Context())
	body, err := h.recovered(ctx, r)
	calls.Join(ctx) // the process may be frozen once the reply is out
	info.KeyCalls = calls.Count()

	status := http.StatusOK
	switch {
	case err != nil:
		status, body = h.errorBody(r, err)
	case r.IsNotification():
		status, body, info.Outcome = http.StatusAccepted, nil, OutcomeNotification
	case !r.stream.fits(body):
		status, body = h.errorBody(r, internal("reply_too_large", errReplyTooLarge))
	case info.Outcome == "":
		info.Outcome = OutcomeComplete
	}
	info.Status = r.stream.finish(status, body)
	r.report(ctx)
}

// recovered is serve, with a panic outside a handler's own code turned into an
// error.
func (h *handler) recovered(ctx context.Context, r *request) (body jsontext.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			body, err = nil, internal("panic", panicError("the server", p))
		}
	}()
	return h.serve(ctx, r)
}

var (
	errReplyTooLarge = errors.New("the reply exceeds what the transport can carry")
	errOrigin        = fail(http.StatusForbidden, jsonrpc.CodeInvalidRequest, "Origin or Host is not allowed").because("origin", nil)
)

// errorBody returns the response to a request that failed, and records why. A
// handshake client's errors ride on status 200.
func (h *handler) errorBody(r *request, err error) (int, []byte) {
	f := asFailure(err)
	r.info.Outcome, r.info.Code, r.info.Err = OutcomeRPCError, f.rpc.Code, f.cause
	if f.rpc.Message == refusedMessage {
		r.info.Outcome = OutcomeRefused
	}
	if f.reason != "" {
		r.info.Reason = f.reason
	}
	if f.challenge != "" {
		r.stream.header("WWW-Authenticate", f.challenge)
	}
	if f.status == http.StatusServiceUnavailable {
		r.stream.header("Retry-After", "1")
	}
	if f.rpc.Code == 0 {
		return f.status, nil
	}
	status := f.status
	if r.handshake && status == http.StatusBadRequest && f.rpc.Code != protocol.CodeHeaderMismatch || r.handshake && f.rpc.Code == jsonrpc.CodeMethodNotFound {
		status = http.StatusOK
	}
	return status, jsonrpc.AppendError(nil, r.ID, &f.rpc)
}

// serve does everything but write the reply. It returns the response to a
// request, nothing for a notification.
func (h *handler) serve(ctx context.Context, r *request) (jsontext.Value, error) {
	if h.opts.Authenticate != nil {
		var err error
		if ctx, err = h.opts.Authenticate(r.http.WithContext(ctx)); err != nil {
			return nil, err
		}
		r.http = r.http.WithContext(ctx)
	}
	if err := checkHTTP(r.stream.w, r.http); err != nil {
		return nil, err
	}
	body, err := h.readBody(r.http)
	r.info.BytesIn = len(body)
	if err != nil {
		return nil, err
	}
	var bad *jsonrpc.Error
	if r.Request, bad = jsonrpc.Parse(body); bad != nil {
		return nil, &failure{status: http.StatusBadRequest, rpc: *bad}
	}
	if err := r.decodeParams(); err != nil {
		return nil, err
	}
	ctx = r.observe(ctx)
	if len(r.http.Header[jsonrpc.HeaderProtocolVersion]) > 1 {
		return nil, headerMismatch("MCP-Protocol-Version is there twice")
	}
	if !r.modern() {
		if err := r.checkMirrors(); err != nil {
			return nil, err
		}
		return h.serveHandshake(ctx, r)
	}
	if r.IsNotification() {
		return nil, nil
	}
	if err := r.checkModern(); err != nil {
		return nil, err
	}
	switch r.Method {
	case protocol.MethodDiscover:
		return h.plain(ctx, r, func(context.Context) (jsontext.Value, error) { return h.lists[r.version].discover, nil })
	case protocol.MethodSubscriptionsListen:
		return h.plain(ctx, r, func(context.Context) (jsontext.Value, error) { return h.listen(r) })
	}
	return h.dispatch(ctx, r)
}

// dispatch calls the methods that both eras have.
func (h *handler) dispatch(ctx context.Context, r *request) (jsontext.Value, error) {
	offered := h.lists[r.version].pages
	switch method := r.Method; method {
	case protocol.MethodListTools, protocol.MethodListPrompts, protocol.MethodListResources, protocol.MethodListResourceTemplates:
		if offered[method] != nil {
			return h.plain(ctx, r, func(context.Context) (jsontext.Value, error) { return h.list(r) })
		}
	case protocol.MethodComplete:
		if h.lists[r.version].completions {
			return h.plain(ctx, r, func(ctx context.Context) (jsontext.Value, error) { return h.complete(ctx, r) })
		}
	case protocol.MethodCallTool:
		if offered[protocol.MethodListTools] != nil {
			return h.callTool(ctx, r)
		}
	case protocol.MethodGetPrompt:
		if offered[protocol.MethodListPrompts] != nil {
			return h.getPrompt(ctx, r)
		}
	case protocol.MethodReadResource:
		if offered[protocol.MethodListResources] != nil {
			return h.readResource(ctx, r)
		}
	}
	return nil, fail(http.StatusNotFound, jsonrpc.CodeMethodNotFound, "Method not found")
}

// plain serves a method that is no part of a flow and returns the response that
// carries its result.
func (h *handler) plain(ctx context.Context, r *request, serve func(context.Context) (jsontext.Value, error)) (jsontext.Value, error) {
	return r.response(h.through(ctx, Method{Name: r.Method}, serve))
}

// callTool runs one round of a tools/call.
func (h *handler) callTool(ctx context.Context, r *request) (jsontext.Value, error) {
	name, ok := textOf(r.params.Name)
	if !ok {
		return nil, invalidParams("name must be a string")
	}
	t, ok := h.targets[targetKey{requeststate.PurposeTool, string(name)}]
	if !ok {
		return nil, invalidParams("unknown tool")
	}
	args, err := r.arguments()
	if err != nil {
		return nil, err
	}
	if !r.handshake {
		if err := r.checkParamHeaders(t.headers, args); err != nil {
			return nil, err
		}
	}
	return h.round(ctx, r, t, t.name, args)
}

// checkHTTP holds the request's method and media types against what an MCP
// endpoint serves.
func checkHTTP(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return fail(http.StatusMethodNotAllowed, jsonrpc.CodeInvalidRequest, "Method not allowed")
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return fail(http.StatusUnsupportedMediaType, jsonrpc.CodeInvalidRequest, "Content-Type must be application/json")
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return fail(http.StatusUnsupportedMediaType, jsonrpc.CodeInvalidRequest, "Content-Encoding is not supported")
	}
	if !acceptable(r.Header["Accept"]) {
		return fail(http.StatusNotAcceptable, jsonrpc.CodeInvalidRequest, "Accept must allow application/json and text/event-stream")
	}
	return nil
}

// isJSON reports whether a Content-Type says JSON, whatever its parameters.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && t == "application/json"
}

// acceptable reports whether a client takes both media types that an MCP reply
// may have. No Accept header means anything.
func acceptable(accept []string) bool {
	if len(accept) == 0 || len(accept) == 1 && accept[0] == "application/json, text/event-stream" {
		return true // what most clients send
	}
	var jsonOK, sseOK bool
	for _, line := range accept {
		for part := range strings.SplitSeq(line, ",") {
			t, params, _ := strings.Cut(part, ";")
			if q := strings.ReplaceAll(params, " ", ""); strings.HasPrefix(q, "q=0") && strings.Trim(q[3:], ".0") == "" {
				continue
			}
			switch strings.ToLower(strings.TrimSpace(t)) {
			case "*/*":
				jsonOK, sseOK = true, true
			case "application/json", "application/*":
				jsonOK = true
			case "text/event-stream", "text/*":
				sseOK = true
			}
		}
	}
	return jsonOK && sseOK
}

// readBody reads at most the allowed bytes.
func (h *handler) readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength > h.opts.MaxBodyBytes {
		return nil, h.bodyTooLarge()
	}
	size := r.ContentLength + 1 // room to read that it has ended
	if r.ContentLength < 0 {
		size = 512
	}
	body := make([]byte, 0, size)
	for {
		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > h.opts.MaxBodyBytes:
			return nil, h.bodyTooLarge()
		case err == io.EOF:
			return body, nil
		case err != nil:
			return body, fail(http.StatusBadRequest, jsonrpc.CodeParseError, "Parse error: the body could not be read").because("body", err)
		case len(body) == cap(body):
			body = append(body, 0)[:len(body)]
		}
	}
}

func (h *handler) bodyTooLarge() *failure {
	return fail(http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalidRequest, "The body exceeds "+strconv.FormatInt(h.opts.MaxBodyBytes, 10)+" bytes")
}

// escapedLen returns how long b is as a JSON string, without its quotes.
func escapedLen(b []byte) int {
	n := len(b)
	for _, c := range b {
		switch {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f':
			n++
		case c < ' ':
			n += 5
		}
	}
	return n
}
