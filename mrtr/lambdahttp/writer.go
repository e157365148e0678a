package lambdahttp

import (
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// ErrReplyTooLarge is returned by Write once a buffered reply cannot fit
// Lambda's limit any more. What was written is then discarded; see
// Options.TooLarge.
var ErrReplyTooLarge = errors.New("lambdahttp: reply too large")

// ReplyLimiter is implemented by the ResponseWriter of a buffered reply, and not
// by that of a streamed one.
type ReplyLimiter interface {
	// ReplyFits reports whether the reply, with what was written so far and
	// body after it, stays within Options.MaxReplyBytes.
	ReplyFits(body []byte) bool
}

// responseHead is the status and header half of a ResponseWriter. As with
// net/http, changes of the header after WriteHeader have no effect.
type responseHead struct {
	v1      bool
	noBody  bool // the request was HEAD: what is written is dropped
	header  http.Header
	status  int         // 0 before WriteHeader
	pending http.Header // copy of the header, waiting for a detected Content-Type
	encoded []byte      // see appendHead; nil before seal
	binary  bool        // the body has a Content-Encoding
}

func (h *responseHead) Header() http.Header {
	if h.header == nil {
		h.header = make(http.Header)
	}
	return h.header
}

// WriteHeader sets the status. Informational statuses are ignored, as is a
// second call. Statuses outside 100 to 999 panic, as with net/http.
func (h *responseHead) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("lambdahttp: invalid status %d", status))
	}
	if h.status != 0 || status < 200 {
		return
	}
	h.status = status
	enc := h.header.Get("Content-Encoding")
	h.binary = enc != "" && enc != "identity"
	if _, ok := h.header["Content-Type"]; !ok && !h.binary && bodyAllowed(status) {
		h.pending = h.Header().Clone()
		return
	}
	h.encoded = appendHead(make([]byte, 0, 512), h.v1, status, h.header)
}

// seal encodes the head if that has not been done yet; first is the body's
// start, from which the content type is detected.
func (h *responseHead) seal(first []byte) {
	h.WriteHeader(http.StatusOK)
	if h.encoded != nil {
		return
	}
	if len(first) > 0 {
		h.pending.Set("Content-Type", http.DetectContentType(first))
	}
	h.encoded = appendHead(make([]byte, 0, 512), h.v1, h.status, h.pending)
}

// accept prepares for a write and reports whether its bytes are kept.
func (h *responseHead) accept() (keep bool, err error) {
	h.WriteHeader(http.StatusOK)
	if !bodyAllowed(h.status) {
		return false, http.ErrBodyNotAllowed
	}
	return !h.noBody, nil
}

func bodyAllowed(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// bufferedWriter collects a reply.
type bufferedWriter struct {
	responseHead
	max  int
	body []byte
	over bool // more was written than max allows in any form
}

var (
	_ http.Flusher = (*bufferedWriter)(nil)
	_ ReplyLimiter = (*bufferedWriter)(nil)
)

func (w *bufferedWriter) Write(p []byte) (int, error) {
	keep, err := w.accept()
	if err != nil {
		return 0, err
	}
	if !keep || len(p) == 0 {
		return len(p), nil
	}
	if w.over || len(w.body)+len(p) > w.max {
		w.over, w.body = true, nil
		return 0, ErrReplyTooLarge
	}
	w.body = append(w.body, p...)
	return len(p), nil
}

// Flush fixes status and header; nothing is sent before the handler returns.
func (w *bufferedWriter) Flush() { w.WriteHeader(http.StatusOK) }

func (w *bufferedWriter) ReplyFits(body []byte) bool {
	if w.over {
		return false
	}
	const fixed = 1024 // member names, and a head that is not yet encoded
	room := w.max - fixed
	switch {
	case w.encoded != nil:
		room -= len(w.encoded)
	default:
		for name, values := range w.Header() {
			for _, v := range values {
				room -= 6 * (len(name) + len(v) + 4)
			}
		}
	}
	n := len(w.body) + len(body)
	if 6*n <= room {
		return true // whatever its bytes are
	}
	size := (n + 2) / 3 * 4
	if !w.binary {
		text := escapedSize(w.body) + escapedSize(body)
		if utf8.Valid(w.body) && utf8.Valid(body) {
			size = text
		}
		size = max(size, text) // two halves of a character make text together
	}
	return size <= room
}

// reply returns the whole reply, and whether it is within the limit.
func (w *bufferedWriter) reply() ([]byte, bool) {
	w.seal(w.body)
	if w.over {
		return nil, false
	}
	b := make([]byte, 0, len(w.encoded)+len(w.body)+len(w.body)/4+64)
	b = append(b, w.encoded...)
	b = appendBody(b, w.body, w.binary)
	return b, len(b) <= w.max
}
