package replay

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// errLog is all that Parse says: it tells nothing of the content.
var errLog = errors.New("replay: not a log")

// Parse reads what Append wrote, and nothing that Append would write otherwise.
// The bytes were authenticated, so an error means another program's log, not an
// attack. Results and values are parts of b, which must not change any more.
func Parse(b []byte) (Log, error) {
	if !jsontext.Value(b).IsValid() {
		return Log{}, errLog
	}
	c := cursor{rest: b}
	l := c.log()
	if c.bad {
		return Log{}, errLog
	}
	for i := range l.Entries {
		if l.Entries[i].Open && i != len(l.Entries)-1 {
			return Log{}, errLog
		}
	}
	// One way to write a log: this refuses other orders, spellings and white
	// space, missing and needless commas, and whatever follows the object.
	again, err := l.Append(make([]byte, 0, len(b)))
	if err != nil || !bytes.Equal(again, b) {
		return Log{}, errLog
	}
	return l, nil
}

// cursor walks over a log that is known to be JSON. Once something is not as
// Append writes it, it is bad and what it returns has no meaning.
type cursor struct {
	rest []byte
	bad  bool
}

func (c *cursor) log() (l Log) {
	c.need("{")
	for c.more('}') {
		switch {
		case c.take(`"l":[`):
			for c.more(']') {
				l.Entries = append(l.Entries, c.entry())
			}
		case c.take(`"o":`):
			own, err := base64.RawURLEncoding.DecodeString(c.text())
			l.Own, c.bad = own, c.bad || err != nil
		case c.take(`"g":[`):
			for c.more(']') {
				l.Asked = append(l.Asked, c.text())
			}
		case c.take(`"y":[`):
			l.Yields = c.count()
			c.need(",")
			l.YieldAt = c.count()
			c.need("]")
		case c.take(`"h":`):
			l.Home = c.text()
		default:
			c.bad = true
		}
	}
	return l
}

func (c *cursor) entry() (e Entry) {
	switch {
	case c.take(`["s",`):
		e.Step = c.text()
		c.need(",")
		e.Result = c.value()
		c.need("]")
		c.bad = c.bad || e.Step == ""
		return e
	case c.take(`["o"`):
		e.Open = true
	default:
		c.need(`["a"`)
	}
	for c.more(']') {
		e.Group = append(e.Group, c.answered())
	}
	c.bad = c.bad || len(e.Group) == 0
	return e
}

func (c *cursor) answered() (a Answered) {
	a.Key = c.text()
	c.need(`,"`)
	a.Confirm = c.take("!")
	if size := base64.RawURLEncoding.EncodedLen(len(a.Digest)); len(c.rest) >= size {
		n, err := base64.RawURLEncoding.Decode(a.Digest[:], c.rest[:size])
		c.bad = c.bad || err != nil || n != len(a.Digest)
		c.rest = c.rest[size:]
	}
	c.need(`",`)
	switch {
	case c.take(`"d"`):
		a.Outcome = Declined
	case c.take(`"c"`):
		a.Outcome = Cancelled
	case c.take("null"):
	default:
		a.Outcome, a.Value = Accepted, c.value()
		c.bad = c.bad || a.Value.Kind() != '{'
	}
	return a
}

// take steps over s, if that comes next.
func (c *cursor) take(s string) bool {
	if len(c.rest) < len(s) || string(c.rest[:len(s)]) != s {
		return false
	}
	c.rest = c.rest[len(s):]
	return true
}

// need steps over s, which has to come next.
func (c *cursor) need(s string) { c.bad = !c.take(s) || c.bad }

// more reports whether a member or element comes next, and steps over the comma
// in front of it; otherwise it steps out of the object or array.
func (c *cursor) more(end byte) bool {
	switch {
	case c.bad || len(c.rest) == 0:
		c.bad = true
		return false
	case c.rest[0] == end:
		c.rest = c.rest[1:]
		return false
	case c.rest[0] == ',':
		c.rest = c.rest[1:]
	}
	return true
}

// text reads a string.
func (c *cursor) text() string {
	v := c.value()
	if v.Kind() != '"' {
		c.bad = true
		return ""
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	b, err := jsontext.AppendUnquote(make([]byte, 0, len(v)), v)
	c.bad = c.bad || err != nil
	return string(b)
}

// count reads a number from 0 to 2^31-1.
func (c *cursor) count() int {
	n, err := strconv.ParseUint(string(c.value()), 10, 31)
	c.bad = c.bad || err != nil
	return int(n)
}

// value reads any value.
func (c *cursor) value() jsontext.Value {
	end, depth := 0, 0
	for end < len(c.rest) {
		switch c.rest[end] {
		case '"':
			end = textEnd(c.rest, end)
		case '{', '[':
			depth++
			end++
			continue
		case '}', ']':
			depth--
			end++
		default: // part of a literal, or between values
			end++
			if depth > 0 || end < len(c.rest) && strings.IndexByte(",]} \t\r\n", c.rest[end]) < 0 {
				continue
			}
		}
		if depth <= 0 {
			break
		}
	}
	v := c.rest[:end:end]
	c.rest = c.rest[end:]
	return jsontext.Value(v)
}

// textEnd returns where the string at b[i] ends.
func textEnd(b []byte, i int) int {
	i++
	if n := bytes.IndexByte(b[i:], '"'); n >= 0 && bytes.IndexByte(b[i:i+n], '\\') < 0 {
		return i + n + 1 // most have no escapes
	}
	for ; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(b))
}
