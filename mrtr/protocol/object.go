package protocol

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Object is a JSON object whose members are kept as they came (schema:
// JSONObject, MetaObject). It is written with its names sorted, so that equal
// objects have equal bytes. Nil is absent, an empty Object is present: as a
// capability it says "supported, no settings".
type Object map[string]jsontext.Value

// MarshalJSONTo writes the members in the order of their names.
func (o Object) MarshalJSONTo(enc *jsontext.Encoder) error { return writeMembers(enc, o) }

// UnmarshalJSONFrom reads an object, or null as nil.
func (o *Object) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	m, err := readMembers(dec)
	*o = m
	return err
}

func writeMembers(enc *jsontext.Encoder, m map[string]jsontext.Value) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if err := enc.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, m[name]); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

func readMembers(dec *jsontext.Decoder) (map[string]jsontext.Value, error) {
	var m map[string]jsontext.Value
	err := eachMember(dec, func() { m = map[string]jsontext.Value{} }, func(name string, value jsontext.Value) error {
		m[name] = value.Clone()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// eachMember reads an object: begin is called once it has begun, member for
// each member in the order they come, with a value that is valid until member
// returns. Null is read without any call.
func eachMember(dec *jsontext.Decoder, begin func(), member func(name string, value jsontext.Value) error) error {
	switch k := dec.PeekKind(); k {
	case 'n':
		return dec.SkipValue()
	case '{':
	default:
		return wrongKind(dec, k)
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	begin()
	for dec.PeekKind() != '}' {
		t, err := dec.ReadToken()
		if err != nil {
			return err
		}
		name := t.String()
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := member(name, v); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// wrongKind returns the error for a value of a kind that has no place where it
// stands, or the syntax error that made the kind invalid.
func wrongKind(dec *jsontext.Decoder, k jsontext.Kind) error {
	if k == jsontext.KindInvalid {
		_, err := dec.ReadToken()
		return err
	}
	return &json.SemanticError{JSONKind: k}
}
