package lambdatest

import (
	"bytes"
	"context"
	"io"
	"net/http"
)

// HTTPHandler returns a handler that stands in front of the function as a
// gateway of that kind would: each request becomes an event and the reply a
// response, flushed piece by piece where it is streamed. A function error or a
// reply that makes no sense is the gateway's own 500 or 502, and one in
// mid-stream cuts the connection. A client that leaves does not end the
// invocation. REST renames the reply's WWW-Authenticate as REST APIs do. It
// panics on an unknown kind.
func (a *API) HTTPHandler(kind Kind) http.Handler {
	if domains[kind] == "" {
		panic("lambdatest: unknown kind of gateway " + string(kind))
	}
	return &gateway{api: a, kind: kind}
}

type gateway struct {
	api  *API
	kind Kind
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 10<<20+1))
	switch {
	case err != nil:
		return // the client is gone
	case len(body) > 10<<20:
		status(w, http.StatusRequestEntityTooLarge, `{"message":"Request Too Long"}`)
		return
	}
	event, err := Event(g.kind, r, body)
	if err != nil {
		status(w, http.StatusBadRequest, `{"message":"Bad Request"}`)
		return
	}
	if len(event) > MaxEvent {
		status(w, http.StatusRequestEntityTooLarge, `{"message":"Request Too Long"}`)
		return
	}
	s := &streamed{gateway: g, w: w}
	res, err := g.api.InvokeFunc(context.WithoutCancel(r.Context()), event, s.chunk)
	switch {
	case s.started && (err != nil || res.FunctionError != nil):
		panic(http.ErrAbortHandler)
	case s.started:
		return
	case err != nil || res.FunctionError != nil || s.bad:
		g.fail(w)
		return
	}
	reply, err := res.Reply()
	if err != nil {
		g.fail(w)
		return
	}
	g.head(w, reply.Status, reply.Header)
	_, _ = w.Write(reply.Body)
}

func (g *gateway) head(w http.ResponseWriter, status int, h http.Header) {
	for name, values := range h {
		if g.kind == REST && name == "Www-Authenticate" {
			name = "X-Amzn-Remapped-Www-Authenticate"
		}
		w.Header()[name] = values
	}
	if _, ok := w.Header()["Content-Type"]; !ok {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
}

// fail answers for a function that did not.
func (g *gateway) fail(w http.ResponseWriter) {
	switch g.kind {
	case HTTPAPI:
		status(w, http.StatusInternalServerError, `{"message":"Internal Server Error"}`)
	case REST:
		status(w, http.StatusBadGateway, `{"message": "Internal server error"}`)
	default:
		status(w, http.StatusBadGateway, "Internal Server Error")
	}
}

// streamed passes a streamed reply on.
type streamed struct {
	*gateway
	w       http.ResponseWriter
	prelude []byte
	started bool
	bad     bool // the prelude makes no sense
}

func (s *streamed) chunk(contentType string, data []byte) {
	if contentType != contentTypeStream || s.bad {
		return
	}
	if s.kind == HTTPAPI {
		s.bad = true // it does not stream
		return
	}
	if !s.started {
		s.prelude = append(s.prelude, data...)
		raw, rest, ok := bytes.Cut(s.prelude, preludeEnd)
		if !ok {
			s.bad = len(s.prelude) > 16<<10
			return
		}
		h, err := parseHead(raw)
		if err != nil {
			s.bad = true
			return
		}
		s.started, data = true, rest
		s.head(s.w, h.StatusCode, h.header())
	}
	_, _ = s.w.Write(data)
	_ = http.NewResponseController(s.w).Flush()
}
