package schema

import "strings"

// A typeSet is a set of JSON Schema types; the empty set allows every type.
type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject
)

// typeTexts holds the name of a type and how a rule says it, by bit.
var typeTexts = [...]struct{ name, rule string }{
	{"null", "null"},
	{"boolean", "true or false"},
	{"integer", "an integer"},
	{"number", "a number"},
	{"string", "a string"},
	{"array", "a list"},
	{"object", "an object"},
}

// typeOf returns the type called name, 0 if there is none.
func typeOf(name string) typeSet {
	for i, t := range typeTexts {
		if t.name == name {
			return 1 << i
		}
	}
	return 0
}

// has reports whether v has one of the types.
func (t typeSet) has(v *value) bool {
	switch v.kind {
	case kindNull:
		return t&typeNull != 0
	case kindBool:
		return t&typeBoolean != 0
	case kindNumber:
		return t&typeNumber != 0 || t&typeInteger != 0 && isInteger(v.text)
	case kindString:
		return t&typeString != 0
	case kindArray:
		return t&typeArray != 0
	default:
		return t&typeObject != 0
	}
}

// rule returns the rule that asks for one of the types.
func (t typeSet) rule() string {
	var alternatives []string
	for i := len(typeTexts) - 1; i >= 0; i-- { // null comes last
		if t&(1<<i) != 0 {
			alternatives = append(alternatives, typeTexts[i].rule)
		}
	}
	return "must be " + strings.Join(alternatives, " or ")
}
