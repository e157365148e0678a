package schema

import (
	"reflect"
	"sync"
)

// A Cache remembers the schemas and forms of Go types, and the errors of those
// that have none, for as long as it lives. Each is made once, at its first use.
// The zero value is ready; a Cache is safe for concurrent use and must not be
// copied.
type Cache struct {
	schemas memories[*Schema]
	forms   memories[*Form]
}

// Schema returns what [For] returns for t.
func (c *Cache) Schema(t reflect.Type) (*Schema, error) { return c.schemas.get(t, For) }

// Form returns what [FormFor] returns for t.
func (c *Cache) Form(t reflect.Type) (*Form, error) { return c.forms.get(t, FormFor) }

type memories[T any] struct{ entries sync.Map } // from reflect.Type to *memo[T]

type memo[T any] struct {
	once  sync.Once
	value T
	err   error
}

func (m *memories[T]) get(t reflect.Type, makeOne func(reflect.Type) (T, error)) (T, error) {
	got, ok := m.entries.Load(t)
	if !ok {
		got, _ = m.entries.LoadOrStore(t, &memo[T]{})
	}
	e := got.(*memo[T])
	e.once.Do(func() { e.value, e.err = makeOne(t) })
	return e.value, e.err
}
