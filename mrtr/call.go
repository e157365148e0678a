package mrtr

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// Call is one round of a call as its handler sees it. It belongs to the
// goroutine that runs the handler and ends with it: later use, and use from two
// goroutines at once, is an error.
type Call struct {
	handler *handler
	request *request
	target  *target
	name    string // what the client named: the target, or the URI for a template
	run     *replay.Run
	args    jsontext.Value            // arguments; {} where there were none
	answers map[string]jsontext.Value // inputResponses, as they came
	claims  requeststate.Claims       // of the state that came, or of the flow that this round may begin
	guard   guard

	progress progress
}

// Capabilities returns what this request's client declared.
func (c *Call) Capabilities() protocol.ClientCapabilities { return c.request.caps }

// Round returns the number of this round, from 1.
func (c *Call) Round() int { return int(c.claims.Round) }

// ErrNoFlow is returned by IdempotencyKey in a flow's first round.
var ErrNoFlow = errors.New("mrtr: an idempotency key exists from the second round on: ask something first")

// IdempotencyKey returns a key for one effect of this flow, 64 hex digits. It
// is the same in every round and every retry of the flow, differs between
// flows, and cannot be computed from what logs show. In the first round, whose
// retry would begin another flow, it returns ErrNoFlow.
func (c *Call) IdempotencyKey(step string) (string, error) {
	if !c.run.Signed() {
		return "", ErrNoFlow
	}
	mac := hmac.New(sha256.New, c.claims.FlowSecret[:])
	mac.Write([]byte("mrtr idempotency v1\x00" + step))
	return hex.EncodeToString(mac.Sum(nil)), nil
}

// guard is what a guard-style handler has asked for.
type guard struct {
	requests protocol.InputRequests
	own      []byte
	asked    bool
}

// errInputRequired is what RequestInput returns and the handler passes on.
var errInputRequired = fmt.Errorf("mrtr: %w", replay.ErrPending)

// RequestInput ends the round with questions of the handler's own making, for
// handlers that are written as guards rather than with Ask: the handler returns
// the error that it gets. ownState comes back through RequestState in the next
// round; it is sealed, but counts towards the token's size. Asking what the
// client did not declare fails the request. A handler uses either this or Ask
// and Step, not both.
func (c *Call) RequestInput(requests protocol.InputRequests, ownState []byte) error {
	if len(requests) == 0 {
		return c.run.Fail(fmt.Errorf("%w: RequestInput without requests", replay.ErrMisuse))
	}
	seen := make(map[string]bool, len(requests))
	for _, r := range requests {
		if seen[r.Key] {
			return c.run.Fail(fmt.Errorf("%w: input request %q twice", replay.ErrMisuse, r.Key))
		}
		seen[r.Key] = true
	}
	if err := c.run.Guard(func() { c.guard = guard{requests: requests, own: ownState, asked: true} }); err != nil {
		return err
	}
	return errInputRequired
}

// InputResponse returns the client's answer to key as it came, not checked in
// any way. It reports false where there is none, or where the round before did
// not ask for key. In a first round every key counts.
func (c *Call) InputResponse(key string) (jsontext.Value, bool) {
	v, ok := c.answers[key]
	if !ok || c.run.Signed() && !c.run.Log().HasAsked(key) {
		return nil, false
	}
	return v, true
}

// HasInputResponses reports whether the client sent any answer that
// InputResponse would return.
func (c *Call) HasInputResponses() bool {
	for key := range c.answers {
		if _, ok := c.InputResponse(key); ok {
			return true
		}
	}
	return false
}

// RequestState returns the own state that the handler gave to RequestInput in
// the round before, nil in a first round. It is never the token itself.
func (c *Call) RequestState() []byte { return c.run.Log().Own }
