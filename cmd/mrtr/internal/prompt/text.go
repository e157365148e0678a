package prompt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s for a terminal: control and formatting characters, which could
// move the cursor or turn text around, are written as escapes. Line breaks and
// tabs stay. JSON remains the same JSON.
func Text(s string) string { return escape(s, "\n\t") }

// Line is Text in one line: a line break becomes a space.
func Line(s string) string {
	return escape(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " "), "")
}

func escape(s, keep string) string {
	clean := true
	for _, r := range s {
		clean = clean && (shown(r) || strings.ContainsRune(keep, r))
	}
	if clean && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case shown(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// shown reports whether a character takes part in a text as itself. A joiner
// makes emoji and words of some scripts.
func shown(r rune) bool {
	switch r {
	case '\u200c', '\u200d':
		return true
	case '\u2028', '\u2029':
		return false
	}
	return !unicode.Is(unicode.Cc, r) && !unicode.Is(unicode.Cf, r)
}
