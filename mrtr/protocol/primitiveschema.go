package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// PrimitiveSchema is the schema of one field of a form: a [*StringSchema],
// [*NumberSchema], [*BooleanSchema], [*SingleSelectEnumSchema],
// [*MultiSelectEnumSchema], or [*UnknownSchema] for anything else (schema:
// PrimitiveSchemaDefinition).
type PrimitiveSchema interface {
	isPrimitiveSchema()
}

var (
	_ PrimitiveSchema = (*StringSchema)(nil)
	_ PrimitiveSchema = (*NumberSchema)(nil)
	_ PrimitiveSchema = (*BooleanSchema)(nil)
	_ PrimitiveSchema = (*SingleSelectEnumSchema)(nil)
	_ PrimitiveSchema = (*MultiSelectEnumSchema)(nil)
	_ PrimitiveSchema = (*UnknownSchema)(nil)
)

// The formats of a [StringSchema].
const (
	FormatEmail    = "email"
	FormatURI      = "uri"
	FormatDate     = "date"      // 2026-07-28
	FormatDateTime = "date-time" // RFC 3339
)

// StringSchema is a field that takes text.
type StringSchema struct {
	Title       string  `json:"title"`
	Description string  `json:"description"`
	MinLength   *int    `json:"minLength"` // characters; nil: no limit
	MaxLength   *int    `json:"maxLength"` // characters; nil: no limit
	Format      string  `json:"format"`    // one of the Format constants; empty: any text
	Default     *string `json:"default"`   // nil: none
}

func (*StringSchema) isPrimitiveSchema() {}

// MarshalJSONTo writes the schema with its type.
func (s *StringSchema) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginSchema(enc, "string", s.Title, s.Description)
	pointer(w, "minLength", s.MinLength)
	pointer(w, "maxLength", s.MaxLength)
	w.optionalText("format", s.Format)
	pointer(w, "default", s.Default)
	return w.end()
}

// NumberSchema is a field that takes a number.
type NumberSchema struct {
	Integer     bool     `json:"-"` // type "integer" rather than "number"
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Minimum     *float64 `json:"minimum"` // inclusive; nil: no limit
	Maximum     *float64 `json:"maximum"` // inclusive; nil: no limit
	Default     *float64 `json:"default"` // nil: none
}

func (*NumberSchema) isPrimitiveSchema() {}

// MarshalJSONTo writes the schema with its type.
func (s *NumberSchema) MarshalJSONTo(enc *jsontext.Encoder) error {
	typ := "number"
	if s.Integer {
		typ = "integer"
	}
	w := beginSchema(enc, typ, s.Title, s.Description)
	pointer(w, "minimum", s.Minimum)
	pointer(w, "maximum", s.Maximum)
	pointer(w, "default", s.Default)
	return w.end()
}

// BooleanSchema is a field that is true or false.
type BooleanSchema struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Default     *bool  `json:"default"` // nil: none
}

func (*BooleanSchema) isPrimitiveSchema() {}

// MarshalJSONTo writes the schema with its type.
func (s *BooleanSchema) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginSchema(enc, "boolean", s.Title, s.Description)
	pointer(w, "default", s.Default)
	return w.end()
}

// UnknownSchema is a schema that forms do not have. It is written as it came.
type UnknownSchema struct {
	Raw jsontext.Value
}

func (*UnknownSchema) isPrimitiveSchema() {}

// MarshalJSONTo writes Raw.
func (s *UnknownSchema) MarshalJSONTo(enc *jsontext.Encoder) error { return enc.WriteValue(s.Raw) }

// UnmarshalJSONFrom keeps the value.
func (s *UnknownSchema) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	s.Raw = v.Clone()
	return err
}

// newPrimitiveSchema returns what raw is to be decoded into.
func newPrimitiveSchema(raw jsontext.Value, opts json.Options) (PrimitiveSchema, error) {
	if raw.Kind() != '{' {
		return new(UnknownSchema), nil
	}
	var head struct {
		Type  jsontext.Value `json:"type"`
		Enum  jsontext.Value `json:"enum"`
		OneOf jsontext.Value `json:"oneOf"`
		Items jsontext.Value `json:"items"`
	}
	if err := json.Unmarshal(raw, &head, opts); err != nil {
		return nil, err
	}
	switch string(head.Type) {
	case `"string"`:
		if head.Enum != nil || head.OneOf != nil {
			return new(SingleSelectEnumSchema), nil
		}
		return new(StringSchema), nil
	case `"number"`:
		return new(NumberSchema), nil
	case `"integer"`:
		return &NumberSchema{Integer: true}, nil
	case `"boolean"`:
		return new(BooleanSchema), nil
	case `"array"`:
		if isEnumItems(head.Items, opts) {
			return new(MultiSelectEnumSchema), nil
		}
	}
	return new(UnknownSchema), nil
}

// beginSchema starts a schema with the members that all of them share.
func beginSchema(enc *jsontext.Encoder, typ, title, description string) *objectWriter {
	w := beginObject(enc)
	w.text("type", typ)
	w.optionalText("title", title)
	w.optionalText("description", description)
	return w
}
