package mrtr

import (
	"errors"
	"fmt"
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Result is a tool's result where its handler wants full control. Any other
// type that a handler returns becomes structured content.
type Result struct {
	Content    protocol.ContentList // what the model reads, in order
	Structured any                  // encoded as structuredContent; nil: none
	IsError    bool                 // the tool failed, in words for the model
	Meta       protocol.Object      // added to _meta
}

// Text returns a result with one text.
func Text(s string) *Result {
	return &Result{Content: protocol.ContentList{protocol.Text(s)}}
}

// Textf returns a result with one formatted text.
func Textf(format string, args ...any) *Result { return Text(fmt.Sprintf(format, args...)) }

// JSON returns a result whose structured content is v, with its JSON as text for
// clients that read no other.
func JSON(v any) (*Result, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, notJSON("the result", v, err)
	}
	return &Result{Content: protocol.ContentList{protocol.Text(string(b))}, Structured: jsontext.Value(b)}, nil
}

// Image returns a result with one picture, such as an image/png.
func Image(data []byte, mimeType string) *Result {
	return Blocks(&protocol.ImageContent{Data: data, MIMEType: mimeType})
}

// Audio returns a result with one sound, such as an audio/wav.
func Audio(data []byte, mimeType string) *Result {
	return Blocks(&protocol.AudioContent{Data: data, MIMEType: mimeType})
}

// Link returns a result that points to a resource.
func Link(uri, name string) *Result { return Blocks(&protocol.ResourceLink{URI: uri, Name: name}) }

// Embed returns a result that holds a resource's contents.
func Embed(contents protocol.ResourceContents) *Result {
	return Blocks(&protocol.EmbeddedResource{Resource: contents})
}

// Blocks returns a result with blocks of content, in order.
func Blocks(blocks ...protocol.Content) *Result { return &Result{Content: blocks} }

// PublicError is an error whose text may reach the client.
type PublicError struct {
	text  string
	cause error
}

// Errorf returns an error whose text reaches the client, as the text of a
// result with isError. The text of any other error goes to the log alone. A %w
// verb wraps its operand, whose text is part of the message then.
func Errorf(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &PublicError{text: err.Error(), cause: err}
}

// Error returns the text.
func (e *PublicError) Error() string { return e.text }

// Unwrap returns what the error was made of.
func (e *PublicError) Unwrap() error { return e.cause }

// toolErrorText is what a client is told of an error that is not public.
const toolErrorText = "The tool failed. The reason is in the server's log."

func (res *Result) outcome() Outcome {
	if res.IsError {
		return OutcomeToolError
	}
	return OutcomeComplete
}

// encode returns the response that carries the result as a
// protocol.CallToolResult.
func (res *Result) encode(r *request) (jsontext.Value, error) {
	var structured jsontext.Value
	if s, ok := res.Structured.(jsontext.Value); res.Structured != nil && (!ok || s != nil) {
		var err error
		if structured, err = json.Marshal(res.Structured, json.Deterministic(true)); err != nil {
			return nil, notJSON("structured content", s, err)
		}
	}
	if r.handshake && structured.Kind() != '{' {
		structured = nil // before 2026-07-28 it is an object or nothing
	}
	b := r.beginResponse(r.resultType(), len(structured)+res.textSize())
	b, err := appendContents(append(b, `"content":`...), res.Content)
	if err != nil {
		return nil, err
	}
	if structured != nil {
		b = append(append(b, `,"structuredContent":`...), structured...)
	}
	if res.IsError {
		b = append(b, `,"isError":true`...)
	}
	return r.endResponse(b, res.Meta)
}

// textSize returns about the bytes that the result's texts take.
func (res *Result) textSize() int {
	n := 64
	for _, c := range res.Content {
		if t, ok := c.(*protocol.TextContent); ok && t != nil {
			n += len(t.Text) + len(t.Text)/8 + 32
		}
	}
	return n
}

// appendContents appends a list of content. Plain text, which most results are,
// takes no reflection.
func appendContents(b []byte, list protocol.ContentList) ([]byte, error) {
	b = append(b, '[')
	for i, c := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if t, ok := c.(*protocol.TextContent); ok && t != nil && t.Annotations == nil && t.Meta == nil {
			var err error
			if b, err = jsontext.AppendQuote(append(b, `{"type":"text","text":`...), t.Text); err != nil {
				return nil, notJSON("a text", nil, err)
			}
			b = append(b, '}')
			continue
		}
		block, err := json.Marshal(c, json.Deterministic(true))
		if err != nil {
			return nil, notJSON("content", nil, err)
		}
		b = append(b, block...)
	}
	return append(b, ']'), nil
}

// resultType returns what results of the request's era say of themselves.
func (r *request) resultType() protocol.ResultType {
	if r.handshake {
		return ""
	}
	return protocol.ResultComplete
}

// beginResponse returns the start of a response whose result is of that type,
// with room for size bytes; empty: it says no type.
func (r *request) beginResponse(kind protocol.ResultType, size int) []byte {
	b := make([]byte, 0, size+len(r.ID)+len(r.handler.serverMeta)+96)
	b = jsonrpc.BeginResult(b, r.ID)
	if kind == "" {
		return append(b, '{')
	}
	return append(append(append(b, `{"resultType":"`...), kind...), `",`...)
}

// endResponse ends what beginResponse has begun; see endResult.
func (r *request) endResponse(b []byte, own protocol.Object) (jsontext.Value, error) {
	b, err := r.endResult(b, own)
	if err != nil {
		return nil, err
	}
	return append(b, '}'), nil
}

// endResult ends a result, an object that still lacks its closing brace, with
// its _meta: the author's members and, in the modern era, the server's own.
func (r *request) endResult(b []byte, own protocol.Object) (jsontext.Value, error) {
	meta := r.handler.serverMeta
	switch {
	case r.handshake && len(own) == 0:
		return append(b, '}'), nil
	case len(own) > 0:
		m := maps.Clone(own)
		if !r.handshake {
			m[protocol.MetaServerInfo] = r.handler.serverInfo
		}
		var err error
		if meta, err = json.Marshal(m); err != nil {
			return nil, notJSON("_meta", nil, err)
		}
	}
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, `"_meta":`...)
	return append(append(b, meta...), '}'), nil
}

// encodeResult returns a result with its _meta. v encodes as an object without
// one.
func (r *request) encodeResult(v any, own protocol.Object) (jsontext.Value, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, notJSON("a result", v, err)
	}
	return r.endResult(b[:len(b)-1], own)
}

// response returns the response that carries a result, or err.
func (r *request) response(result jsontext.Value, err error) (jsontext.Value, error) {
	if err != nil {
		return nil, err
	}
	return jsonrpc.AppendResult(make([]byte, 0, len(result)+len(r.ID)+64), r.ID, result), nil
}

// notJSON says that a value cannot be encoded, by its types alone: the
// library's error may hold keys of a map, and texts that are no UTF-8.
func notJSON(what string, v any, err error) error {
	if v == nil {
		return fmt.Errorf("%s cannot be encoded as JSON", what)
	}
	if s, ok := errors.AsType[*json.SemanticError](err); ok && s.GoType != nil {
		return fmt.Errorf("%s, a %T, cannot be encoded as JSON: it holds a %v", what, v, s.GoType)
	}
	return fmt.Errorf("%s, a %T, cannot be encoded as JSON", what, v)
}
