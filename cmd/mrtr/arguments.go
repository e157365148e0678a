package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// arguments returns a tool's arguments: the members of object, a JSON object or
// empty, and over them those of pairs, each a k=v whose v is of the type that
// the tool's input schema says.
func arguments(object string, pairs []string, input jsontext.Value) (protocol.Object, error) {
	args := protocol.Object{}
	if object != "" {
		if err := json.Unmarshal([]byte(object), &args); err != nil || args == nil {
			return nil, usage(`--args '{"city":"Oslo"}'`, "--args is not a JSON object")
		}
	}
	var schema struct {
		Properties map[string]jsontext.Value `json:"properties"`
	}
	if input != nil {
		_ = json.Unmarshal(input, &schema) // a schema that says nothing of use
	}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usage("--arg city=Oslo", "--arg is not of the form k=v")
		}
		v, err := typed(text, schema.Properties[name])
		if err != nil {
			return nil, usage("use --args for a value of another type than the tool's schema says", "--arg %s: %w", name, err)
		}
		args[name] = v
	}
	return args, nil
}

// typed returns text as a JSON value of the type that a schema says. Where it
// says none, or several, text is what it can be read as: JSON, else a string.
func typed(text string, schema jsontext.Value) (jsontext.Value, error) {
	types := typesOf(schema)
	raw := jsontext.Value(strings.TrimSpace(text))
	valid := len(raw) > 0 && raw.IsValid()
	is := func(kind string) bool {
		switch raw.Kind() {
		case '"':
			return kind == "string"
		case '0':
			return kind == "number" || kind == "integer" && !strings.ContainsAny(string(raw), ".eE")
		case 't', 'f':
			return kind == "boolean"
		case 'n':
			return kind == "null"
		case '{':
			return kind == "object"
		case '[':
			return kind == "array"
		}
		return false
	}
	str := func() (jsontext.Value, error) {
		b, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			return nil, fmt.Errorf("it is not UTF-8")
		}
		return b, nil
	}
	switch {
	case len(types) == 1 && types[0] == "string":
		return str()
	case len(types) == 0 && valid, valid && raw.Kind() != '"' && slices.ContainsFunc(types, is):
		return raw, nil
	case len(types) == 0 || slices.Contains(types, "string"):
		return str()
	}
	return nil, fmt.Errorf("must be of type %s", strings.Join(types, " or "))
}

// typesOf returns what the keyword type of a schema says.
func typesOf(schema jsontext.Value) []string {
	var s struct {
		Type jsontext.Value `json:"type"`
	}
	if schema == nil || json.Unmarshal(schema, &s) != nil || s.Type == nil {
		return nil
	}
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		return []string{one}
	}
	var several []string
	_ = json.Unmarshal(s.Type, &several)
	return several
}
