package lambdahttp

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// ReplySize returns the bytes that a body takes in a buffered reply: its length
// as a JSON string, or as base64 where it is not valid UTF-8. The status and
// headers come on top of it.
func ReplySize(body []byte) int {
	if !utf8.Valid(body) {
		return 2 + base64.StdEncoding.EncodedLen(len(body))
	}
	return 2 + escapedSize(body)
}

// escapedSize returns the length of UTF-8 text inside a JSON string.
func escapedSize(body []byte) (n int) {
	for _, c := range body {
		switch {
		case c >= ' ' && c != '"' && c != '\\':
			n++
		case c >= ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\b' || c == '\f':
			n += 2
		default:
			n += 6
		}
	}
	return n
}

// appendHead appends the start of a reply: an object without its closing brace.
// Headers are sorted by name.
func appendHead(b []byte, v1 bool, status int, h http.Header) []byte {
	b = append(b, `{"statusCode":`...)
	b = strconv.AppendInt(b, int64(status), 10)
	if v1 {
		b = append(b, `,"multiValueHeaders":{`...)
	} else {
		b = append(b, `,"headers":{`...)
	}
	var few [16]string
	names := few[:0]
	for name, values := range h {
		if len(values) == 0 || !validName(name) || !v1 && name == "Set-Cookie" {
			continue
		}
		switch name {
		case "Content-Length", "Connection", "Transfer-Encoding", "Keep-Alive", "Trailer":
			continue // the gateway frames the reply
		}
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, name)
		b = append(b, ':')
		if values := h[name]; v1 {
			b = appendStrings(b, values)
		} else if len(values) == 1 {
			b = appendString(b, headerValue(values[0]))
		} else {
			b = appendString(b, headerValue(strings.Join(values, ", ")))
		}
	}
	b = append(b, '}')
	if cookies := h["Set-Cookie"]; !v1 && len(cookies) > 0 {
		b = append(b, `,"cookies":`...)
		b = appendStrings(b, cookies)
	}
	return b
}

// appendBody appends the rest of a buffered reply. binary asks for base64; it
// is used for what is not valid UTF-8, too.
func appendBody(b, body []byte, binary bool) []byte {
	b = append(b, `,"body":`...)
	if !binary {
		if text, err := jsontext.AppendQuote(b, body); err == nil {
			return append(text, `,"isBase64Encoded":false}`...)
		}
	}
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, body)
	return append(b, `","isBase64Encoded":true}`...)
}

func appendStrings(b []byte, values []string) []byte {
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, headerValue(v))
	}
	return append(b, ']')
}

// appendString appends s as a JSON string; bytes that are not UTF-8 become
// U+FFFD, since JSON cannot carry them.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s)
	return b
}

// headerValue returns v with spaces for the control characters that would not
// pass HTTP.
func headerValue(v string) string {
	if validValue(v) {
		return v
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return ' '
		}
		return r
	}, v)
}

// refusal returns a whole buffered reply with a fixed message.
func refusal(v1 bool, status int, message string) []byte {
	b := make([]byte, 0, 192)
	b = appendHead(b, v1, status, http.Header{"Content-Type": {"application/json"}})
	return appendBody(b, refusalBody(message), false)
}

// refusalBody returns the JSON that refusals and failures have for a body.
func refusalBody(message string) []byte {
	return append(appendString([]byte(`{"message":`), message), '}')
}
