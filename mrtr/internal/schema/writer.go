package schema

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// A writer writes a JSON object, members in the order of the calls.
type writer struct {
	b   []byte
	err error
}

// key starts a member.
func (w *writer) key(name string) {
	if n := len(w.b); n > 0 && w.b[n-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.quote(name)
	w.b = append(w.b, ':')
}

func (w *writer) quote(s string) {
	b, err := jsontext.AppendQuote(w.b, s)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("schema: %q is not valid UTF-8", s)
	}
	w.b = b
}

func (w *writer) open(bracket byte)  { w.b = append(w.b, bracket) }
func (w *writer) close(bracket byte) { w.b = append(w.b, bracket) }

// text writes a member that is a string, unless it is empty.
func (w *writer) text(name, s string) {
	if s != "" {
		w.key(name)
		w.quote(s)
	}
}

// literal writes a member whose value is JSON already, unless it is empty.
func (w *writer) literal(name, json string) {
	if json != "" {
		w.key(name)
		w.b = append(w.b, json...)
	}
}

// texts writes a member that is a list of strings, unless it is empty.
func (w *writer) texts(name string, list []string) {
	if len(list) == 0 {
		return
	}
	w.key(name)
	w.open('[')
	for i, s := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.quote(s)
	}
	w.close(']')
}
