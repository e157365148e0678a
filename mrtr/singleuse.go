package mrtr

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// SingleUseStore remembers which flows have been used up, for Call.SingleUse.
// Implementations are safe for concurrent use.
type SingleUseStore interface {
	// Claim records that a flow (32 hex digits) goes on with these answers and
	// what was made of them in earlier rounds, a digest, and keeps that until the time given. It succeeds again for the
	// same digest, and returns an error that wraps ErrClaimed for another one.
	// It is atomic.
	Claim(ctx context.Context, flow string, answers [32]byte, until time.Time) error

	// Home names what this store sees all claims of, such as a region and a
	// table. A flow that began under another home is refused.
	Home() string
}

// ErrClaimed is wrapped by the error of a Claim for a flow that has been
// claimed with other answers.
var ErrClaimed = errors.New("mrtr: the flow has been used with other answers")

// SingleUse lets a flow pass this point with one set of answers only, and one of
// what the steps of earlier rounds made of them. Without
// it a client can go back to an earlier round's state, answer otherwise, and
// have what follows happen twice. Call it after the last ask and before the
// first effect, once. A retry of a lost reply has the same answers and passes; a
// fork does not, and its call ends.
//
// It needs HandlerOptions.SingleUse, a flow of at least two rounds and a caller
// who is not anonymous, unless the server allows those. It does not reach
// across stores: a flow that began under another store is refused.
func (c *Call) SingleUse(ctx context.Context) error {
	store := c.handler.opts.SingleUse
	switch {
	case store == nil:
		return c.run.Fail(errors.New("SingleUse without a store: set HandlerOptions.SingleUse"))
	case !c.run.Signed():
		return c.run.Fail(errors.New("SingleUse in a flow's first round: ask something first"))
	}
	if err := c.known(); err != nil {
		return err
	}
	if c.run.Log().Home != store.Home() {
		return c.run.Fail(Errorf("This call was begun elsewhere and cannot be finished here. Start it again."))
	}
	answers, err := c.run.Passed()
	if err != nil {
		return err
	}
	if answers, err = c.appendGuardAnswers(answers); err != nil {
		return c.run.Fail(err)
	}
	switch err := store.Claim(ctx, flowIDString(c.claims.FlowID), sha256.Sum256(answers), c.claims.FlowDeadline); {
	case errors.Is(err, ErrClaimed):
		return c.run.Fail(&PublicError{text: "This call has been continued already, with other answers. Start it again.", cause: ErrClaimed})
	case err != nil:
		return c.run.Fail(fmt.Errorf("claiming the flow: %w", err))
	}
	return nil
}

// appendGuardAnswers appends what a guard-style handler goes by: the state that
// it kept, and the answers to the questions of the round before.
func (c *Call) appendGuardAnswers(b []byte) ([]byte, error) {
	log := c.run.Log()
	if log.Own == nil && log.Asked == nil {
		return b, nil
	}
	b = fmt.Appendf(b, "\x00%d\x00%s", len(log.Own), log.Own)
	for _, key := range log.Asked {
		var answer requeststate.Digest
		if raw, ok := c.answers[key]; ok {
			var err error
			if answer, err = requeststate.ArgumentsDigest(raw); err != nil {
				return nil, err
			}
		}
		b = append(b, answer[:]...)
	}
	return b, nil
}

// MemoryStore is a SingleUseStore of one process: for tests and local runs. The
// zero value is ready.
type MemoryStore struct {
	mu     sync.Mutex
	claims map[string]memoryClaim
	sweep  time.Time // when expired claims are dropped next
}

type memoryClaim struct {
	answers [32]byte
	until   time.Time
}

var _ SingleUseStore = (*MemoryStore)(nil)

// Claim implements SingleUseStore.
func (m *MemoryStore) Claim(_ context.Context, flow string, answers [32]byte, until time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if now.After(m.sweep) {
		for f, c := range m.claims {
			if now.After(c.until) {
				delete(m.claims, f)
			}
		}
		m.sweep = now.Add(time.Minute)
	}
	if c, ok := m.claims[flow]; ok {
		if c.answers != answers {
			return ErrClaimed
		}
		return nil
	}
	if m.claims == nil {
		m.claims = make(map[string]memoryClaim)
	}
	m.claims[flow] = memoryClaim{answers, until}
	return nil
}

// Home implements SingleUseStore.
func (m *MemoryStore) Home() string { return "memory" }
