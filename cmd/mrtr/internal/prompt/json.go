package prompt

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON returns a JSON value over lines of at most width characters, where that
// can be: what fits stays in one line.
func JSON(raw jsontext.Value, width int) string {
	v := raw.Clone()
	if v.Compact() != nil {
		return string(raw)
	}
	var b strings.Builder
	writeJSON(&b, v, "", width, 0)
	return b.String()
}

// writeJSON writes v, whose first line has used characters already.
func writeJSON(b *strings.Builder, v jsontext.Value, indent string, width, used int) {
	kind := v.Kind()
	if line := spaced(v); kind != '{' && kind != '[' || used+utf8.RuneCountInString(line)+1 <= width {
		b.WriteString(line)
		return
	}
	dec := jsontext.NewDecoder(strings.NewReader(string(v)))
	_, _ = dec.ReadToken() // of valid JSON, as all that follows
	b.WriteString(string(v[:1]))
	inner := indent + "  "
	for first := true; dec.PeekKind() != '}' && dec.PeekKind() != ']'; first = false {
		if !first {
			b.WriteByte(',')
		}
		b.WriteString("\n" + inner)
		used := len(inner)
		if kind == '{' {
			name, err := dec.ReadValue()
			if err != nil {
				return
			}
			b.WriteString(string(name) + ": ")
			used += utf8.RuneCount(name) + 2
		}
		member, err := dec.ReadValue()
		if err != nil {
			return
		}
		writeJSON(b, member.Clone(), inner, width, used)
	}
	b.WriteString("\n" + indent + string(v[len(v)-1:]))
}

// spaced returns v in one line, with a space behind colons and commas.
func spaced(v jsontext.Value) string {
	out := v.Clone()
	if out.Compact(jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true)) != nil {
		return string(v)
	}
	return string(out)
}
