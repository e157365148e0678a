package schema

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

const (
	maxSchemaSize  = 1 << 20 // bytes of a schema's text
	maxSchemaDepth = 64      // nesting of subschemas
	maxSubschemas  = 4096    // in one schema

	dialect = "https://json-schema.org/draft/2020-12/schema"
)

// A compiler turns one schema's text into nodes.
type compiler struct {
	strict  bool
	nodes   map[string]*node // by the JSON pointer of the subschema
	order   []string         // keys of nodes, in the order of the text
	anchors map[string]*node
	refs    []reference
}

// A reference is a $ref or $dynamicRef that is not resolved yet.
type reference struct {
	pointer string
	target  string
	to      **node
}

func errorAt(pointer, format string, args ...any) error {
	return fmt.Errorf("schema: at %q: %s", "#"+pointer, fmt.Sprintf(format, args...))
}

func (c *compiler) compile(root *value) (*node, error) {
	n, err := c.subschema(root, "", 0)
	if err != nil {
		return nil, err
	}
	for _, r := range c.refs {
		if *r.to, err = c.resolve(r); err != nil {
			return nil, err
		}
	}
	return n, c.checkCycles()
}

// resolve finds what a reference leads to, in this schema or nowhere.
func (c *compiler) resolve(r reference) (*node, error) {
	fragment, ok := strings.CutPrefix(r.target, "#")
	if !ok {
		return nil, errorAt(r.pointer, "%q leads out of the schema; nothing is ever fetched", r.target)
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, errorAt(r.pointer, "%q is not a URI reference", r.target)
	}
	n := c.anchors[fragment]
	if fragment == "" || fragment[0] == '/' {
		n = c.nodes[normalPointer(fragment)]
	}
	if n == nil {
		return nil, errorAt(r.pointer, "%q leads to no subschema", r.target)
	}
	return n, nil
}

func normalPointer(p string) string {
	segments := strings.Split(p, "/")
	for i, s := range segments {
		segments[i] = escapePointer(unescapePointer(s))
	}
	return strings.Join(segments, "/")
}

// checkCycles refuses a schema that would apply to a value by applying to that
// same value first.
func (c *compiler) checkCycles() error {
	const (
		active = 1
		done   = 2
	)
	state := make(map[*node]int, len(c.nodes))
	var visit func(*node) bool
	visit = func(n *node) bool {
		if state[n] != 0 {
			return state[n] == done
		}
		state[n] = active
		ok := true
		n.inPlace(func(m *node) { ok = ok && visit(m) })
		state[n] = done
		return ok
	}
	for _, p := range c.order {
		if !visit(c.nodes[p]) {
			return errorAt(p, "references go in a circle")
		}
	}
	return nil
}

func (c *compiler) subschema(v *value, at string, depth int) (*node, error) {
	n := newNode()
	n.strict = c.strict
	c.nodes[at] = n
	c.order = append(c.order, at)
	switch {
	case len(c.nodes) > maxSubschemas:
		return nil, errorAt(at, "more than %d subschemas", maxSubschemas)
	case depth > maxSchemaDepth:
		return nil, errorAt(at, "nested more than %d deep", maxSchemaDepth)
	case v.kind == kindBool:
		n.never = v.text == "false"
		return n, nil
	case v.kind != kindObject:
		return nil, errorAt(at, "a schema must be an object or a Boolean")
	}
	for i := range v.kids {
		k := &v.kids[i]
		r := keyword{c: c, n: n, v: k, at: at + "/" + escapePointer(k.name), depth: depth + 1}
		r.read()
		if r.err != nil {
			return nil, r.err
		}
	}
	if n.contains != nil && n.minContains < 0 {
		n.minContains = 1
	}
	n.foldConstants(v)
	return n, nil
}

// foldConstants turns alternatives that are nothing but distinct constants, as
// titled enums are, into a set.
func (n *node) foldConstants(v *value) {
	if n.enum != nil {
		return
	}
	for _, name := range []string{"oneOf", "anyOf"} {
		list := v.member(name)
		if list == nil {
			continue
		}
		var values []*value
		seen := map[string]bool{}
		for i := range list.kids {
			c := list.kids[i].member("const")
			for _, m := range list.kids[i].kids {
				if m.name != "const" && m.name != "title" && m.name != "description" {
					return
				}
			}
			if c == nil || seen[string(appendKey(nil, c))] {
				return
			}
			seen[string(appendKey(nil, c))] = true
			values = append(values, c)
		}
		n.enum = newEnum(ruleEnum, values)
		if name == "oneOf" {
			n.oneOf = nil
		} else {
			n.anyOf = nil
		}
		return
	}
}

// A keyword is one member of a schema that is being read.
type keyword struct {
	c     *compiler
	n     *node
	v     *value
	at    string
	depth int
	err   error
}

func (k *keyword) fail(format string, args ...any) {
	if k.err == nil {
		k.err = errorAt(k.at, format, args...)
	}
}

// text returns a string, literal a number of at least the given sign.
func (k *keyword) text() string {
	if k.v.kind != kindString {
		k.fail("must be a string")
	}
	return k.v.text
}

func (k *keyword) number() string {
	if k.v.kind != kindNumber {
		k.fail("must be a number")
	}
	return k.v.text
}

func (k *keyword) count() int {
	if k.v.kind != kindNumber || !isInteger(k.v.text) || compareNumbers(k.v.text, "0") < 0 {
		k.fail("must be a whole number of at least 0")
		return -1
	}
	if compareNumbers(k.v.text, strconv.Itoa(math.MaxInt32)) > 0 {
		return math.MaxInt32
	}
	f, _ := strconv.ParseFloat(k.v.text, 64) // a valid number in range
	return int(f)
}

func (k *keyword) truth() bool {
	if k.v.kind != kindBool {
		k.fail("must be true or false")
	}
	return k.v.text == "true"
}

func (k *keyword) regexp(pattern string) *regexp.Regexp {
	re, err := regexp.Compile(pattern)
	if err != nil {
		k.fail("%q is not a regular expression of RE2", pattern)
	}
	return re
}

func (k *keyword) strings(v *value) []string {
	if v.kind != kindArray {
		k.fail("must be a list of strings")
		return nil
	}
	list := make([]string, 0, len(v.kids))
	for i := range v.kids {
		if v.kids[i].kind != kindString {
			k.fail("must be a list of strings")
		}
		list = append(list, v.kids[i].text)
	}
	return list
}

func (k *keyword) schema() *node { return k.schemaAt(k.v, k.at) }

func (k *keyword) schemaAt(v *value, at string) *node {
	if k.err != nil {
		return nil
	}
	n, err := k.c.subschema(v, at, k.depth)
	k.err = err
	return n
}

func (k *keyword) schemas() []*node {
	if k.v.kind != kindArray || len(k.v.kids) == 0 {
		k.fail("must be a list of at least one schema")
		return nil
	}
	list := make([]*node, 0, len(k.v.kids))
	for i := range k.v.kids {
		list = append(list, k.schemaAt(&k.v.kids[i], k.at+"/"+strconv.Itoa(i)))
	}
	return list
}

// members calls f for each member of an object.
func (k *keyword) members(f func(name string, v *value, at string)) {
	if k.v.kind != kindObject {
		k.fail("must be an object")
		return
	}
	for i := range k.v.kids {
		m := &k.v.kids[i]
		f(m.name, m, k.at+"/"+escapePointer(m.name))
	}
}

func (k *keyword) anchor() {
	name := k.text()
	if k.c.anchors[name] != nil {
		k.fail("the anchor %q is there twice", name)
	}
	k.c.anchors[name] = k.n
}
