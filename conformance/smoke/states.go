package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// begun returns the state of a greeting's first round, and the time by which it
// had been issued.
func (e *endpoint) begun(ctx context.Context) (string, time.Time, error) {
	got, _, err := e.rpc(ctx, call{method: protocol.MethodCallTool, tool: greeting.tool, arguments: greeting.arguments, kind: kindRound1})
	switch {
	case err != nil:
		return "", time.Time{}, err
	case got.RequestState == "":
		return "", time.Time{}, errors.New("the first round has no state")
	}
	return got.RequestState, time.Now(), nil
}

// continued is the greeting's second round with a state.
func continued(state string) call {
	return call{method: protocol.MethodCallTool, tool: greeting.tool, arguments: greeting.arguments, answers: greeting.rounds[0], state: state}
}

// refusedAs returns the error that a state was refused with, or why it is no
// such refusal.
func (e *endpoint) refusedAs(ctx context.Context, c call) ([]byte, error) {
	_, _, err := e.rpc(ctx, c)
	var refused *refusal
	var data struct {
		Restart bool `json:"restart"`
	}
	switch {
	case err == nil:
		return nil, errors.New("accepted")
	case !errors.As(err, &refused):
		return nil, err
	case refused.status != http.StatusBadRequest || refused.rpc == nil || refused.rpc.Code != -32602:
		return nil, fmt.Errorf("%w, want HTTP 400 and -32602", err)
	case json.Unmarshal(refused.rpc.Data, &data) != nil || !data.Restart:
		return nil, fmt.Errorf("%w without data.restart", err)
	}
	return append([]byte(refused.rpc.Message+"\x00"), refused.rpc.Data...), nil
}

// checkStates presents one state in ways in which no honest client does. All
// must be refused alike, and the state itself must still be good then.
func checkStates(ctx context.Context, r *report, e *endpoint, tools offered) {
	const check = "state: still good after all this"
	if !tools[greeting.tool] {
		r.skip("states", "%s is not offered", greeting.tool)
		return
	}
	state, _, err := e.begun(ctx)
	raw, bad := base64.RawURLEncoding.DecodeString(state)
	if err == nil && (bad != nil || len(raw) < 62) {
		err = errors.New("the state is not of the form that SPEC.md gives")
	}
	if err != nil {
		r.fail(check, "%v", err)
		return
	}
	swapped, elsewhere, stolen := continued(state), continued(state), continued(state)
	swapped.arguments = map[string]any{"city": "Graz"}
	elsewhere.tool = sameQuestion
	stolen.whose = another
	var first []byte
	for _, t := range []struct {
		check string
		call  call
		skip  string
	}{
		{"state: last byte changed", continued(changed(raw, len(raw)-1, 0x01)), ""},
		{"state: purpose changed", continued(changed(raw, 1, 0x03)), ""},
		{"state: spelt another way", continued(state + "="), ""},
		{"state: other arguments", swapped, ""},
		{"state: another tool", elsewhere, unless(tools[sameQuestion], sameQuestion+" is not offered")},
		{"state: another person", stolen, unless(e.otherToken != "", "no OTHER_TOKEN")},
	} {
		if t.skip != "" {
			r.skip(t.check, "%s", t.skip)
			continue
		}
		got, err := e.refusedAs(ctx, t.call)
		if err == nil && first != nil && !bytes.Equal(first, got) {
			err = errors.New("refused in other words than the state before: a client can tell why")
		}
		if r.judge(err, t.check, "refused") && first == nil {
			first = got
		}
	}
	got, _, err := e.rpc(ctx, continued(state))
	if err == nil && got.text() != greeting.want {
		err = errors.New("another result than the answers make")
	}
	r.judge(err, check, "accepted")
}

func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}

// changed returns a state with some bits of one byte flipped.
func changed(raw []byte, at int, bits byte) string {
	raw = bytes.Clone(raw)
	raw[at] ^= bits
	return base64.RawURLEncoding.EncodeToString(raw)
}

// expiring is a state that is presented when it has expired.
type expiring struct {
	state  string
	issued time.Time
	err    error
	skip   string // why there is none
}

// checkExpiryBegin gets a state early, so that it grows old beside the other
// checks.
func checkExpiryBegin(ctx context.Context, e *endpoint, tools offered) expiring {
	switch {
	case !tools[greeting.tool]:
		return expiring{skip: greeting.tool + " is not offered"}
	case e.roundTTL == 0:
		return expiring{skip: "no ROUND_TTL"}
	case e.roundTTL > maxRoundTTL:
		return expiring{skip: fmt.Sprintf("a ROUND_TTL of %v is more than this run waits for", e.roundTTL)}
	}
	state, issued, err := e.begun(ctx)
	return expiring{state: state, issued: issued, err: err}
}

// checkExpiry waits until the state has expired and presents it.
func checkExpiry(ctx context.Context, r *report, e *endpoint, x expiring) {
	const check = "state: expired"
	if x.skip != "" {
		r.skip(check, "%s", x.skip)
		return
	}
	// Instances' clocks may differ a little; times in a state are whole seconds.
	const slack = 2 * time.Second
	err := x.err
	if err == nil {
		err = e.wait(ctx, time.Until(x.issued.Add(e.roundTTL+slack)))
	}
	if err == nil {
		_, err = e.refusedAs(ctx, continued(x.state))
	}
	r.judge(err, check, "refused after %v", e.roundTTL)
}
