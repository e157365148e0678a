package jsonrpc

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

var errNoObject = errors.New("not a JSON object")

// Walk calls f for each member of object, in order, and stops at f's first
// error. The object is known to be strict JSON, as a part of a parsed message is:
// Walk looks at no more than it takes to find where a value ends. Of other bytes
// it makes an error or nonsense, but it stays within object and comes to an end.
// Values are parts of object, not copies; names are valid until f returns.
func Walk(object []byte, f func(name []byte, value jsontext.Value) error) error {
	i := space(object, 0)
	if i == len(object) || object[i] != '{' {
		return errNoObject
	}
	for i = space(object, i+1); i < len(object) && object[i] == '"'; {
		end := stringEnd(object, i)
		name := object[i:end]
		i = space(object, end)
		if i == len(object) || object[i] != ':' {
			return errNoObject
		}
		i = space(object, i+1)
		end = valueEnd(object, i)
		if end == i {
			return errNoObject
		}
		name, ok := unquote(name)
		if !ok {
			return errNoObject
		}
		if err := f(name, object[i:end:end]); err != nil {
			return err
		}
		if i = space(object, end); i < len(object) && object[i] == ',' {
			i = space(object, i+1)
		}
	}
	if i == len(object) || object[i] != '}' || space(object, i+1) != len(object) {
		return errNoObject
	}
	return nil
}

// unquote returns what a JSON string says, a part of it where it has no
// escapes.
func unquote(s []byte) ([]byte, bool) {
	if len(s) < 2 {
		return nil, false
	}
	if bytes.IndexByte(s, '\\') < 0 {
		return s[1 : len(s)-1], true
	}
	b, err := jsontext.AppendUnquote(make([]byte, 0, len(s)), s)
	return b, err == nil
}

// space returns where the white space at b[i] ends.
func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// valueEnd returns where the JSON value at b[i] ends.
func valueEnd(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			i++
			continue
		default: // of a number, true, false or null
			i++
			if depth == 0 {
				continue
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// stringEnd returns where the JSON string at b[i] ends.
func stringEnd(b []byte, i int) int {
	i++
	if n := bytes.IndexByte(b[i:], '"'); n >= 0 && bytes.IndexByte(b[i:i+n], '\\') < 0 {
		return i + n + 1 // most have no escapes
	}
	for ; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(b))
}
