package mrtr

import (
	"math"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// stream is the response to one request. It is a plain JSON body, until a
// notification comes first: then it is a stream of server-sent events, of which
// the response is the last. It is safe for concurrent use.
type stream struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	limit   int // of all that is written, escaped; 0: none but the writer's own
	written int // escaped bytes
	size    int // bytes
	started bool
	ended   bool
}

// notify sends a notification, and makes the response a stream. What comes
// after the end, or would leave no room for the response, is dropped.
func (s *stream) notify(method string, params any) {
	b, err := json.Marshal(params, json.Deterministic(true))
	if err != nil {
		return // an author's value that is no JSON; the result is not held up by it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	event := appendEvent(nil, jsonrpc.AppendNotification(nil, method, b))
	if s.ended || s.limit > 0 && s.written+escapedLen(event) > s.limit/2 {
		return
	}
	if _, ok := s.w.(replyLimiter); ok && s.limit == 0 && s.size+len(event) > maxBufferedEvents {
		return
	}
	s.start()
	s.write(event)
	_ = http.NewResponseController(s.w).Flush() // a transport that cannot flush sends all at the end
}

// start writes the head of an event stream.
func (s *stream) start() {
	if s.started {
		return
	}
	s.started = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
}

// header sets a header of the response, unless that has begun. Notifications
// that come later are dropped: a handler that is late may still send some.
func (s *stream) header(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended = true; !s.started {
		s.w.Header().Set(name, value)
	}
}

// finish sends the response and ends the stream. A nil body sends the status
// alone. It returns the status that the client gets.
func (s *stream) finish(status int, body []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.started {
		s.write(appendEvent(nil, body))
		return http.StatusOK
	}
	if body != nil {
		s.w.Header().Set("Content-Type", "application/json")
	}
	s.w.WriteHeader(status)
	s.write(body)
	return status
}

// fits reports whether body may still be sent.
func (s *stream) fits(body []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.w.(replyLimiter); ok && s.limit == 0 {
		return l.ReplyFits(body)
	}
	return s.limit == 0 || s.written+escapedLen(body) <= s.limit
}

// replyLimiter is a writer of a transport that buffers although the server may
// stream, and that knows what it can carry; lambdahttp has one.
type replyLimiter interface{ ReplyFits(body []byte) bool }

// maxBufferedEvents bounds the events that such a transport is given before the
// response, in bytes.
const maxBufferedEvents = 1 << 20

func (s *stream) write(b []byte) {
	s.size += len(b)
	if s.limit > 0 {
		s.written += escapedLen(b)
	}
	_, _ = s.w.Write(b) // a client that is gone gets nothing; there is nobody to tell
}

// appendEvent appends message, which is one line, as a server-sent event.
func appendEvent(b, message []byte) []byte {
	b = append(b, "event: message\ndata: "...)
	b = append(b, message...)
	return append(b, "\n\n"...)
}

// Progress tells the client how far the call is, if it wants to know: done of
// total (0: not known), in any unit, with a text for people. Values that do not
// grow are dropped. The first one that is sent turns the response into a stream
// of events; a transport that cannot stream delivers all at the end.
func (c *Call) Progress(done, total float64, message string) {
	token := c.request.params.Meta.ProgressToken
	if token.Kind() != '"' && token.Kind() != '0' || math.IsNaN(done) || math.IsInf(done, 0) {
		return
	}
	c.progress.Lock()
	defer c.progress.Unlock()
	if c.progress.any && done <= c.progress.last {
		return
	}
	c.progress.any, c.progress.last = true, done
	p := protocol.ProgressParams{ProgressToken: token, Progress: done, Message: message}
	if total > 0 && !math.IsInf(total, 0) {
		p.Total = &total
	}
	c.request.stream.notify(protocol.NotificationProgress, p)
}

type progress struct {
	sync.Mutex
	any  bool
	last float64
}

// Log sends the client a log message, if it asked for messages of that level:
// data is any value that encodes as JSON. Like Progress, it turns the response
// into a stream.
func (c *Call) Log(level protocol.LoggingLevel, logger string, data any) {
	if c.request.logLevel == "" || !level.AtLeast(c.request.logLevel) {
		return
	}
	b, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		return
	}
	c.request.stream.notify(protocol.NotificationMessage, protocol.LoggingMessageParams{Level: level, Logger: logger, Data: b})
}
