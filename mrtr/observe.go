package mrtr

import (
	"context"
	"encoding/hex"
	"log/slog"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// RoundInfo says how one request went. It holds nothing secret: no argument,
// answer, token or key. The server fills it and hands it to the observer when
// the reply is known.
type RoundInfo struct {
	Start       time.Time     // when the request arrived
	Method      string        // MCP method; empty where the body could not be read or names none that clients have
	Version     string        // protocol version; empty where none was agreed on
	RequestID   string        // JSON-RPC id, a string without its quotes; empty where there is none or it takes more than 64 bytes
	Target      string        // registered tool, prompt or resource; empty where there is none
	FlowID      string        // 32 hex digits; empty where no flow was begun or continued
	Round       int           // from 1; 0 outside flows
	Outcome     Outcome       // what the client got
	Reason      string        // why, where it was not served: a Reason of requeststate, or a word of this package
	Err         error         // the cause; for logs only
	Status      int           // HTTP status
	Code        int           // JSON-RPC error code; 0: none
	Cold        bool          // the first request of its handler, so of its process
	Swallowed   bool          // the handler returned a result although it had to ask; the questions were sent
	Trace       Trace         // what this request's _meta says
	Traceparent string        // of the flow's first round, from the state; empty: there was none
	BytesIn     int           // request body
	BytesOut    int           // response body
	StateBytes  int           // the sealed state that was sent; 0: none
	KeyCalls    int           // calls to the key service that this request waited for
	Duration    time.Duration // of the whole request
	Handler     time.Duration // of the tool's own code
}

// Trace is the trace context in a request's _meta (SEP-414), as it came and
// from the client: each member may be empty or no trace context at all.
type Trace struct {
	Traceparent string // W3C Trace Context
	Tracestate  string
	Baggage     string // W3C Baggage
	Link        string // traceparent of the flow's first round, as a client may say it
}

// Observer is told of every request. It is called when the request has been
// decoded, with info's Start, Method, RequestID, Cold and Trace, and what it
// returns goes on: the context to the handler, the function is called once when
// the reply has been written and info is complete. A request that cannot be
// decoded is told of when it has been answered. The reply waits for the function
// on transports that buffer.
//
// An observer that opens a span sets info's Traceparent to it when it is called:
// a flow that this request begins then carries that one, and not the client's,
// to its later rounds.
type Observer func(ctx context.Context, info *RoundInfo) (context.Context, func())

// Keys of _meta under which a client may link a round to the flow's first one,
// by that one's traceparent: the own key, and one that other software uses.
const (
	MetaTraceLink      = "io.github.mrtr-lambda/tracelink"
	MetaTraceLinkOther = "io.modelcontextprotocol/tracelink"
)

// observe tells the observers that the request is known, once.
func (r *request) observe(ctx context.Context) context.Context {
	if r.observed != nil {
		return r.observed
	}
	if fromClient[r.Method] {
		r.info.Method = r.Method
	}
	r.info.RequestID = shortID(r.ID)
	m := &r.params.Meta
	r.info.Trace.Traceparent, _ = stringOf(m.Traceparent)
	r.info.Trace.Tracestate, _ = stringOf(m.Tracestate)
	r.info.Trace.Baggage, _ = stringOf(m.Baggage)
	r.info.Trace.Link, _ = stringOf(m.TraceLink)
	for _, begin := range r.handler.opts.Observers {
		var end func()
		if ctx, end = begin(ctx, r.info); end != nil {
			r.ends = append(r.ends, end)
		}
	}
	r.observed = ctx
	return ctx
}

// fromClient are the methods that clients have, of both eras. Others are text
// that a caller chose.
var fromClient = map[string]bool{
	protocol.MethodDiscover: true, protocol.MethodInitialize: true, protocol.MethodPing: true, protocol.MethodSetLevel: true,
	protocol.MethodListTools: true, protocol.MethodCallTool: true,
	protocol.MethodListPrompts: true, protocol.MethodGetPrompt: true,
	protocol.MethodListResources: true, protocol.MethodListResourceTemplates: true, protocol.MethodReadResource: true,
	protocol.MethodSubscribe: true, protocol.MethodUnsubscribe: true, protocol.MethodSubscriptionsListen: true,
	protocol.MethodComplete:          true,
	protocol.NotificationInitialized: true, protocol.NotificationCancelled: true, protocol.NotificationProgress: true,
	protocol.NotificationRootsListChanged: true,
}

// shortID returns an id for observers.
func shortID(id jsontext.Value) string {
	const longest = 64
	if len(id) > longest {
		return ""
	}
	if s, ok := stringOf(id); ok {
		return s
	}
	return string(id)
}

// report hands on what became of the request, once the reply is out.
func (r *request) report(ctx context.Context) {
	r.info.Version, r.info.BytesOut, r.info.Duration = r.version, r.stream.size, time.Since(r.info.Start)
	if r.info.Outcome != OutcomeInputRequired {
		r.info.StateBytes = 0 // sealed, but not sent: a middleware or the reply's size came between
	}
	ctx = r.observe(ctx)
	r.info.log(ctx, r.handler.opts.Logger)
	for _, end := range slices.Backward(r.ends) {
		end()
	}
}

// Outcome is what a client got.
type Outcome string

// The outcomes.
const (
	OutcomeComplete      Outcome = "complete"       // a result
	OutcomeInputRequired Outcome = "input_required" // questions
	OutcomeToolError     Outcome = "tool_error"     // a result with isError
	OutcomeRefused       Outcome = "refused"        // the requestState was not accepted, or the flow diverged
	OutcomeRPCError      Outcome = "error"          // a JSON-RPC error
	OutcomeNotification  Outcome = "notification"   // nothing to say
)

// log writes the one line that every request gets.
func (i *RoundInfo) log(ctx context.Context, l *slog.Logger) {
	level := slog.LevelInfo
	switch {
	case i.Code == -32603:
		level = slog.LevelError
	case i.Reason != "" || i.Swallowed:
		level = slog.LevelWarn
	}
	if !l.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, 16)
	text := func(k, v string) {
		if v != "" {
			attrs = append(attrs, slog.String(k, v))
		}
	}
	number := func(k string, v int) {
		if v != 0 {
			attrs = append(attrs, slog.Int(k, v))
		}
	}
	text("method", i.Method)
	text("target", i.Target)
	text("flow", i.FlowID)
	number("round", i.Round)
	text("outcome", string(i.Outcome))
	text("reason", i.Reason)
	if i.Err != nil {
		text("error", i.Err.Error())
	}
	number("status", i.Status)
	number("code", i.Code)
	number("bytesIn", i.BytesIn)
	number("bytesOut", i.BytesOut)
	number("stateBytes", i.StateBytes)
	number("keyCalls", i.KeyCalls)
	attrs = append(attrs, slog.Float64("durationMs", milliseconds(i.Duration)))
	if i.Handler != 0 {
		attrs = append(attrs, slog.Float64("handlerMs", milliseconds(i.Handler)))
	}
	if i.Swallowed {
		attrs = append(attrs, slog.Bool("swallowed", true))
	}
	if i.Cold {
		attrs = append(attrs, slog.Bool("coldStart", true))
	}
	l.LogAttrs(ctx, level, "mcp request", attrs...)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func flowIDString(id [16]byte) string { return hex.EncodeToString(id[:]) }
