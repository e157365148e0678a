package replay

import (
	"bytes"
	"encoding/base64"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// errLog is all that Parse says: it tells nothing of the content.
var errLog = errors.New("replay: not a log")

// Parse reads what Append wrote, and nothing that Append would write otherwise.
// The bytes were authenticated, so an error means another program's log, not an
// attack. The log shares no memory with b.
func Parse(b []byte) (Log, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(b))
	l, err := parseLog(d)
	if err != nil {
		return Log{}, errLog
	}
	for i := range l.Entries {
		if l.Entries[i].Open && i != len(l.Entries)-1 {
			return Log{}, errLog
		}
	}
	// One way to write a log: this refuses other orders, spellings and white
	// space, and whatever follows the object.
	again, err := l.Append(make([]byte, 0, len(b)))
	if err != nil || !bytes.Equal(again, b) {
		return Log{}, errLog
	}
	return l, nil
}

func parseLog(d *jsontext.Decoder) (l Log, err error) {
	if err := expect(d, '{'); err != nil {
		return l, err
	}
	for d.PeekKind() == '"' {
		name, err := text(d)
		if err != nil {
			return l, err
		}
		switch name {
		case "l":
			err = list(d, func() error {
				e, err := parseEntry(d)
				l.Entries = append(l.Entries, e)
				return err
			})
		case "o":
			l.Own, err = bytesOf(d)
		case "g":
			err = list(d, func() error {
				key, err := text(d)
				l.Asked = append(l.Asked, key)
				return err
			})
		case "y":
			l.Yields, l.YieldAt, err = parseYields(d)
		case "h":
			l.Home, err = text(d)
		default:
			err = errLog
		}
		if err != nil {
			return l, err
		}
	}
	return l, expect(d, '}')
}

func parseEntry(d *jsontext.Decoder) (e Entry, err error) {
	if err := expect(d, '['); err != nil {
		return e, err
	}
	tag, err := text(d)
	if err != nil {
		return e, err
	}
	switch tag {
	case "s":
		if e.Step, err = text(d); err != nil || e.Step == "" {
			return e, errLog
		}
		v, err := d.ReadValue()
		if err != nil {
			return e, err
		}
		e.Result = v.Clone()
	case "a", "o":
		e.Open = tag == "o"
		for d.PeekKind() == '"' {
			a, err := parseAnswered(d)
			if err != nil {
				return e, err
			}
			e.Group = append(e.Group, a)
		}
		if len(e.Group) == 0 {
			return e, errLog
		}
	default:
		return e, errLog
	}
	return e, expect(d, ']')
}

func parseAnswered(d *jsontext.Decoder) (a Answered, err error) {
	if a.Key, err = text(d); err != nil {
		return a, err
	}
	digest, err := text(d)
	if err != nil {
		return a, err
	}
	if len(digest) > 0 && digest[0] == '!' {
		a.Confirm, digest = true, digest[1:]
	}
	raw, err := base64.RawURLEncoding.DecodeString(digest)
	if err != nil || len(raw) != len(a.Digest) {
		return a, errLog
	}
	a.Digest = Digest(raw)
	v, err := d.ReadValue()
	if err != nil {
		return a, err
	}
	switch {
	case v.Kind() == '{':
		a.Outcome, a.Value = Accepted, v.Clone()
	case string(v) == `"d"`:
		a.Outcome = Declined
	case string(v) == `"c"`:
		a.Outcome = Cancelled
	case v.Kind() != 'n':
		return a, errLog
	}
	return a, nil
}

func parseYields(d *jsontext.Decoder) (yields, at int, err error) {
	if err := expect(d, '['); err != nil {
		return 0, 0, err
	}
	if yields, err = count(d); err != nil {
		return 0, 0, err
	}
	if at, err = count(d); err != nil {
		return 0, 0, err
	}
	return yields, at, expect(d, ']')
}

// list calls item until the array that comes next in d ends.
func list(d *jsontext.Decoder, item func() error) error {
	if err := expect(d, '['); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		if err := item(); err != nil {
			return err
		}
	}
	return expect(d, ']')
}

// expect reads a token that has to be of this kind.
func expect(d *jsontext.Decoder, kind jsontext.Kind) error {
	if t, err := d.ReadToken(); err != nil || t.Kind() != kind {
		return errLog
	}
	return nil
}

// text reads a string.
func text(d *jsontext.Decoder) (string, error) {
	t, err := d.ReadToken()
	if err != nil || t.Kind() != '"' {
		return "", errLog
	}
	return t.String(), nil
}

// bytesOf reads a string of base64url.
func bytesOf(d *jsontext.Decoder) ([]byte, error) {
	s, err := text(d)
	if err != nil {
		return nil, err
	}
	return base64.RawURLEncoding.DecodeString(s)
}

// count reads a number from 0 to 2^31-1.
func count(d *jsontext.Decoder) (int, error) {
	t, err := d.ReadToken()
	if err != nil || t.Kind() != '0' {
		return 0, errLog
	}
	n, err := t.Uint()
	if err != nil || n > 1<<31-1 {
		return 0, errLog
	}
	return int(n), nil
}
