package prompt

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"charm.land/huh/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// field is one field of a form: what shows it and what it holds.
type field struct {
	name   string
	widget huh.Field
	value  func() jsontext.Value // JSON; null: left out
}

var null = jsontext.Value("null")

// newFields makes the fields of a form, filled with their defaults.
func newFields(q *client.FormQuestion) []field {
	f := &formFields{q: q, defaults: q.Defaults()}
	for _, p := range q.Schema.Properties {
		f.add(p)
	}
	return f.fields
}

// content returns the object that the fields hold.
func content(fields []field) (jsontext.Value, error) {
	object := protocol.Object{}
	for _, f := range fields {
		object[f.name] = f.value()
	}
	return json.Marshal(object)
}

// formFields are the fields of a form while they are made.
type formFields struct {
	q        *client.FormQuestion
	defaults protocol.Object
	fields   []field
}

func (f *formFields) required(name string) bool { return slices.Contains(f.q.Schema.Required, name) }

// title is what a field is called, with a mark where it can be left out.
func (f *formFields) title(name, title string) string {
	s := Line(cmp.Or(title, name))
	if !f.required(name) {
		s += " (optional)"
	}
	return s
}

// check returns what is wrong with a field's value.
func (f *formFields) check(name string, v jsontext.Value) error {
	if v.Kind() == 'n' {
		if f.required(name) {
			return errors.New("is required")
		}
		return nil
	}
	object := protocol.Object{}
	for _, other := range f.fields {
		if held := other.value(); held.Kind() != 'n' {
			object[other.name] = held
		}
	}
	object[name] = v
	pointer := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name) + " "
	for _, problem := range f.q.Check(object) {
		for _, p := range [...]string{pointer, "/" + name + " "} {
			if rule, ok := strings.CutPrefix(problem, p); ok {
				return errors.New(Line(rule))
			}
		}
		if strings.HasPrefix(problem, strings.TrimSuffix(pointer, " ")+"/") { // an element
			return errors.New(Line(problem))
		}
	}
	return nil
}

func (f *formFields) add(p protocol.Property) {
	switch s := p.Schema.(type) {
	case *protocol.StringSchema:
		f.addInput(p.Name, s.Title, s.Description, s.Format, quoteText)
	case *protocol.NumberSchema:
		kind := "a number"
		if s.Integer {
			kind = "a whole number"
		}
		f.addInput(p.Name, s.Title, s.Description, kind, func(text string) (jsontext.Value, error) {
			v := jsontext.Value(strings.TrimSpace(text))
			if v.Kind() != '0' || !v.IsValid() {
				return nil, errors.New("must be " + kind)
			}
			return v, nil
		})
	case *protocol.BooleanSchema:
		f.addBoolean(p.Name, s)
	case *protocol.SingleSelectEnumSchema:
		f.addChoice(p.Name, s)
	case *protocol.MultiSelectEnumSchema:
		f.addSeveral(p.Name, s)
	default:
		f.addInput(p.Name, "", "", "JSON", func(text string) (jsontext.Value, error) {
			v := jsontext.Value(strings.TrimSpace(text))
			if !v.IsValid() {
				return nil, errors.New("must be JSON")
			}
			return v, nil
		})
	}
}

func quoteText(text string) (jsontext.Value, error) {
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return nil, errors.New("must be UTF-8")
	}
	return b, nil
}

// addInput adds a line of text, which read turns into JSON. Empty is left out.
func (f *formFields) addInput(name, title, description, kind string, read func(string) (jsontext.Value, error)) {
	text := new(string)
	if v := f.defaults[name]; v != nil && json.Unmarshal(v, text) != nil {
		*text = string(v)
	}
	*text = strings.ReplaceAll(*text, "\n", " ")
	value := func(s string) (jsontext.Value, error) {
		if s == "" {
			return null, nil
		}
		return read(s)
	}
	w := huh.NewInput().Title(f.title(name, title)).Description(join(Line(description), kind)).Value(text).Validate(func(s string) error {
		v, err := value(s)
		if err != nil {
			return err
		}
		return f.check(name, v)
	})
	f.fields = append(f.fields, field{name, w, func() jsontext.Value {
		v, err := value(*text)
		if err != nil {
			return null
		}
		return v
	}})
}

