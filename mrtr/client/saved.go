package client

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// savedVersion is the form in which flows are written.
const savedVersion = 1

// saved is a flow on disk.
type saved struct {
	Version     int                       `json:"version"`
	Method      string                    `json:"method"`
	Target      string                    `json:"target"`
	Arguments   jsontext.Value            `json:"arguments,omitzero"`
	Rounds      int                       `json:"rounds,omitzero"`
	Restarts    int                       `json:"restarts,omitzero"`
	Pauses      int                       `json:"pauses,omitzero"`
	State       string                    `json:"state,omitzero"`
	Asked       []Question                `json:"asked,omitzero"`
	Answers     map[string]jsontext.Value `json:"answers,omitempty"`
	Given       []past                    `json:"given,omitzero"`
	Reusable    []past                    `json:"reusable,omitzero"`
	Traceparent string                    `json:"traceparent,omitzero"`
	Result      jsontext.Value            `json:"result,omitzero"`
	Task        *Task                     `json:"task,omitzero"`
}

// MarshalJSON writes the flow with its arguments, answers and state.
func (f *Flow) MarshalJSON() ([]byte, error) {
	return json.Marshal(saved{
		savedVersion, f.method, f.target, f.arguments, f.rounds, f.restarts, f.pauses, f.state,
		f.asked, f.answers, f.given, f.reusable, f.traceparent, f.result, f.task,
	}, json.Deterministic(true))
}

// UnmarshalJSON reads a flow that MarshalJSON wrote.
func (f *Flow) UnmarshalJSON(b []byte) error {
	var s saved
	if json.Unmarshal(b, &s) != nil {
		return errors.New("client: the saved flow cannot be read")
	}
	if s.Version != savedVersion {
		return fmt.Errorf("client: the saved flow has version %d, not %d", s.Version, savedVersion)
	}
	switch s.Method {
	case protocol.MethodCallTool, protocol.MethodGetPrompt:
		if s.Arguments.Kind() != '{' {
			return errors.New("client: the saved flow has no arguments")
		}
	case protocol.MethodReadResource:
	default:
		return fmt.Errorf("client: the saved flow has the unknown method %q", s.Method)
	}
	if s.Rounds < 0 || s.Restarts < 0 || s.Pauses < 0 {
		return errors.New("client: the saved flow has a negative count")
	}
	if s.Answers == nil {
		s.Answers = map[string]jsontext.Value{}
	}
	*f = Flow{
		s.Method, s.Target, s.Arguments, s.Rounds, s.Restarts, s.Pauses, s.State,
		s.Asked, s.Answers, s.Given, s.Reusable, s.Traceparent, s.Result, s.Task,
	}
	return nil
}
