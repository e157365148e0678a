package schema

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// A Schema is a JSON Schema, ready to check values. It does not change and is
// safe for concurrent use. The zero value is of no use: Parse or For makes one.
type Schema struct {
	raw  jsontext.Value
	root *node
}

// Parse reads a schema that an author wrote: an object of JSON Schema 2020-12
// of at most 1 MiB, 4096 subschemas, and a nesting of 64. The error names the
// place by its JSON pointer. It is an error if a reference leads out of the
// schema or nowhere, if references go in a circle, if $schema names another
// dialect, and if a keyword has a value that is not one.
func Parse(raw []byte) (*Schema, error) { return parse(raw, false) }

func parse(raw []byte, strict bool) (*Schema, error) {
	if len(raw) > maxSchemaSize {
		return nil, fmt.Errorf("schema: longer than %d bytes", maxSchemaSize)
	}
	v, _, rule := parseValue(raw)
	if rule != "" {
		return nil, fmt.Errorf("schema: the text %s", rule)
	}
	if v.kind != kindObject {
		return nil, fmt.Errorf("schema: must be a JSON object")
	}
	c := &compiler{strict: strict, nodes: map[string]*node{}, anchors: map[string]*node{}}
	root, err := c.compile(&v)
	if err != nil {
		return nil, err
	}
	text := append(jsontext.Value(nil), raw...)
	if err := text.Compact(); err != nil {
		return nil, fmt.Errorf("schema: compacting: %w", err)
	}
	return &Schema{raw: text, root: root}, nil
}

// Raw returns the schema's text without white space, members in the order that
// the author or the Go type gives. The caller must not change it.
func (s *Schema) Raw() jsontext.Value { return s.raw }

// IsObject reports whether the root says "type": "object", as the input schema
// of a tool must.
func (s *Schema) IsObject() bool { return s.root.types == typeObject }

// Validate returns the ways in which raw does not fit, at most 8 of them, in
// the order of the schema and of raw; none if raw is valid. Besides the schema,
// raw must have a nesting of at most 128, at most 131072 values in it, no
// duplicate names, and must not take more work than some hundred steps for each
// of its values.
func (s *Schema) Validate(raw jsontext.Value) []Violation {
	v, n, rule := parseValue(raw)
	if rule != "" {
		return []Violation{{Rule: rule}}
	}
	c := check{steps: budget(n)}
	ok := c.value(s.root, &v, nil)
	switch {
	case c.steps < 0:
		return []Violation{{Rule: ruleEffort}}
	case ok:
		return nil
	case len(c.found) == 0: // every failure reports; this is the net below
		return []Violation{{Rule: ruleMember}}
	}
	return c.found
}
