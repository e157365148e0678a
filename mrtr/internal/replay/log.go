package replay

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Digest says what a question looked like when it was asked: 128 bits of a
// hash of its shape, or of all of it where its answer counts for nothing else.
type Digest [16]byte

// Log is the sealed history of a flow. The zero value is an empty one.
type Log struct {
	Entries []Entry
	Own     []byte   // a guard-style tool's own state; nil: none
	Asked   []string // keys of a guard-style tool's questions of the last round
	Yields  int      // yields so far
	YieldAt int      // entries there were at the last yield
	Home    string   // where single use of the flow is kept; empty: nowhere
}

// Entry is one await point: a group of questions, or a step. Only the last
// entry of a log may be open.
type Entry struct {
	Step   string         // name of a step; empty for a group
	Result jsontext.Value // what the step returned
	Open   bool           // the group still waits for answers
	Group  []Answered
}

// Answered is a question of a group, without its text, with the answer there
// is so far.
type Answered struct {
	Key     string
	Digest  Digest
	Confirm bool // the digest covers all of the question
	Outcome Outcome
	Value   jsontext.Value // an object with Accepted, otherwise nil
}

// Outcome is what became of a question.
type Outcome uint8

// The outcomes. Zero: not answered yet.
const (
	Unanswered Outcome = iota
	Accepted
	Declined
	Cancelled
)

// The wire form of a log is one JSON object: {"l":[entry…],"o":own,"g":[key…],
// "y":[yields,at],"h":home}, in this order, each member left out where it is empty, no
// white space but within values. A step is ["s",name,result]; a group is
// ["a",key,digest,answer,…] with three elements a question, or "o" in front
// while it is open. A digest is 22 characters of base64url, behind "!" where it
// covers all of the question. An answer is an object where accepted, "d" where
// declined, "c" where cancelled, null while there is none. Own is base64url
// without padding. Strings have no more escapes than JSON demands. There is one
// way to write a log.

// Append appends the log's wire form. Results and values must be valid JSON.
func (l *Log) Append(b []byte) ([]byte, error) {
	var err error
	start := len(b)
	member := func(name string) {
		if len(b) > start {
			b = append(b, ',')
		} else {
			b = append(b, '{')
		}
		b = append(append(append(b, '"'), name...), '"', ':')
	}
	if len(l.Entries) > 0 {
		member("l")
		for i := range l.Entries {
			b = append(b, separator(i))
			if b, err = l.Entries[i].append(b); err != nil {
				return nil, err
			}
		}
		b = append(b, ']')
	}
	if l.Own != nil {
		member("o")
		b = append(base64.RawURLEncoding.AppendEncode(append(b, '"'), l.Own), '"')
	}
	if len(l.Asked) > 0 {
		member("g")
		for i, key := range l.Asked {
			b = append(b, separator(i))
			if b, err = appendText(b, key); err != nil {
				return nil, err
			}
		}
		b = append(b, ']')
	}
	if l.Yields > 0 {
		member("y")
		b = fmt.Appendf(b, "[%d,%d]", l.Yields, l.YieldAt)
	}
	if l.Home != "" {
		member("h")
		if b, err = appendText(b, l.Home); err != nil {
			return nil, err
		}
	}
	if len(b) == start {
		b = append(b, '{')
	}
	return append(b, '}'), nil
}

// separator returns what comes in front of element i of an array.
func separator(i int) byte {
	if i == 0 {
		return '['
	}
	return ','
}

func (e *Entry) append(b []byte) ([]byte, error) {
	var err error
	if e.Step != "" {
		if b, err = appendText(append(b, `["s",`...), e.Step); err != nil {
			return nil, err
		}
		return append(append(append(b, ','), e.Result...), ']'), nil
	}
	if e.Open {
		b = append(b, `["o"`...)
	} else {
		b = append(b, `["a"`...)
	}
	for i := range e.Group {
		if b, err = e.Group[i].append(append(b, ',')); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func (a *Answered) append(b []byte) ([]byte, error) {
	b, err := appendText(b, a.Key)
	if err != nil {
		return nil, err
	}
	b = append(b, `,"`...)
	if a.Confirm {
		b = append(b, '!')
	}
	b = append(base64.RawURLEncoding.AppendEncode(b, a.Digest[:]), `",`...)
	switch a.Outcome {
	case Accepted:
		return append(b, a.Value...), nil
	case Declined:
		return append(b, `"d"`...), nil
	case Cancelled:
		return append(b, `"c"`...), nil
	}
	return append(b, "null"...), nil
}

// appendText appends a key or a step's name, which come from the author.
func appendText(b []byte, s string) ([]byte, error) {
	b, err := jsontext.AppendQuote(b, s)
	if err != nil {
		return nil, fmt.Errorf("replay: the key of a question or the name of a step is not UTF-8: %w", err)
	}
	return b, nil
}

// HasAsked reports whether a guard-style tool asked for key in the last round.
func (l *Log) HasAsked(key string) bool { return slices.Contains(l.Asked, key) }

// Size returns the bytes that the entry takes in the log.
func (e *Entry) Size() int {
	b, err := e.append(nil)
	if err != nil {
		return 0
	}
	return len(b)
}

// Name returns the step's name or the group's first key.
func (e *Entry) Name() string {
	if e.Step != "" || len(e.Group) == 0 {
		return e.Step
	}
	return e.Group[0].Key
}

// String describes the entry in words: what it is, and its name.
func (e *Entry) String() string {
	if e.Step != "" {
		return fmt.Sprintf("step %q", e.Step)
	}
	return fmt.Sprintf("question %q", e.Name())
}
