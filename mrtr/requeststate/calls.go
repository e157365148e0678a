package requeststate

import (
	"context"
	"sync"
	"sync/atomic"
)

// Calls collects what one request asks of a key service: how many calls it
// made, and work that it began for later requests and must see through before
// its reply, since a process may be frozen right after it. Drivers find it in
// the context. It is safe for concurrent use; a nil *Calls counts nothing.
type Calls struct {
	n    atomic.Int64
	mu   sync.Mutex
	owed []<-chan struct{}
}

type callsKey struct{}

// WithCalls returns a context that carries a new Calls, for one request.
func WithCalls(ctx context.Context) (context.Context, *Calls) {
	c := new(Calls)
	return context.WithValue(ctx, callsKey{}, c), c
}

// CallsFrom returns the context's Calls; nil where it carries none.
func CallsFrom(ctx context.Context) *Calls {
	c, _ := ctx.Value(callsKey{}).(*Calls)
	return c
}

// Add counts one call to the key service. Drivers call it.
func (c *Calls) Add() {
	if c != nil {
		c.n.Add(1)
	}
}

// Count returns the number of calls so far. A call that several requests wait
// for counts for the one that started it.
func (c *Calls) Count() int {
	if c == nil {
		return 0
	}
	return int(c.n.Load())
}

// Owe makes Join wait until done is closed. Drivers call it.
func (c *Calls) Owe(done <-chan struct{}) {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.owed = append(c.owed, done)
	c.mu.Unlock()
}

// Join waits for everything owed so far, or until ctx ends. A server calls it
// just before it replies.
func (c *Calls) Join(ctx context.Context) {
	if c == nil {
		return
	}
	c.mu.Lock()
	owed := c.owed
	c.owed = nil
	c.mu.Unlock()
	for _, done := range owed {
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
}
