package schema

import "strings"

// read takes one keyword into the node. Keywords that assert nothing, and
// unknown ones, are passed over, as the specification wants it.
func (k *keyword) read() {
	n := k.n
	switch k.v.name {
	case "$schema":
		if strings.TrimSuffix(k.text(), "#") != dialect {
			k.fail("unknown dialect; this package knows %s", dialect)
		}
	case "$id":
		if k.text(); k.depth > 1 {
			k.fail("a schema of its own inside a schema is not supported")
		}
	case "$anchor", "$dynamicAnchor":
		k.anchor()
	case "$ref":
		k.c.refs = append(k.c.refs, reference{k.at, k.text(), &n.ref})
	case "$dynamicRef":
		k.c.refs = append(k.c.refs, reference{k.at, k.text(), &n.dynamicRef})
	case "$defs", "definitions":
		k.members(func(_ string, v *value, at string) { k.schemaAt(v, at) })

	case "type":
		k.readType()
	case "enum":
		if k.v.kind != kindArray {
			k.fail("must be a list")
		}
		k.both(ruleEnum, pointers(k.v.kids))
	case "const":
		k.both(ruleConst, []*value{k.v})
	case "format":
		if format := k.text(); k.c.strict {
			n.format = format
		}

	case "minimum":
		n.minimum = k.number()
	case "maximum":
		n.maximum = k.number()
	case "exclusiveMinimum":
		n.aboveMinimum = k.number()
	case "exclusiveMaximum":
		n.belowMaximum = k.number()
	case "multipleOf":
		if n.multipleOf = k.number(); k.err == nil && compareNumbers(n.multipleOf, "0") <= 0 {
			k.fail("must be above 0")
		}
	case "minLength":
		n.minLength = k.count()
	case "maxLength":
		n.maxLength = k.count()
	case "pattern":
		n.pattern = k.regexp(k.text())

	default:
		k.readApplicator()
	}
}

// both sets the allowed values; const beside enum becomes a further condition.
func (k *keyword) both(rule string, values []*value) {
	e := newEnum(rule, values)
	if k.n.enum == nil {
		k.n.enum = e
		return
	}
	further := newNode()
	further.enum = e
	k.n.allOf = append(k.n.allOf, further)
}

func (k *keyword) readType() {
	names := []string{k.v.text}
	if k.v.kind != kindString {
		names = k.strings(k.v)
	}
	for _, name := range names {
		t := typeOf(name)
		if t == 0 {
			k.fail("%q is not a type", name)
		}
		k.n.types |= t
	}
	if k.n.types == 0 {
		k.fail("must name a type")
		return
	}
	k.n.typeRule = k.n.types.rule()
}

func (k *keyword) readApplicator() {
	n := k.n
	switch k.v.name {
	case "prefixItems":
		n.prefix = k.schemas()
	case "items":
		if k.v.kind == kindArray {
			k.fail("must be a schema; a list of schemas is called prefixItems")
		}
		n.items = k.schema()
	case "minItems":
		n.minItems = k.count()
	case "maxItems":
		n.maxItems = k.count()
	case "uniqueItems":
		n.unique = k.truth()
	case "contains":
		n.contains = k.schema()
	case "minContains":
		n.minContains = k.count()
	case "maxContains":
		n.maxContains = k.count()
	case "unevaluatedItems":
		n.unevaluatedItems = k.schema()

	case "properties":
		n.properties = make(map[string]*node, len(k.v.kids))
		k.members(func(name string, v *value, at string) { n.properties[name] = k.schemaAt(v, at) })
	case "patternProperties":
		k.members(func(name string, v *value, at string) {
			n.patterns = append(n.patterns, patternNode{k.regexp(name), k.schemaAt(v, at)})
		})
	case "additionalProperties":
		n.additional = k.schema()
	case "propertyNames":
		n.names = k.schema()
	case "required":
		n.required = k.strings(k.v)
	case "minProperties":
		n.minMembers = k.count()
	case "maxProperties":
		n.maxMembers = k.count()
	case "dependentRequired":
		k.members(func(name string, v *value, _ string) {
			n.dependentRequired = append(n.dependentRequired, dependency{name: name, required: k.strings(v)})
		})
	case "dependentSchemas":
		k.members(func(name string, v *value, at string) {
			n.dependentSchemas = append(n.dependentSchemas, dependency{name: name, node: k.schemaAt(v, at)})
		})
	case "unevaluatedProperties":
		n.unevaluatedProperties = k.schema()

	case "allOf":
		n.allOf = append(n.allOf, k.schemas()...)
	case "anyOf":
		n.anyOf = k.schemas()
	case "oneOf":
		n.oneOf = k.schemas()
	case "not":
		n.not = k.schema()
	case "if":
		n.condition = k.schema()
	case "then":
		n.then = k.schema()
	case "else":
		n.other = k.schema()
	}
}

func pointers(list []value) []*value {
	ps := make([]*value, len(list))
	for i := range list {
		ps[i] = &list[i]
	}
	return ps
}
