package client

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Options say how a flow is run. Nil means the zero value.
type Options struct {
	// MaxRounds bounds the requests of a flow, fresh starts included. Zero: 16.
	MaxRounds int
	// MaxRestarts is how often a flow begins again when the server refuses its
	// state with data.restart. Zero: once; negative: never.
	MaxRestarts int
	// Meta returns members for the _meta of a request: traceparent, tracestate
	// and baggage, a progress token. round counts from 1. The result is not
	// changed. Nil: none.
	Meta func(ctx context.Context, round int) map[string]any
	// ReservedTraceLink sends the trace link under MetaTraceLinkOther too.
	ReservedTraceLink bool
	// Sleep waits before a retry that the server asked for without a question.
	// It returns an error when ctx ends. Nil: a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// OnRound is told of each round after its response has come. Messages hold
	// states and answers. Nil: nobody is told.
	OnRound func(Exchange)
}

// Exchange is one round on the wire.
type Exchange struct {
	Round    int
	Request  jsontext.Value // the JSON-RPC request
	Response jsontext.Value // the JSON-RPC response; nil: none came that could be read
}

const (
	defaultMaxRounds   = 16
	defaultMaxRestarts = 1
)

func (o *Options) maxRounds() int {
	if o == nil || o.MaxRounds <= 0 {
		return defaultMaxRounds
	}
	return o.MaxRounds
}

func (o *Options) maxRestarts() int {
	switch {
	case o == nil || o.MaxRestarts == 0:
		return defaultMaxRestarts
	case o.MaxRestarts < 0:
		return 0
	}
	return o.MaxRestarts
}

// The pause before the nth retry without a question doubles from the first to
// the longest; a random half of it is taken away at most.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 10 * time.Second
)

func pauseFor(n int) time.Duration {
	d := longestPause
	if n < 7 {
		d = min(d, firstPause<<(n-1))
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return d/2 + time.Duration(binary.BigEndian.Uint64(b[:])%uint64(d/2+1))
}

func (o *Options) sleep(ctx context.Context, d time.Duration) error {
	if o != nil && o.Sleep != nil {
		return o.Sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
