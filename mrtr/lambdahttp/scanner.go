package lambdahttp

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// scanner walks over JSON that is known to be valid. Text without escapes comes
// out as part of s, so that reading an event allocates little. An empty s stands
// for null.
type scanner struct {
	s   string
	i   int
	bad bool // a value was not of the type asked for
}

// space skips white space.
func (p *scanner) space() {
	for p.i < len(p.s) && p.s[p.i] <= ' ' {
		p.i++
	}
}

// enter steps into an object or array, if that is what comes next.
func (p *scanner) enter(open byte) bool {
	p.space()
	if p.i == len(p.s) || p.s[p.i] != open {
		return false
	}
	p.i++
	return true
}

// more reports whether a member or element comes next; otherwise it steps out
// of the object or array.
func (p *scanner) more(end byte) bool {
	p.space()
	if p.s[p.i] == ',' {
		p.i++
		p.space()
	}
	if p.s[p.i] == end {
		p.i++
		return false
	}
	return true
}

// name reads a member's name with its colon.
func (p *scanner) name() string {
	s := p.str()
	p.space()
	p.i++
	return s
}

// text reads a string, or null as the empty string.
func (p *scanner) text() string {
	p.space()
	if p.s[p.i] == '"' {
		return p.str()
	}
	if p.json() != "" {
		p.bad = true
	}
	return ""
}

// str reads a string.
func (p *scanner) str() string {
	start := p.i
	if p.skipString() {
		b, _ := jsontext.AppendUnquote(nil, p.s[start:p.i])
		return string(b)
	}
	return p.s[start+1 : p.i-1]
}

// json reads any value as JSON, null as the empty string.
func (p *scanner) json() string {
	p.space()
	start := p.i
	p.skip()
	if p.s[start] == 'n' {
		return ""
	}
	return p.s[start:p.i]
}

// skip skips any value.
func (p *scanner) skip() {
	p.space()
	for depth := 0; ; {
		switch p.s[p.i] {
		case '"':
			p.skipString()
		case '{', '[':
			p.i++
			depth++
		case '}', ']':
			p.i++
			depth--
		case ' ', '\t', '\r', '\n', ',', ':':
			p.i++
			continue // of an object or array
		default:
			for p.i < len(p.s) && !strings.ContainsRune(" \t\r\n,]}", rune(p.s[p.i])) {
				p.i++
			}
		}
		if depth == 0 {
			return
		}
	}
}

// skipString skips a string and reports whether it has escapes.
func (p *scanner) skipString() (escaped bool) {
	for p.i++; p.s[p.i] != '"'; p.i++ {
		if p.s[p.i] == '\\' {
			escaped = true
			p.i++
		}
	}
	p.i++
	return escaped
}

// fields calls add for each member of an object of strings or, when multi is
// set, of arrays of strings. Null stands for no object, no string, no array.
// bad is set if anything else is met.
func (p *scanner) fields(bad *bool, multi bool, add func(name, value string)) {
	if p.s == "" {
		return
	}
	if !p.enter('{') {
		*bad = true
		return
	}
	for p.more('}') {
		name := p.name()
		if !multi {
			p.element(name, add)
			continue
		}
		if !p.enter('[') {
			p.bad = p.json() != "" || p.bad
			continue
		}
		for p.more(']') {
			p.element(name, add)
		}
	}
	*bad = *bad || p.bad
}

// element calls add for a string, and not for null.
func (p *scanner) element(name string, add func(name, value string)) {
	p.space()
	switch {
	case p.s[p.i] == '"':
		add(name, p.str())
	case p.json() != "":
		p.bad = true
	}
}

// find reads the text of one member of an object, if there is one.
func (p *scanner) find(member string, text *string) {
	if !p.enter('{') {
		return
	}
	for p.more('}') {
		if p.name() == member {
			*text = p.text()
		} else {
			p.skip()
		}
	}
}

// join reads an array of strings as one.
func (p *scanner) join(sep string) string {
	var all []string
	if p.enter('[') {
		for p.more(']') {
			p.element("", func(_, s string) { all = append(all, s) })
		}
	}
	return strings.Join(all, sep)
}
