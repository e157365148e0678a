package jsonrpc

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deep objects and arrays may nest in a message.
const MaxDepth = 128

// Request is a request, or a notification where ID is nil.
type Request struct {
	ID     jsontext.Value // a JSON string or integer as it came; nil for a notification
	Method string
	Params jsontext.Value // an object, or nil where there are none
}

// IsNotification reports whether nobody waits for an answer.
func (r *Request) IsNotification() bool { return r.ID == nil }

// envelope holds each member raw, so that the id of a bad request can be read.
type envelope struct {
	Version jsontext.Value `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  jsontext.Value `json:"method"`
	Params  jsontext.Value `json:"params"`
	Result  jsontext.Value `json:"result"`
	Error   jsontext.Value `json:"error"`
}

// Parse reads one request or notification. It refuses what is not strict JSON
// (RFC 7493: UTF-8, no duplicate names) or nests deeper than MaxDepth with
// CodeParseError, and what is no single request with CodeInvalidRequest. The
// Request that comes with an error holds the id, where that could be read.
func Parse(body []byte) (Request, *Error) {
	if tooDeep(body) {
		return Request{}, &Error{Code: CodeParseError, Message: "Parse error: nested too deep"}
	}
	if b := bytes.TrimLeft(body, " \t\r\n"); len(b) > 0 && b[0] != '{' {
		// A syntax error is one whatever it begins with.
		if !jsontext.Value(body).IsValid() {
			return Request{}, parseError()
		}
		if b[0] == '[' {
			return Request{}, invalid("batches are not part of this protocol")
		}
		return Request{}, invalid("a message is an object")
	}
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil {
		return Request{}, parseError()
	}
	var r Request
	if e.ID != nil {
		if !validID(e.ID) {
			return Request{}, invalid("id must be a string or an integer")
		}
		r.ID = e.ID
	}
	switch {
	case string(e.Version) != `"2.0"`:
		return r, invalid(`jsonrpc must be "2.0"`)
	case e.Method == nil && (e.Result != nil || e.Error != nil):
		return r, invalid("this server takes no responses")
	case e.Method.Kind() != '"':
		return r, invalid("method must be a string")
	case e.Result != nil || e.Error != nil:
		return r, invalid("a request has neither result nor error")
	case e.Params != nil && e.Params.Kind() != '{':
		return r, invalid("params must be an object")
	}
	method, err := jsontext.AppendUnquote(nil, e.Method)
	if err != nil {
		return r, parseError()
	}
	r.Method, r.Params = string(method), e.Params
	return r, nil
}

func parseError() *Error { return &Error{Code: CodeParseError, Message: "Parse error"} }

func invalid(why string) *Error {
	return &Error{Code: CodeInvalidRequest, Message: "Invalid Request: " + why}
}

// validID reports whether id, which is valid JSON, is a string or an integer
// without fraction or exponent.
func validID(id jsontext.Value) bool {
	switch id.Kind() {
	case '"':
		return true
	case '0':
		return !bytes.ContainsAny(id, ".eE")
	}
	return false
}

// tooDeep reports whether b opens more than MaxDepth brackets at once. It
// passes over strings and does not care whether b is JSON otherwise.
func tooDeep(b []byte) bool {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		}
	}
	return false
}

// AppendResult appends the response that carries result, a JSON value.
func AppendResult(b []byte, id jsontext.Value, result []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	return append(b, '}')
}

// AppendError appends the response that carries e. A nil id is left out: the
// request's could not be read.
func AppendError(b []byte, id jsontext.Value, e *Error) []byte {
	b = append(b, `{"jsonrpc":"2.0",`...)
	if id != nil {
		b = append(b, `"id":`...)
		b = append(b, id...)
		b = append(b, ',')
	}
	b = append(b, `"error":`...)
	b = appendError(b, e)
	return append(b, '}')
}

func appendError(b []byte, e *Error) []byte {
	type wire struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data,omitzero"`
	}
	out, err := json.Marshal(wire{e.Code, e.Message, e.Data}, jsontext.AllowInvalidUTF8(true))
	if err != nil { // only data that is not JSON can do this
		out, _ = json.Marshal(wire{Code: e.Code, Message: e.Message}, jsontext.AllowInvalidUTF8(true))
	}
	return append(b, out...)
}

// AppendNotification appends a notification with params, a JSON object.
func AppendNotification(b []byte, method string, params []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0","method":"`...)
	b = append(b, method...)
	b = append(b, `","params":`...)
	b = append(b, params...)
	return append(b, '}')
}
