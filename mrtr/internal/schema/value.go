package schema

import (
	"sort"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a value under check, and of a schema's text.
const (
	maxValueDepth = 128     // nesting
	maxValues     = 1 << 17 // values in it, about 10 MB of memory
)

type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

// A value is a JSON value, read but not converted: numbers stay as written.
// Strings share memory with the text they were read from.
type value struct {
	kind kind
	name string  // as a member: its name
	text string  // of a string: its content; of a number or Boolean: its literal
	kids []value // items, or members in the order of the text
}

// member returns the member called name, nil if there is none.
func (v *value) member(name string) *value {
	for i := range v.kids {
		if v.kids[i].name == name {
			return &v.kids[i]
		}
	}
	return nil
}

// parseValue reads raw and reports the number of values in it. It accepts what
// RFC 8259 and RFC 7493 accept: no duplicate names, no broken UTF-8. Otherwise
// it returns the rule that raw violates.
func parseValue(raw []byte) (v value, n int, rule string) {
	if !jsontext.Value(raw).IsValid() {
		return value{}, 0, ruleInvalidJSON
	}
	s := scanner{text: string(raw)}
	s.value(&v, 0)
	if s.rule != "" {
		return value{}, 0, s.rule
	}
	return v, s.values, ""
}

// A scanner splits a text that is known to be valid JSON.
type scanner struct {
	text   string
	at     int
	values int
	rule   string // the limit that was met, if any
}

func (s *scanner) limit(rule string) bool {
	s.rule = rule
	return false
}

// next skips white space and returns the byte it stops at.
func (s *scanner) next() byte {
	for {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
}

// value reads one value into v. It returns false when it meets a limit.
func (s *scanner) value(v *value, depth int) bool {
	if s.values++; s.values > maxValues {
		return s.limit(ruleEffort)
	}
	switch c := s.next(); c {
	case 'n':
		v.kind = kindNull
		s.at += len("null")
	case 't':
		v.kind, v.text = kindBool, "true"
		s.at += len("true")
	case 'f':
		v.kind, v.text = kindBool, "false"
		s.at += len("false")
	case '"':
		v.kind, v.text = kindString, s.quoted()
	case '[', '{':
		if depth == maxValueDepth {
			return s.limit(ruleDepth)
		}
		return s.composite(v, depth)
	default:
		start := s.at
		for s.at < len(s.text) && strings.IndexByte("+-.0123456789Ee", s.text[s.at]) >= 0 {
			s.at++
		}
		v.kind, v.text = kindNumber, s.text[start:s.at]
	}
	return true
}

func (s *scanner) composite(v *value, depth int) bool {
	v.kind = kindArray
	if s.text[s.at] == '{' {
		v.kind = kindObject
	}
	s.at++
	for {
		switch s.next() {
		case ']', '}':
			s.at++
			return true
		case ',':
			s.at++
		}
		if v.kids == nil {
			v.kids = make([]value, 0, 4)
		}
		v.kids = append(v.kids, value{})
		kid := &v.kids[len(v.kids)-1]
		if v.kind == kindObject {
			s.next()
			kid.name = s.quoted()
			s.next()
			s.at++ // the colon
		}
		if !s.value(kid, depth+1) {
			return false
		}
	}
}

// quoted reads a string and returns its content.
func (s *scanner) quoted() string {
	start := s.at
	s.at++
	escaped := false
	for s.text[s.at] != '"' {
		if s.text[s.at] == '\\' {
			escaped = true
			s.at++
		}
		s.at++
	}
	s.at++
	if !escaped {
		return s.text[start+1 : s.at-1]
	}
	b, _ := jsontext.AppendUnquote(nil, s.text[start:s.at]) // valid: checked before
	return string(b)
}

// equal reports whether a and b are the same JSON value: numbers by their
// value, objects whatever the order of their members.
func equal(a, b *value) bool {
	if a.kind != b.kind || len(a.kids) != len(b.kids) {
		return false
	}
	switch a.kind {
	case kindNumber:
		return compareNumbers(a.text, b.text) == 0
	case kindObject:
		for i := range a.kids {
			m := b.member(a.kids[i].name)
			if m == nil || !equal(&a.kids[i], m) {
				return false
			}
		}
		return true
	case kindArray:
		for i := range a.kids {
			if !equal(&a.kids[i], &b.kids[i]) {
				return false
			}
		}
		return true
	default:
		return a.text == b.text
	}
}

// appendKey appends a form of v that is the same for equal values and different
// for all others.
func appendKey(b []byte, v *value) []byte {
	b = append(b, byte('0'+v.kind))
	switch v.kind {
	case kindNumber:
		b = parseDecimal(v.text).appendKey(b)
	case kindArray:
		for i := range v.kids {
			b = appendKey(b, &v.kids[i])
		}
		b = append(b, ']')
	case kindObject:
		order := make([]*value, len(v.kids))
		for i := range v.kids {
			order[i] = &v.kids[i]
		}
		sort.Slice(order, func(i, j int) bool { return order[i].name < order[j].name })
		for _, m := range order {
			b, _ = jsontext.AppendQuote(b, m.name) // valid UTF-8: checked before
			b = appendKey(b, m)
		}
		b = append(b, '}')
	default:
		b, _ = jsontext.AppendQuote(b, v.text) // valid UTF-8: checked before
	}
	return b
}
