package schema

import (
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
)

// A Form is what an elicitation asks a user to fill in: the restricted schema
// that MCP calls requestedSchema. It does not change and is safe for concurrent
// use. FormFor makes one.
type Form struct{ schema *Schema }

// FormFor makes the form of a struct type. The json tags give the names, as for
// [For]; embedded structs are spread out. The order of the fields is the order
// of the form. A field must be answered unless it is a pointer or its json tag
// says omitempty or omitzero.
//
//   - string and types made of it: a line of text, or one of the values that the
//     option enum lists.
//   - []string and lists of types made of string: any number of the values in
//     enum, which must be given.
//   - integers, floats, bool.
//   - [time.Time]: a line of text, date and time with zone.
//   - a pointer to one of these that are no list.
//
// Everything else is an error that names the field. The tag
//
//	form:"key=value,key=value"
//
// holds the options, in any order. A comma inside a value is written twice, a
// vertical bar inside a value of a list too; the rest of a value stands for
// itself, after Go has read the struct tag (where a backslash is written twice).
//
//	title, description     shown to the user
//	default                what the client fills in at first; lists as in enum
//	format                 text: email, uri, date or date-time
//	minLength, maxLength   text: bounds of its length, in code points
//	pattern                text: a regular expression that both RE2 and ECMAScript know
//	min, max               numbers: bounds, which count as allowed
//	enum                   allowed values: a|b|c
//	enumTitles             what the user sees instead, one for each value: A|B|C
//	minItems, maxItems     lists: bounds of the number of values
//
// A default is a proposal. A client that knows defaults shows it, and its answer
// holds what the user made of it; a field that an answer leaves out is absent,
// and nothing puts the default there: the user may have cleared it. So the Go
// field has its zero value then.
//
// The keyword pattern is not in the list of the MCP specification, though it is
// JSON Schema: some clients check it, others pass over it.
func FormFor(t reflect.Type) (*Form, error) {
	if t.Kind() != reflect.Struct || hasOwnJSON(t) || hasOwnText(t) {
		return nil, fmt.Errorf("schema: type %s cannot be a form: a form is made from a flat struct", t)
	}
	fields, rest, err := fieldsOf(t)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if len(fields) == 0 || rest != nil {
		return nil, fmt.Errorf("schema: type %s cannot be a form: it needs exported fields, and no embedded map", t)
	}
	var w writer
	var required []string
	w.open('{')
	w.text("type", "object")
	w.key("properties")
	w.open('{')
	for _, f := range fields {
		b := entry{writer: &w, field: f}
		if err := b.write(); err != nil {
			return nil, fmt.Errorf("schema: field %s.%s: %w", t, f.Name, err)
		}
		if !f.optional && f.Type.Kind() != reflect.Pointer {
			required = append(required, f.name)
		}
	}
	w.close('}')
	w.texts("required", required)
	w.close('}')
	if w.err != nil {
		return nil, w.err
	}
	s, err := parse(w.b, true)
	if err != nil {
		return nil, err
	}
	if err := checkDefaults(t, fields, s); err != nil {
		return nil, err
	}
	return &Form{s}, nil
}

// checkDefaults makes sure that each default would be a valid answer.
func checkDefaults(t reflect.Type, fields []field, s *Schema) error {
	v, _, _ := parseValue(s.raw)
	properties := v.member("properties")
	for _, f := range fields {
		d := properties.member(f.name).member("default")
		if d == nil {
			continue
		}
		c := check{steps: budget(len(s.raw))}
		if !c.value(s.root.properties[f.name], d, nil) {
			return fmt.Errorf("schema: field %s.%s: the default %s", t, f.Name, c.found[0].Rule)
		}
	}
	return nil
}

// Raw returns the text of requestedSchema: equal for equal struct types in
// every process and build. The caller must not change it.
func (f *Form) Raw() jsontext.Value { return f.schema.raw }

// Schema returns the schema that an accepted answer's content must match.
func (f *Form) Schema() *Schema { return f.schema }

// Validate checks the content of an accepted answer, as [Schema.Validate] does;
// absent content counts as {}. Members that the form does not have are valid, as
// they are in JSON Schema.
func (f *Form) Validate(content jsontext.Value) []Violation {
	if len(content) == 0 {
		content = jsontext.Value("{}")
	}
	return f.schema.Validate(content)
}