// addBoolean adds yes or no, and a third choice where the field can be left out
// and says nothing at first.
func (f *formFields) addBoolean(name string, s *protocol.BooleanSchema) {
	if s.Default == nil && !f.required(name) {
		f.addPick(name, s.Title, s.Description, []option{{"Yes", jsontext.Value("true")}, {"No", jsontext.Value("false")}}, -1)
		return
	}
	yes := new(bool)
	if s.Default != nil {
		*yes = *s.Default
	}
	w := huh.NewConfirm().Title(f.title(name, s.Title)).Description(Line(s.Description)).Value(yes).Validate(func(v bool) error {
		return f.check(name, jsontext.Value(strconv.FormatBool(v)))
	})
	f.fields = append(f.fields, field{name, w, func() jsontext.Value { return jsontext.Value(strconv.FormatBool(*yes)) }})
}

// option is a value to choose, as the user sees it and as JSON.
type option struct {
	label string
	value jsontext.Value
}

func (f *formFields) addChoice(name string, s *protocol.SingleSelectEnumSchema) {
	at := -1
	var options []option
	for i, o := range s.Options {
		v, err := quoteText(o.Const)
		if err != nil {
			continue
		}
		options = append(options, option{Line(cmp.Or(o.Title, o.Const)), v})
		if s.Default != nil && o.Const == *s.Default {
			at = i
		}
	}
	f.addPick(name, s.Title, s.Description, options, at)
}

// addPick adds a choice of one. at is chosen at first; -1: none of them.
func (f *formFields) addPick(name, title, description string, options []option, at int) {
	picked := new(int)
	*picked = at
	var shown []huh.Option[int]
	if !f.required(name) {
		shown = append(shown, huh.NewOption("(none)", -1))
	} else if at < 0 {
		*picked = 0
	}
	for i, o := range options {
		shown = append(shown, huh.NewOption(o.label, i))
	}
	value := func(i int) jsontext.Value {
		if i < 0 || i >= len(options) {
			return null
		}
		return options[i].value
	}
	w := huh.NewSelect[int]().Title(f.title(name, title)).Description(Line(description)).Options(shown...).Value(picked).
		Validate(func(i int) error { return f.check(name, value(i)) })
	f.fields = append(f.fields, field{name, w, func() jsontext.Value { return value(*picked) }})
}

// addSeveral adds a choice of several.
func (f *formFields) addSeveral(name string, s *protocol.MultiSelectEnumSchema) {
	picked := new([]int)
	var shown []huh.Option[int]
	for i, o := range s.Options {
		shown = append(shown, huh.NewOption(Line(cmp.Or(o.Title, o.Const)), i))
		if slices.Contains(s.Default, o.Const) {
			*picked = append(*picked, i)
		}
	}
	value := func(at []int) jsontext.Value {
		if len(at) == 0 && !f.required(name) && s.Default == nil {
			return null
		}
		chosen := []string{}
		for _, i := range at {
			chosen = append(chosen, s.Options[i].Const)
		}
		v, err := json.Marshal(chosen)
		if err != nil {
			return null
		}
		return v
	}
	w := huh.NewMultiSelect[int]().Title(f.title(name, s.Title)).Description(join(Line(s.Description), bounds(s.MinItems, s.MaxItems))).
		Options(shown...).Value(picked).Filterable(false).Height(min(len(shown), 8) + 2).Validate(func(at []int) error { return f.check(name, value(at)) })
	f.fields = append(f.fields, field{name, w, func() jsontext.Value { return value(*picked) }})
}

// bounds says how many may be chosen.
func bounds(least, most *int) string {
	switch {
	case least != nil && *least > 0 && most != nil:
		return fmt.Sprintf("%d to %d of them", *least, *most)
	case least != nil && *least > 0:
		return fmt.Sprintf("at least %d of them", *least)
	case most != nil:
		return fmt.Sprintf("at most %d of them", *most)
	}
	return ""
}

// join joins what is not empty.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}
