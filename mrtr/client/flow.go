package client

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Flow is one call over all its rounds, taken in steps: Step sends a round,
// Questions says what the server then asks, Answer answers it, until Done. It
// can be written as JSON between two steps and read in another process; what is
// written holds the arguments, the answers and the state, so keep it as you
// would keep those. Only the server that was asked first can go on with it.
//
// A Flow is not safe for concurrent use; any number of flows can share a
// session. Make one with NewToolCall, NewPromptGet or NewResourceRead.
type Flow struct {
	method    string
	target    string         // name or URI
	arguments jsontext.Value // an object; nil for a resource

	rounds   int // responses so far
	restarts int
	pauses   int // retries without a question, in a row
	state    string
	asked    []Question                // by key
	answers  map[string]jsontext.Value // to asked

	// given are the questions that were answered since the flow last began, and
	// reusable those from before.
	given, reusable []past

	traceparent string // of round 1; empty: none
	result      jsontext.Value
	task        *Task
}

// past is a question with its answer.
type past struct {
	Question Question       `json:"question"`
	Answer   jsontext.Value `json:"answer"`
}

// is reports whether the user saw q, word for word.
func (p *past) is(q *Question) bool {
	return p.Question.Key == q.Key && p.Question.Method == q.Method && string(p.Question.Params) == string(q.Params)
}

// NewToolCall returns the call of a tool. args is what encodes as a JSON
// object; nil is none. It is encoded here, once for all rounds.
func NewToolCall(name string, args any) (*Flow, error) {
	raw := jsontext.Value("{}")
	if args != nil {
		var err error
		if raw, err = json.Marshal(args, json.Deterministic(true)); err != nil {
			return nil, fmt.Errorf("client: encoding the arguments: %w", err)
		}
	}
	if raw.Kind() != '{' {
		return nil, fmt.Errorf("client: the arguments are not a JSON object")
	}
	return &Flow{method: protocol.MethodCallTool, target: name, arguments: raw}, nil
}

// NewPromptGet returns the request of a prompt.
func NewPromptGet(name string, args map[string]string) (*Flow, error) {
	if args == nil {
		args = map[string]string{}
	}
	raw, err := json.Marshal(args, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("client: encoding the arguments: %w", err)
	}
	return &Flow{method: protocol.MethodGetPrompt, target: name, arguments: raw}, nil
}

// NewResourceRead returns the reading of a resource.
func NewResourceRead(uri string) *Flow {
	return &Flow{method: protocol.MethodReadResource, target: uri}
}

// Done reports whether the flow has ended, with a result or a task.
func (f *Flow) Done() bool { return f.result != nil }

// Rounds returns how many responses have come.
func (f *Flow) Rounds() int { return f.rounds }

// Restarts returns how often the flow began again.
func (f *Flow) Restarts() int { return f.restarts }

// Questions returns what is asked and has no answer yet, sorted by key. There
// may be none in a flow that is not done: Step goes on.
func (f *Flow) Questions() []Question {
	var open []Question
	for _, q := range f.asked {
		if f.answers[q.Key] == nil {
			open = append(open, q)
		}
	}
	return open
}

// Answer answers a question: a JSON object as an [InputHandler] returns it. The
// defaults of a form are filled in. An answer that does not fit is an
// [*AnswerError] and leaves the question open; a second answer replaces the
// first.
func (f *Flow) Answer(key string, answer jsontext.Value) error {
	for i := range f.asked {
		if q := &f.asked[i]; q.Key == key {
			complete, err := q.complete(answer)
			if err == nil {
				f.answers[key] = complete
			}
			return err
		}
	}
	return &AnswerError{Key: key, Problems: []string{"no such question is asked"}}
}

// Run goes on until the flow is done, or an error: it hands each open question
// to the handler, one at a time in the order of their keys, and sends the
// rounds. After an error the flow is as it was before the round that failed.
func (f *Flow) Run(ctx context.Context, session *mcp.ClientSession, handler InputHandler, opts *Options) error {
	for !f.Done() {
		if err := f.bounded(opts); err != nil {
			return err
		}
		for _, q := range f.Questions() {
			if handler == nil {
				return q.refuse(ErrNoHandler, "")
			}
			answer, err := handler(ctx, q)
			if err != nil {
				return fmt.Errorf("client: answering %q: %w", q.Key, err)
			}
			if err := f.Answer(q.Key, answer); err != nil {
				return err
			}
		}
		if err := f.Step(ctx, session, opts); err != nil {
			return err
		}
	}
	return nil
}

func (f *Flow) bounded(opts *Options) error {
	if n := opts.maxRounds(); f.rounds >= n {
		return &RoundsError{Rounds: n}
	}
	return nil
}

// restart begins again. What was answered so far can be used for the questions
// that come word for word.
func (f *Flow) restart() {
	f.restarts++
	f.reusable = append(f.given, f.reusable...)
	f.given, f.asked, f.answers, f.state, f.pauses = nil, nil, nil, "", 0
}

// remember notes the answers that were sent.
func (f *Flow) remember() {
	for _, q := range f.asked {
		p := past{q, f.answers[q.Key]}
		kept := f.given[:0]
		for _, g := range f.given {
			if !g.is(&q) {
				kept = append(kept, g)
			}
		}
		f.given = append(kept, p)
	}
}

// reuse answers open questions from before a fresh start, each answer once: not
// a consent, not one that the user gave up, not one that the server refused.
func (f *Flow) reuse() {
	for i := range f.asked {
		q := &f.asked[i]
		for j := range f.reusable {
			p := &f.reusable[j]
			if !p.is(q) {
				continue
			}
			if q.Invalid == nil && !q.isConsent() && string(p.Answer) != string(Cancel()) {
				f.answers[q.Key] = p.Answer
			}
			f.reusable = append(f.reusable[:j], f.reusable[j+1:]...)
			break
		}
	}
}
