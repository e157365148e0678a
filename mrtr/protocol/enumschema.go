package protocol

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// EnumOption is one value to choose from, with the title that a user sees.
// Options of which none has a title are written in the untitled form; where
// one has, an option without shows its value.
type EnumOption struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// SingleSelectEnumSchema is a field that takes one of several strings (schema:
// UntitledSingleSelectEnumSchema, TitledSingleSelectEnumSchema,
// LegacyTitledEnumSchema).
type SingleSelectEnumSchema struct {
	Title       string
	Description string
	Options     []EnumOption
	Default     *string // nil: none
	Legacy      bool    // titles in enumNames, as 2025-06-18 had them; deprecated
}

func (*SingleSelectEnumSchema) isPrimitiveSchema() {}

// MarshalJSONTo writes the schema with its type.
func (s *SingleSelectEnumSchema) MarshalJSONTo(enc *jsontext.Encoder) error {
	w := beginSchema(enc, "string", s.Title, s.Description)
	switch {
	case s.Legacy:
		titles := make([]string, len(s.Options))
		for i, o := range fillTitles(s.Options) {
			titles[i] = o.Title
		}
		w.value("enum", optionValues(s.Options))
		w.value("enumNames", titles)
	case titled(s.Options):
		w.value("oneOf", fillTitles(s.Options))
	default:
		w.value("enum", optionValues(s.Options))
	}
	pointer(w, "default", s.Default)
	return w.end()
}

// UnmarshalJSONFrom reads any of the three forms.
func (s *SingleSelectEnumSchema) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var in struct {
		Title       string       `json:"title"`
		Description string       `json:"description"`
		Enum        []string     `json:"enum"`
		EnumNames   []string     `json:"enumNames"`
		OneOf       []EnumOption `json:"oneOf"`
		Default     *string      `json:"default"`
	}
	if err := json.UnmarshalDecode(dec, &in); err != nil {
		return err
	}
	*s = SingleSelectEnumSchema{Title: in.Title, Description: in.Description, Options: in.OneOf, Default: in.Default}
	if in.OneOf == nil {
		s.Options = untitledOptions(in.Enum)
		s.Legacy = in.EnumNames != nil
		for i := range min(len(in.EnumNames), len(s.Options)) {
			s.Options[i].Title = in.EnumNames[i]
		}
	}
	return nil
}

// MultiSelectEnumSchema is a field that takes any number of several strings
// (schema: UntitledMultiSelectEnumSchema, TitledMultiSelectEnumSchema). Not in
// 2025-06-18.
type MultiSelectEnumSchema struct {
	Title       string
	Description string
	MinItems    *int // nil: no limit
	MaxItems    *int // nil: no limit
	Options     []EnumOption
	Default     []string // nil: none
}

func (*MultiSelectEnumSchema) isPrimitiveSchema() {}

// enumItems is the "items" member of a multi-select schema: Enum with its
// type, or AnyOf.
type enumItems struct {
	Type  string       `json:"type,omitzero"`
	Enum  []string     `json:"enum,omitzero"`
	AnyOf []EnumOption `json:"anyOf,omitzero"`
}

func isEnumItems(raw jsontext.Value, opts json.Options) bool {
	var items enumItems
	return raw.Kind() == '{' && json.Unmarshal(raw, &items, opts) == nil && (items.Enum != nil || items.AnyOf != nil)
}

// MarshalJSONTo writes the schema with its type.
func (s *MultiSelectEnumSchema) MarshalJSONTo(enc *jsontext.Encoder) error {
	items := enumItems{AnyOf: fillTitles(s.Options)}
	if !titled(s.Options) {
		items = enumItems{Type: "string", Enum: optionValues(s.Options)}
	}
	w := beginSchema(enc, "array", s.Title, s.Description)
	pointer(w, "minItems", s.MinItems)
	pointer(w, "maxItems", s.MaxItems)
	w.value("items", &items)
	list(w, "default", s.Default)
	return w.end()
}

// UnmarshalJSONFrom reads either form.
func (s *MultiSelectEnumSchema) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var in struct {
		Title       string    `json:"title"`
		Description string    `json:"description"`
		MinItems    *int      `json:"minItems"`
		MaxItems    *int      `json:"maxItems"`
		Items       enumItems `json:"items"`
		Default     []string  `json:"default"`
	}
	if err := json.UnmarshalDecode(dec, &in); err != nil {
		return err
	}
	*s = MultiSelectEnumSchema{in.Title, in.Description, in.MinItems, in.MaxItems, in.Items.AnyOf, in.Default}
	if in.Items.AnyOf == nil {
		s.Options = untitledOptions(in.Items.Enum)
	}
	return nil
}

func titled(options []EnumOption) bool {
	for _, o := range options {
		if o.Title != "" {
			return true
		}
	}
	return false
}

func fillTitles(options []EnumOption) []EnumOption {
	out := make([]EnumOption, len(options))
	for i, o := range options {
		if o.Title == "" {
			o.Title = o.Const
		}
		out[i] = o
	}
	return out
}

func optionValues(options []EnumOption) []string {
	values := make([]string, len(options))
	for i, o := range options {
		values[i] = o.Const
	}
	return values
}

func untitledOptions(values []string) []EnumOption {
	options := make([]EnumOption, len(values))
	for i, v := range values {
		options[i].Const = v
	}
	return options
}
