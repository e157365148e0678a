package jsonrpc

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

var errNoObject = errors.New("not a JSON object")

// decoders are reused: one is larger than most messages.
var decoders = sync.Pool{New: func() any { return new(decoder) }}

type decoder struct {
	jsontext.Decoder
	buf bytes.Buffer
}

// Members calls f for each member of object, in order, and stops at f's first
// error. Values are parts of object, not copies. Names are not held against
// each other where opts allow duplicates; anything but one JSON object is an
// error.
func Members(object []byte, f func(name string, value jsontext.Value) error, opts ...jsontext.Options) error {
	d := decoders.Get().(*decoder)
	d.buf = *bytes.NewBuffer(object)
	d.Reset(&d.buf, opts...)
	defer func() {
		d.buf = bytes.Buffer{}
		d.Reset(&d.buf)
		decoders.Put(d)
	}()
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return errNoObject
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := intern(t)
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		end := int(d.InputOffset())
		if err := f(name, object[end-len(v):end:end]); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return errNoObject
	}
	return nil
}

func intern(t jsontext.Token) string { return t.String() }
