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

// Parse reads one request or notification. It refuses what is not strict JSON
// (RFC 7493: UTF-8, no duplicate names) or nests deeper than MaxDepth with
// CodeParseError, and what is no single request with CodeInvalidRequest. The
// Request that comes with an error holds the id, where that could be read. ID
// and Params are parts of body.
func Parse(body []byte) (Request, *Error) {
	if tooDeep(body) {
		return Request{}, &Error{Code: CodeParseError, Message: "Parse error: nested too deep"}
	}
	// A syntax error is one whatever it begins with.
	if !jsontext.Value(body).IsValid() {
		return Request{}, parseError()
	}
	switch jsontext.Value(body).Kind() {
	case '{':
	case '[':
		return Request{}, invalid("batches are not part of this protocol")
	default:
		return Request{}, invalid("a message is an object")
	}
	var version, id, method, params, result, failure jsontext.Value
	_ = Walk(body, func(name []byte, v jsontext.Value) error { // never fails: body is valid
		switch string(name) {
		case "jsonrpc":
			version = v
		case "id":
			id = v
		case "method":
			method = v
		case "params":
			params = v
		case "result":
			result = v
		case "error":
			failure = v
		}
		return nil
	})
	var r Request
	if id != nil {
		if !validID(id) {
			return Request{}, invalid("id must be a string or an integer")
		}
		r.ID = id
	}
	switch {
	case string(version) != `"2.0"`:
		return r, invalid(`jsonrpc must be "2.0"`)
	case method == nil && (result != nil || failure != nil):
		return r, invalid("this server takes no responses")
	case method.Kind() != '"':
		return r, invalid("method must be a string")
	case result != nil || failure != nil:
		return r, invalid("a request has neither result nor error")
	case params != nil && params.Kind() != '{':
		return r, invalid("params must be an object")
	}
	name, ok := unquote(method)
	if !ok {
		return r, parseError()
	}
	r.Method, r.Params = string(name), params
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
			i = stringEnd(b, i) - 1
		}
	}
	return false
}

// AppendResult appends the response that carries result, a JSON value.
func AppendResult(b []byte, id jsontext.Value, result []byte) []byte {
	return append(append(BeginResult(b, id), result...), '}')
}

// BeginResult appends the start of a response: what follows is the result and a
// closing brace.
func BeginResult(b []byte, id jsontext.Value) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	return append(b, `,"result":`...)
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
