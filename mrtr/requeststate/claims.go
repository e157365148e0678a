package requeststate

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// Digest is a SHA-256 value.
type Digest [sha256.Size]byte

// Claims are what every token says, whatever its body holds. All of it is
// encrypted.
type Claims struct {
	Audience     Digest     // AudienceDigest of the deployment's name
	Principal    *Digest    // PrincipalDigest of the caller; nil: there was none
	Method       string     // MCP method, at most 255 bytes
	Target       string     // tool, prompt or URI, at most 65,535 bytes
	Arguments    Digest     // ArgumentsDigest of the call's arguments
	Revision     string     // the target's revision, at most 255 bytes; may be empty
	FlowID       [16]byte   // random, one a flow; shown in logs
	FlowSecret   FlowSecret // random, one a flow; never shown
	Round        uint16     // the round that this token ends, from 1
	IssuedAt     time.Time  // whole seconds, as the other times
	RoundExpiry  time.Time  // the token is refused from here on
	FlowDeadline time.Time  // absolute; every round of a flow has the same
	Traceparent  string     // round 1's, at most 255 bytes; may be empty
}

// FlowSecret is what idempotency keys are made from. Package fmt does not show
// its bytes.
type FlowSecret [16]byte

// Format hides the flow secret.
func (FlowSecret) Format(f fmt.State, _ rune) { fmt.Fprint(f, "requeststate.FlowSecret(hidden)") }

// NewFlow fills in a fresh flow id and flow secret.
func (c *Claims) NewFlow() {
	rand.Read(c.FlowID[:]) // never fails: crypto/rand ends the process instead
	rand.Read(c.FlowSecret[:])
}

// AudienceDigest returns the digest that names a deployment in its tokens.
func AudienceDigest(audience string) Digest {
	return digestStrings("mrtr audience v1", audience)
}

// PrincipalDigest returns the digest that names a caller in tokens: who issued
// the identity, whose it is, and which client it was given to.
func PrincipalDigest(issuer, subject, client string) Digest {
	return digestStrings("mrtr principal v1", issuer, subject, client)
}

// digestStrings hashes a label and strings injectively: each is preceded by its
// length.
func digestStrings(label string, parts ...string) Digest {
	b := make([]byte, 0, 256)
	b = append(b, label...)
	b = append(b, 0)
	for _, p := range parts {
		b = binary.BigEndian.AppendUint64(b, uint64(len(p)))
		b = append(b, p...)
	}
	return sha256.Sum256(b)
}

// The fixed part of the claims:
//
//	audience 32 | has principal 1 | principal 32 | arguments 32 | flow id 16 |
//	flow secret 16 | round 2 | issued 4 | round expiry 4 | flow deadline 4
//
// then method, revision and traceparent, each behind one byte of length, and
// the target behind two. Whatever follows is the body.
const fixedClaims = 32 + 1 + 32 + 32 + 16 + 16 + 2 + 4 + 4 + 4

// size is the number of bytes that append appends.
func (c *Claims) size() int {
	return fixedClaims + 3 + 2 + len(c.Method) + len(c.Revision) + len(c.Traceparent) + len(c.Target)
}

func (c *Claims) append(b []byte) ([]byte, error) {
	if len(c.Method) > 255 || len(c.Revision) > 255 || len(c.Traceparent) > 255 || len(c.Target) > 65535 {
		return nil, fmt.Errorf("requeststate: a claim is too long: method %d, revision %d, traceparent %d, target %d bytes",
			len(c.Method), len(c.Revision), len(c.Traceparent), len(c.Target))
	}
	for _, t := range [...]time.Time{c.IssuedAt, c.RoundExpiry, c.FlowDeadline} {
		if s := t.Unix(); s < 0 || s > 1<<32-1 {
			return nil, fmt.Errorf("requeststate: a time is out of range: %s", t.UTC().Format(time.RFC3339))
		}
	}
	b = append(b, c.Audience[:]...)
	if c.Principal != nil {
		b = append(append(b, 1), c.Principal[:]...)
	} else {
		b = append(b, make([]byte, 1+len(Digest{}))...)
	}
	b = append(b, c.Arguments[:]...)
	b = append(b, c.FlowID[:]...)
	b = append(b, c.FlowSecret[:]...)
	b = binary.BigEndian.AppendUint16(b, c.Round)
	b = binary.BigEndian.AppendUint32(b, uint32(c.IssuedAt.Unix()))
	b = binary.BigEndian.AppendUint32(b, uint32(c.RoundExpiry.Unix()))
	b = binary.BigEndian.AppendUint32(b, uint32(c.FlowDeadline.Unix()))
	for _, s := range [...]string{c.Method, c.Revision, c.Traceparent} {
		b = append(append(b, byte(len(s))), s...)
	}
	b = binary.BigEndian.AppendUint16(b, uint16(len(c.Target)))
	return append(b, c.Target...), nil
}

// parse reads claims from the front of b and returns the rest. There is one
// way to write any claims. Where ok is false, c is left half filled.
func (c *Claims) parse(b []byte) (body []byte, ok bool) {
	if len(b) < fixedClaims {
		return nil, false
	}
	take := func(dst []byte) { b = b[copy(dst, b):] }
	take(c.Audience[:])
	has := b[0]
	b = b[1:]
	var p Digest
	take(p[:])
	switch {
	case has == 1:
		c.Principal = &p
	case has != 0 || p != (Digest{}):
		return nil, false
	}
	take(c.Arguments[:])
	take(c.FlowID[:])
	take(c.FlowSecret[:])
	c.Round = binary.BigEndian.Uint16(b)
	b = b[2:]
	for _, t := range [...]*time.Time{&c.IssuedAt, &c.RoundExpiry, &c.FlowDeadline} {
		*t = time.Unix(int64(binary.BigEndian.Uint32(b)), 0).UTC()
		b = b[4:]
	}
	for _, s := range [...]*string{&c.Method, &c.Revision, &c.Traceparent} {
		if len(b) < 1 || len(b) < 1+int(b[0]) {
			return nil, false
		}
		n := 1 + int(b[0])
		*s, b = string(b[1:n]), b[n:]
	}
	if len(b) < 2 {
		return nil, false
	}
	n := 2 + int(binary.BigEndian.Uint16(b))
	if len(b) < n {
		return nil, false
	}
	c.Target = string(b[2:n])
	return b[n:len(b):len(b)], true
}
