package schema

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// An entry writes one field of a form.
type entry struct {
	*writer
	field   field
	options formOptions
}

// write writes the member of properties.
func (e *entry) write() error {
	var err error
	if e.options, err = parseFormTag(e.field.Tag.Get("form")); err != nil {
		return err
	}
	if e.field.quoted {
		return errors.New("a form has no numbers in strings")
	}
	t := e.field.Type
	if t.Kind() == reflect.Pointer && t.Elem().Kind() != reflect.Slice {
		t = t.Elem()
	}
	e.key(e.field.name)
	e.open('{')
	number, low, high := numberOf(t)
	switch {
	case t == reflect.TypeFor[time.Time]():
		if f := e.options.take("format"); f != "" && f != "date-time" {
			return fmt.Errorf("a %s has the format date-time", t)
		}
		e.options["format"] = "date-time"
		err = e.line()
	case t == reflect.TypeFor[time.Duration]() || hasOwnJSON(t):
		err = cannot(t)
	case t.Kind() == reflect.String:
		if e.options["enum"] != "" {
			err = e.choice()
		} else {
			err = e.line()
		}
	case hasOwnText(t):
		err = cannot(t)
	case number != "":
		err = e.number(number, low, high)
	case t.Kind() == reflect.Bool:
		err = e.boolean()
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String && !hasOwnJSON(t.Elem()):
		err = e.choices()
	default:
		err = cannot(t)
	}
	e.close('}')
	return err
}

func cannot(t reflect.Type) error {
	return fmt.Errorf("a form cannot ask for a %s; it can for strings, numbers, bool, time.Time, and lists of strings with enum", t)
}

// head writes what all kinds have.
func (e *entry) head(name string) {
	e.text("type", name)
	e.text("title", e.options.take("title"))
	e.text("description", e.options.take("description"))
}

func (e *entry) line() error {
	e.head("string")
	format := e.options.take("format")
	if format != "" && !slices.Contains([]string{"email", "uri", "date", "date-time"}, format) {
		return fmt.Errorf("form tag: unknown format %q; forms know email, uri, date and date-time", format)
	}
	e.text("format", format)
	least, most, err := e.options.counts("minLength", "maxLength")
	if err != nil {
		return err
	}
	e.literal("minLength", least)
	e.literal("maxLength", most)
	e.text("pattern", e.options.take("pattern"))
	e.text("default", e.options.take("default"))
	return e.options.rest("a line of text")
}

func (e *entry) number(name, low, high string) error {
	e.head(name)
	for _, bound := range []struct {
		key  string
		to   *string
		sign int
	}{{"min", &low, 1}, {"max", &high, -1}} {
		s := e.options.take(bound.key)
		if s == "" {
			continue
		}
		if !isNumber(s) || name == "integer" && !isInteger(s) {
			return fmt.Errorf("form tag: %s is not a JSON %s", bound.key, name)
		}
		if *bound.to != "" && compareNumbers(s, *bound.to)*bound.sign < 0 {
			return fmt.Errorf("form tag: %s is out of the range of the Go type", bound.key)
		}
		*bound.to = s
	}
	if low != "" && high != "" && compareNumbers(low, high) > 0 {
		return errors.New("form tag: min is above max")
	}
	e.literal("minimum", low)
	e.literal("maximum", high)
	d := e.options.take("default")
	if d != "" && !isNumber(d) {
		return fmt.Errorf("form tag: the default is not a JSON %s", name)
	}
	e.literal("default", d)
	return e.options.rest("a number")
}

func isNumber(s string) bool {
	v := jsontext.Value(s)
	return v.IsValid() && v.Kind() == '0' && !strings.ContainsAny(s, " \t\r\n")
}

func (e *entry) boolean() error {
	e.head("boolean")
	d := e.options.take("default")
	if d != "" && d != "true" && d != "false" {
		return errors.New("form tag: the default must be true or false")
	}
	e.literal("default", d)
	return e.options.rest("a bool")
}

func (e *entry) choice() error {
	e.head("string")
	values, titles, err := e.options.choices()
	if err != nil {
		return err
	}
	if titles == nil {
		e.texts("enum", values)
	} else {
		e.titled("oneOf", values, titles)
	}
	e.text("default", e.options.take("default"))
	return e.options.rest("a choice")
}

func (e *entry) choices() error {
	e.head("array")
	values, titles, err := e.options.choices()
	if err != nil {
		return err
	}
	if values == nil {
		return errors.New("a form can only ask for a list of given values; the form tag needs enum")
	}
	least, most, err := e.options.counts("minItems", "maxItems")
	if err != nil {
		return err
	}
	e.literal("minItems", least)
	e.literal("maxItems", most)
	e.key("items")
	e.open('{')
	if titles == nil {
		e.text("type", "string")
		e.texts("enum", values)
	} else {
		e.titled("anyOf", values, titles)
	}
	e.close('}')
	defaults, err := e.options.list("default")
	if err != nil {
		return err
	}
	e.texts("default", defaults)
	return e.options.rest("a list of choices")
}

// titled writes alternatives of a value and its title.
func (e *entry) titled(key string, values, titles []string) {
	e.key(key)
	e.open('[')
	for i, v := range values {
		if i > 0 {
			e.b = append(e.b, ',')
		}
		e.open('{')
		e.text("const", v)
		e.text("title", titles[i])
		e.close('}')
	}
	e.close(']')
}
