package mrtr

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// Inspection is what a token says, for the eyes of an operator. It holds what
// users answered and what steps returned.
type Inspection struct {
	Header requeststate.Header
	Size   int // bytes of the token once decoded
	Claims requeststate.Claims

	Log    []InspectedEntry // what the flow has been through, in order
	Own    []byte           // a guard-style tool's own state; nil: none
	Asked  []string         // keys that a guard-style tool asked for in the last round
	Yields int              // how often the flow has yielded

	Session *InspectedSession // of a session id, which has no log; nil: a flow's state
}

// InspectedEntry is one point at which a handler waited: a step, or a group of
// questions.
type InspectedEntry struct {
	Step      string              // a step's name; empty: a group
	Result    jsontext.Value      // what the step returned
	Open      bool                // the group waits for answers
	Questions []InspectedQuestion // of a group
}

// InspectedQuestion is a question of a group. What it said is not in a token.
type InspectedQuestion struct {
	Key     string
	Confirm bool           // a confirmation
	Outcome string         // accepted, declined, cancelled; empty: not answered yet
	Answer  jsontext.Value // what was accepted, a JSON object; else nil
}

// InspectedSession is what a handshake client said when it connected.
type InspectedSession struct {
	Version      string   // protocol revision
	Capabilities []string // such as elicitation.form
}

// Inspect reads a token with the keys that it was sealed under: the state of a
// flow, or a handshake client's session id. It asks neither whose token it is
// nor whether it has expired, so what it returns is good for looking at and for
// nothing else: see requeststate.Inspect, whose errors it returns.
func Inspect(ctx context.Context, keys requeststate.Keys, token string) (*Inspection, error) {
	header, size, err := requeststate.ParseHeader(token)
	if err != nil {
		return nil, err
	}
	_, claims, body, err := requeststate.Inspect(ctx, keys, token)
	if err != nil {
		return nil, err
	}
	i := &Inspection{Header: header, Size: size, Claims: claims}
	if header.Purpose == requeststate.PurposeSession {
		i.Session, err = inspectSession(body)
		return i, err
	}
	log, err := replay.Parse(body)
	if err != nil {
		return nil, fmt.Errorf("mrtr: reading the log of a state: %w", err)
	}
	i.Own, i.Asked, i.Yields = log.Own, log.Asked, log.Yields
	for _, e := range log.Entries {
		entry := InspectedEntry{Step: e.Step, Result: e.Result, Open: e.Open}
		for _, a := range e.Group {
			entry.Questions = append(entry.Questions, InspectedQuestion{
				Key: a.Key, Confirm: a.Confirm, Outcome: outcomeName(a.Outcome), Answer: a.Value,
			})
		}
		i.Log = append(i.Log, entry)
	}
	return i, nil
}

func outcomeName(o replay.Outcome) string {
	switch o {
	case replay.Accepted:
		return "accepted"
	case replay.Declined:
		return "declined"
	case replay.Cancelled:
		return "cancelled"
	}
	return ""
}

func inspectSession(body []byte) (*InspectedSession, error) {
	if len(body) != 2 || int(body[0]) >= len(sessionVersions) {
		return nil, &requeststate.RefusedError{Reason: requeststate.ReasonClaims}
	}
	s := &InspectedSession{Version: sessionVersions[body[0]]}
	for _, b := range [...]struct {
		bit  byte
		name string
	}{
		{sessionForm, "elicitation.form"},
		{sessionURL, "elicitation.url"},
		{sessionSampling, "sampling"},
		{sessionSamplingTools, "sampling.tools"},
		{sessionRoots, "roots"},
	} {
		if body[1]&b.bit != 0 {
			s.Capabilities = append(s.Capabilities, b.name)
		}
	}
	return s, nil
}
