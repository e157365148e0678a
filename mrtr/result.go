package mrtr

import (
	"fmt"
	"maps"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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
		return nil, fmt.Errorf("encoding the result: %w", err)
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

// encode returns the wire form of a tool's result.
func (res *Result) encode(r *request) (jsontext.Value, error) {
	w := protocol.CallToolResult{ResultType: r.resultType(), Content: res.Content, IsError: res.IsError}
	switch s := res.Structured.(type) {
	case nil:
	case jsontext.Value:
		w.StructuredContent = s
	default:
		b, err := json.Marshal(s, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("encoding structured content: %w", err)
		}
		w.StructuredContent = b
	}
	if r.handshake && w.StructuredContent.Kind() != '{' {
		w.StructuredContent = nil // before 2026-07-28 it is an object or nothing
	}
	return r.encodeResult(w, res.Meta)
}

// resultType returns what results of the request's era say of themselves.
func (r *request) resultType() protocol.ResultType {
	if r.handshake {
		return ""
	}
	return protocol.ResultComplete
}

// encodeResult returns a result with its _meta: the author's members and, in
// the modern era, the server's own. v encodes as an object without _meta.
func (r *request) encodeResult(v any, own protocol.Object) (jsontext.Value, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encoding a result: %w", err)
	}
	meta := r.handler.serverMeta
	switch {
	case r.handshake && len(own) == 0:
		return b, nil
	case len(own) > 0:
		m := maps.Clone(own)
		if !r.handshake {
			m[protocol.MetaServerInfo] = r.handler.serverInfo
		}
		if meta, err = json.Marshal(m); err != nil {
			return nil, fmt.Errorf("encoding _meta: %w", err)
		}
	}
	b = b[:len(b)-1]
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, `"_meta":`...)
	return append(append(b, meta...), '}'), nil
}
