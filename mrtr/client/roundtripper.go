package client

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
)

// roundTripper watches the requests of a streamable HTTP transport, and ends
// every response that has a message over the limit.
type roundTripper struct {
	base http.RoundTripper // nil: http.DefaultTransport
	tap  *tap
}

var _ http.RoundTripper = (*roundTripper)(nil)

// RoundTrip sends the request as it is.
func (t *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	var x *exchange
	switch r.Method {
	case http.MethodPost:
		body, err := bodyOf(r)
		if err == nil {
			x, err = t.tap.sending(r.Context(), body)
		}
		if err != nil {
			if r.Body != nil {
				_ = r.Body.Close()
			}
			return nil, err
		}
	case http.MethodGet: // a stream that broke off is resumed
		x = exchangeOf(r.Context())
	}
	base := t.base
	if base == nil {
		base = http.DefaultTransport
	}
	res, err := base.RoundTrip(r)
	if err != nil || res.Body == nil {
		return res, err
	}
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	res.Body = &recorder{ReadCloser: res.Body, exchange: x, events: media == "text/event-stream", limit: maxMessage}
	return res, nil
}

// bodyOf returns a request's body and leaves it to be sent.
func bodyOf(r *http.Request) ([]byte, error) {
	if r.GetBody == nil {
		return nil, nil // none, or not one that the SDK made
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	return io.ReadAll(body)
}

// recorder reads along in a response: a JSON-RPC message, or a stream of events
// that holds some. What it saw is noted before its reader gets it.
type recorder struct {
	io.ReadCloser
	exchange *exchange // nil: the size counts, not what is said
	events   bool
	limit    int // of a message

	buffer []byte // the message, or the stream's line so far
	data   []byte // of the event so far
	filled bool   // whether the event has data
	closed bool   // all was seen, or too much
	over   bool   // too much
}

// errTooLarge ends a response.
var errTooLarge = errors.New("client: the server sent a message of more than 64 MiB")

// Read reads from the body. A message over the limit is an error, and nothing
// after it is read.
func (r *recorder) Read(p []byte) (int, error) {
	if r.over {
		return 0, errTooLarge
	}
	n, err := r.ReadCloser.Read(p)
	if r.closed {
		return n, err
	}
	r.feed(p[:n])
	if r.over {
		return 0, errTooLarge
	}
	if err == io.EOF {
		r.end()
	}
	return n, err
}

func (r *recorder) feed(b []byte) {
	if !r.events {
		r.keep(b)
		return
	}
	for !r.closed {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		if r.keep(line); !whole {
			return
		}
		r.line()
		b = rest
	}
}

func (r *recorder) keep(b []byte) {
	if len(r.buffer)+len(r.data)+len(b) > r.limit {
		r.exchange.unreadable()
		r.closed, r.over, r.buffer, r.data = true, true, nil, nil
		return
	}
	r.buffer = append(r.buffer, b...)
}

// line takes one line of an event stream.
func (r *recorder) line() {
	line := bytes.TrimRight(r.buffer, "\r")
	r.buffer = r.buffer[:0]
	if len(line) == 0 {
		r.event()
		return
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	if string(name) != "data" {
		return
	}
	if r.filled {
		r.data = append(r.data, '\n')
	}
	r.data, r.filled = append(r.data, bytes.TrimSpace(value)...), true
}

func (r *recorder) event() {
	if len(r.data) > 0 {
		r.exchange.received(r.data)
	}
	r.data, r.filled = r.data[:0], false
}

func (r *recorder) end() {
	if r.closed {
		return
	}
	r.closed = true
	if r.events {
		r.line()
		r.event()
	} else if len(r.buffer) > 0 {
		r.exchange.received(r.buffer)
	}
}
