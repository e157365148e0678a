package schema

import "regexp"

// A node is one compiled subschema. It is not changed after compilation. Bounds
// of counts are -1 where there are none; bounds of numbers are JSON numbers,
// empty where there are none.
type node struct {
	never    bool // the schema false
	types    typeSet
	typeRule string
	enum     *enum
	format   string // asserted, so only set in strict schemas
	strict   bool   // integers must fit Go's 64-bit integers

	minimum, maximum           string
	aboveMinimum, belowMaximum string // exclusive bounds
	multipleOf                 string

	minLength, maxLength int
	pattern              *regexp.Regexp

	prefix                   []*node
	items                    *node
	minItems, maxItems       int
	unique                   bool
	contains                 *node
	minContains, maxContains int

	properties             map[string]*node
	patterns               []patternNode
	additional             *node
	names                  *node
	required               []string
	minMembers, maxMembers int
	dependentRequired      []dependency
	dependentSchemas       []dependency

	ref                         *node
	dynamicRef                  *node
	allOf, anyOf, oneOf         []*node
	not, condition, then, other *node

	unevaluatedItems, unevaluatedProperties *node
}

func newNode() *node {
	return &node{minLength: -1, maxLength: -1, minItems: -1, maxItems: -1,
		minContains: -1, maxContains: -1, minMembers: -1, maxMembers: -1}
}

// A patternNode applies to the members whose name matches.
type patternNode struct {
	name *regexp.Regexp
	node *node
}

// A dependency asks for more when an object has a member called name.
type dependency struct {
	name     string
	required []string
	node     *node
}

// An enum is the set of values of enum or const, or of alternatives that are
// nothing but constants.
type enum struct {
	rule    string
	strings map[string]struct{}
	others  []*value
}

func newEnum(rule string, values []*value) *enum {
	e := &enum{rule: rule, strings: make(map[string]struct{}, len(values))}
	for _, v := range values {
		if v.kind == kindString {
			e.strings[v.text] = struct{}{}
		} else {
			e.others = append(e.others, v)
		}
	}
	return e
}

func (e *enum) has(v *value) bool {
	if v.kind == kindString {
		_, ok := e.strings[v.text]
		return ok
	}
	for _, o := range e.others {
		if equal(o, v) {
			return true
		}
	}
	return false
}

// inPlace calls f with each node that applies to the same value as n.
func (n *node) inPlace(f func(*node)) {
	for _, m := range [...]*node{n.ref, n.dynamicRef, n.not, n.condition, n.then, n.other} {
		if m != nil {
			f(m)
		}
	}
	for _, list := range [...][]*node{n.allOf, n.anyOf, n.oneOf} {
		for _, m := range list {
			f(m)
		}
	}
	for _, d := range n.dependentSchemas {
		f(d.node)
	}
}
