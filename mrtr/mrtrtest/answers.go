package mrtrtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Answers are what a user would answer, by question key. A form is answered
// with anything that encodes as its content (a struct or a map), sampling with
// the model's text, roots with a []string of URIs; Decline and Cancel refuse,
// Raw is sent as it is, and Sequence gives another answer each time.
type Answers map[string]any

type action string

// The two ways of not answering.
const (
	Decline action = "decline"
	Cancel  action = "cancel"
)

// Raw is a result that is sent as it is.
type Raw string

// Sequence answers a question that comes several times: one element each time,
// the last one from then on.
func Sequence(answers ...any) any { return &sequence{rest: answers} }

type sequence struct {
	rest  []any
	spent bool // the last one was given
}

func (a Answers) respond(asked protocol.InputRequests) (map[string]any, error) {
	out := make(map[string]any, len(asked))
	for _, q := range asked {
		answer, ok := a[q.Key]
		if !ok {
			return nil, fmt.Errorf("there is no answer for question %q (%s)", q.Key, q.Method)
		}
		if s, ok := answer.(*sequence); ok {
			answer = s.rest[0]
			if s.spent = len(s.rest) == 1; !s.spent {
				s.rest = s.rest[1:]
			}
		}
		response, err := respond(q, answer)
		if err != nil {
			return nil, err
		}
		if response != nil {
			out[q.Key] = response
		}
	}
	return out, nil
}

// unfit returns an error for an answer that the server could not use, where
// there is no other one left to give.
func (a Answers) unfit(invalid map[string][]string) error {
	for _, key := range slices.Sorted(maps.Keys(invalid)) {
		if s, ok := a[key].(*sequence); ok && !s.spent {
			continue
		}
		return fmt.Errorf("the answer to %q does not fit: %s", key, strings.Join(invalid[key], ", "))
	}
	return nil
}

// respond returns the result that answers q; nil leaves the question open.
func respond(q protocol.InputRequest, answer any) (any, error) {
	switch v := answer.(type) {
	case nil:
		return nil, nil
	case Raw:
		return jsontext.Value(v), nil
	case action:
		return map[string]any{"action": string(v)}, nil
	}
	switch q.Method {
	case protocol.MethodElicit:
		return map[string]any{"action": "accept", "content": answer}, nil
	case protocol.MethodCreateMessage:
		if text, ok := answer.(string); ok {
			return protocol.CreateMessageResult{Role: "assistant", Content: protocol.SamplingContent{protocol.Text(text)}, Model: "mrtrtest"}, nil
		}
		return answer, nil
	case protocol.MethodListRoots:
		if uris, ok := answer.([]string); ok {
			roots := make([]protocol.Root, len(uris))
			for i, u := range uris {
				roots[i].URI = u
			}
			return protocol.ListRootsResult{Roots: roots}, nil
		}
		return answer, nil
	}
	return nil, fmt.Errorf("question %q has the unknown method %q", q.Key, q.Method)
}
