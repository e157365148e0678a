package schema

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"time"
)

// For makes the schema of the JSON that github.com/go-json-experiment/json
// writes and reads for type t. The root may be any type; see [Schema.IsObject].
//
//   - Structs are objects without other members, in the order of the fields;
//     embedded structs are spread out. A field is required unless its json tag
//     says omitempty or omitzero. The tag jsonschema:"text" is its description.
//   - *T is T or null, at the root just T. Slices and arrays are lists, []byte
//     and [N]byte base64 strings.
//   - Maps are objects with any members. Keys are strings, integers or text.
//   - Integer types have their bounds; besides, a number must be one that the
//     field can take: 3.0 and 3e0 are refused, and so is 2^63 for an int64.
//   - [time.Time] is a string of format date-time, which is checked. Types that
//     write or read text are strings. Interfaces and types that write or read
//     JSON on their own may be anything.
//
// It is an error if t, or a type in it, has no JSON form (functions, channels,
// complex numbers, [time.Duration]), or contains itself.
func For(t reflect.Type) (*Schema, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	b := builder{active: map[reflect.Type]bool{}}
	b.value(t, "", false)
	if b.err != nil {
		return nil, b.err
	}
	return parse(b.b, true)
}

// A builder writes the schema of a type.
type builder struct {
	writer
	active map[reflect.Type]bool // being written; to find types that contain themselves
}

func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("schema: "+format, args...)
	}
}

// reserved are descriptions that a later version may read as something else.
var reserved = regexp.MustCompile(`^[^ \t\n]*=`)

// value writes the schema of t as one object.
func (b *builder) value(t reflect.Type, description string, quoted bool) {
	nullable := false
	for t.Kind() == reflect.Pointer {
		t, nullable = t.Elem(), true
	}
	if len(b.b) > maxSchemaSize {
		b.fail("type %s: too large", t)
	}
	if b.active[t] {
		b.fail("type %s contains itself", t)
	}
	if b.err != nil {
		return
	}
	b.open('{')
	if t.Name() != "" {
		b.active[t] = true
		defer delete(b.active, t)
	}
	b.shape(t, nullable, quoted, description)
	b.close('}')
}

// typed starts an object with its type and description.
func (b *builder) typed(name string, nullable bool, description string) {
	if nullable {
		b.texts("type", []string{"null", name})
	} else {
		b.text("type", name)
	}
	b.text("description", description)
}

func (b *builder) shape(t reflect.Type, nullable, quoted bool, description string) {
	typed := func(name string) { b.typed(name, nullable, description) }
	number, low, high := numberOf(t)
	switch {
	case t == reflect.TypeFor[time.Time]():
		typed("string")
		b.text("format", "date-time")
	case t == reflect.TypeFor[time.Duration]():
		b.fail("type %s has no JSON form; use an integer or a string", t)
	case hasOwnJSON(t) || t.Kind() == reflect.Interface:
		b.text("description", description)
	case hasOwnText(t) || t.Kind() == reflect.String:
		typed("string")
	case number != "" && quoted:
		typed("string")
		if number == "integer" {
			b.text("pattern", "^-?(0|[1-9][0-9]*)$")
		}
	case number != "":
		typed(number)
		b.literal("minimum", low)
		b.literal("maximum", high)
	case t.Kind() == reflect.Bool:
		typed("boolean")
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		b.list(t, typed)
	case t.Kind() == reflect.Map:
		typed("object")
		b.keys(t.Key())
		b.key("additionalProperties")
		b.value(t.Elem(), "", false)
	case t.Kind() == reflect.Struct:
		typed("object")
		b.fields(t)
	default:
		b.fail("type %s has no JSON form", t)
	}
}

func (b *builder) list(t reflect.Type, typed func(string)) {
	if t.Elem().Kind() == reflect.Uint8 {
		typed("string")
		b.text("contentEncoding", "base64")
		return
	}
	typed("array")
	b.key("items")
	b.value(t.Elem(), "", false)
	if t.Kind() == reflect.Array {
		b.literal("minItems", strconv.Itoa(t.Len()))
		b.literal("maxItems", strconv.Itoa(t.Len()))
	}
}

func (b *builder) keys(key reflect.Type) {
	number, low, _ := numberOf(key)
	switch {
	case hasOwnJSON(key):
		b.fail("type %s cannot be the key of a map", key)
	case hasOwnText(key) || key.Kind() == reflect.String:
	case number != "integer":
		b.fail("type %s cannot be the key of a map", key)
	default:
		pattern := `{"pattern":"^-?(0|[1-9][0-9]*)$"}`
		if low == "0" {
			pattern = `{"pattern":"^(0|[1-9][0-9]*)$"}`
		}
		b.literal("propertyNames", pattern)
	}
}

func (b *builder) fields(t reflect.Type) {
	fields, rest, err := fieldsOf(t)
	if err != nil {
		b.fail("%w", err)
		return
	}
	b.key("properties")
	b.open('{')
	var required []string
	for _, f := range fields {
		description, given := f.Tag.Lookup("jsonschema")
		if given && description == "" {
			b.fail("field %s.%s: empty jsonschema tag", t, f.Name)
		}
		if reserved.MatchString(description) {
			b.fail("field %s.%s: a jsonschema tag is a description and must not begin with WORD=", t, f.Name)
		}
		b.key(f.name)
		b.value(f.Type, description, f.quoted)
		if !f.optional {
			required = append(required, f.name)
		}
	}
	b.close('}')
	b.texts("required", required)
	switch {
	case rest == nil:
		b.literal("additionalProperties", "false")
	case rest.Kind() == reflect.Map:
		b.key("additionalProperties")
		b.value(rest.Elem(), "", false)
	}
}

// numberOf returns the JSON type and the bounds of a Go number; the bounds of
// 64 bits are left out, since many readers would round them.
func numberOf(t reflect.Type) (name, low, high string) {
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "integer", "", ""
	case reflect.Int8:
		return "integer", "-128", "127"
	case reflect.Int16:
		return "integer", "-32768", "32767"
	case reflect.Int32:
		return "integer", "-2147483648", "2147483647"
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return "integer", "0", ""
	case reflect.Uint8:
		return "integer", "0", "255"
	case reflect.Uint16:
		return "integer", "0", "65535"
	case reflect.Uint32:
		return "integer", "0", "4294967295"
	case reflect.Float32, reflect.Float64:
		return "number", "", ""
	}
	return "", "", ""
}
