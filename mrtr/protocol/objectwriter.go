package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// objectWriter writes one JSON object member by member. The first error
// sticks; end returns it.
type objectWriter struct {
	enc *jsontext.Encoder
	err error
}

// beginObject starts an object.
func beginObject(enc *jsontext.Encoder) *objectWriter {
	return &objectWriter{enc: enc, err: enc.WriteToken(jsontext.BeginObject)}
}

func (w *objectWriter) token(t jsontext.Token) {
	if w.err == nil {
		w.err = w.enc.WriteToken(t)
	}
}

// text writes a string member.
func (w *objectWriter) text(name, value string) {
	w.token(jsontext.String(name))
	w.token(jsontext.String(value))
}

// optionalText writes a string member unless it is empty.
func (w *objectWriter) optionalText(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

// value writes a member of any type.
func (w *objectWriter) value(name string, value any) {
	w.token(jsontext.String(name))
	if w.err == nil {
		w.err = json.MarshalEncode(w.enc, value)
	}
}

// raw writes a member that is JSON already, unless it is nil.
func (w *objectWriter) raw(name string, value jsontext.Value) {
	if value != nil {
		w.token(jsontext.String(name))
		if w.err == nil {
			w.err = w.enc.WriteValue(value)
		}
	}
}

// object writes an object member unless it is nil.
func (w *objectWriter) object(name string, value Object) {
	if value != nil {
		w.token(jsontext.String(name))
		if w.err == nil {
			w.err = value.MarshalJSONTo(w.enc)
		}
	}
}

// pointer writes what value points to, unless that is nil.
func pointer[T any](w *objectWriter, name string, value *T) {
	if value != nil {
		w.value(name, value)
	}
}

// list writes an array member unless it is nil.
func list[T any](w *objectWriter, name string, value []T) {
	if value != nil {
		w.value(name, value)
	}
}

func (w *objectWriter) end() error {
	w.token(jsontext.EndObject)
	return w.err
}
