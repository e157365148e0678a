package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FormSchema is the requestedSchema of a form: an object of primitive
// properties, without nesting (Elicitation, Requested Schema).
type FormSchema struct {
	Schema     string     `json:"$schema"` // the dialect's URI; empty: left out
	Properties Properties `json:"properties"`
	Required   []string   `json:"required"` // nil: left out
}

// MarshalJSONTo writes the schema with its type.
func (s *FormSchema) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	w.optionalText("$schema", s.Schema)
	w.text("type", "object")
	w.value("properties", s.Properties)
	list(w, "required", s.Required)
	return w.end()
}

// Property is one field of a form.
type Property struct {
	Name   string
	Schema PrimitiveSchema
}

// Properties is a JSON object of schemas by name, in order: a client shows the
// fields in the order they come. Names are unique: neither encoding nor
// decoding accepts one twice.
type Properties []Property

// MarshalJSONTo writes an object whose members are in the order of p.
func (p Properties) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginObject(enc)
	for _, f := range p {
		w.value(f.Name, f.Schema)
	}
	return w.end()
}

// UnmarshalJSONFrom reads an object, or null as nil.
func (p *Properties) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var out Properties
	err := eachMember(dec, func() { out = Properties{} }, func(name string, value jsontext.Value) error {
		s, err := newPrimitiveSchema(value, dec.Options())
		if err != nil {
			return err
		}
		if err := json.Unmarshal(value, s, dec.Options()); err != nil {
			return err
		}
		out = append(out, Property{name, s})
		return nil
	})
	*p = out
	return err
}
