package mrtrtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// observer notes handlers that go on after an ask said to return, and those that
// use their call in a way that the server reports to its log alone.
func (l *local) observer() mrtr.Observer {
	return func(ctx context.Context, info *mrtr.RoundInfo) (context.Context, func()) {
		return ctx, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.swallowed = l.swallowed || info.Swallowed
			l.cause = info.Err
			if info.Reason == "misuse" {
				l.misuse = info.Err
			}
		}
	}
}

var errSwallowed = errors.New("the handler returned a result although an ask had told it to return its error: what it did after that ask will run again")

// misused returns what the handler did wrong in the round that has just failed.
func (e *Endpoint) misused(call Call) error {
	if e.local == nil || call.NoReplay {
		return nil
	}
	e.local.mu.Lock()
	defer e.local.mu.Unlock()
	err := e.local.misuse
	e.local.misuse = nil
	return err
}

// cause returns what the server would log of the last request.
func (e *Endpoint) cause() error {
	if e.local == nil {
		return nil
	}
	e.local.mu.Lock()
	defer e.local.mu.Unlock()
	return e.local.cause
}

// replay runs the round that has just asked once more, from its own state and
// without answers. All that the handler has done is in the log, so it must come
// to the same questions; where it does not, something above the ask changes by
// itself.
func (e *Endpoint) replay(call Call, n int, asked Round) error {
	if e.local == nil || call.NoReplay {
		return nil
	}
	e.local.mu.Lock()
	swallowed, limit := e.local.swallowed, e.local.maxRounds
	e.local.swallowed = false
	e.local.mu.Unlock()
	switch {
	case swallowed:
		return errSwallowed
	case len(asked.Asked) == 0: // a yield: the next round does not stand where this one did
		return nil
	case n+1 >= limit:
		return nil
	}
	call.Edit = nil
	again, err := send(e, call, n+1, asked.State, nil)
	if err != nil {
		return err
	}
	var reply struct {
		Result protocol.InputRequiredResult `json:"result"`
		Error  jsontext.Value               `json:"error"`
	}
	if err := json.Unmarshal(again.Response, &reply); err != nil {
		return fmt.Errorf("replaying: %w", err)
	}
	if reply.Error != nil || reply.Result.ResultType != protocol.ResultInputRequired {
		return fmt.Errorf("replaying the round without answers did not ask again: %s", again.Response)
	}
	if len(reply.Result.InputRequests) != len(asked.Asked) {
		return fmt.Errorf("replaying the round asked %d questions, not %d: does something above the ask depend on time, randomness or the order of a map?", len(reply.Result.InputRequests), len(asked.Asked))
	}
	for i, q := range asked.Asked {
		other := reply.Result.InputRequests[i]
		if q.Key != other.Key {
			return fmt.Errorf("replaying the round asked %q in place of %q: does the key depend on time, randomness or the order of a map?", other.Key, q.Key)
		}
		if q.Method != other.Method || string(q.Params) != string(other.Params) {
			return fmt.Errorf("replaying the round changed question %q: does something above the ask depend on time, randomness or the order of a map?\nfirst: %s\nthen:  %s", q.Key, q.Params, other.Params)
		}
	}
	if len(reply.Result.RequestState) != len(asked.State) {
		return fmt.Errorf("replaying the round made another log: a state of %d bytes, not %d", len(reply.Result.RequestState), len(asked.State))
	}
	return nil
}
