package mrtr

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/schema"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Question is something to ask the client, with a place for its answer. Make
// one with Form, Confirmation, Sampling, Roots, URL or Optional.
type Question struct {
	key      string
	prepare  func(*handler) (prepared, error)
	known    bool // only for callers who are not anonymous, or a server that allows those
	optional bool
	answered *bool
}

// prepared is a question that is ready to be held against the log.
type prepared struct {
	method  string
	digest  replay.Digest
	confirm bool
	check   func(answer jsontext.Value) (replay.Outcome, jsontext.Value, []string)
	assign  func(value jsontext.Value) error
	params  func() (jsontext.Value, error) // made only when the question is sent
	lacks   func(protocol.ClientCapabilities, *protocol.ClientCapabilities)
}

// Ask asks the user to fill in a form made from the flat struct T and returns
// the answer. Where there is none yet, it returns an error for the handler to
// return: this round ends, and the handler runs again with the answer. A
// declined or cancelled form is an *OutcomeError.
func Ask[T any](c *Call, key, message string) (T, error) {
	var v T
	err := AskAll(c, Form(key, message, &v))
	return v, err
}

// AskAll asks several questions in one round. Answers land in the questions'
// destinations; until all are there it returns an error for the handler to
// return, as Ask does.
func AskAll(c *Call, qs ...Question) error {
	questions := make([]replay.Question, len(qs))
	for i, q := range qs {
		if q.known {
			if err := c.known(); err != nil {
				return err
			}
		}
		if q.prepare == nil {
			return c.run.Fail(fmt.Errorf("%w: a Question that no constructor made", replay.ErrMisuse))
		}
		p, err := q.prepare(c.handler)
		if err != nil {
			return c.run.Fail(fmt.Errorf("%w: question %q: %w", replay.ErrMisuse, q.key, err))
		}
		questions[i] = replay.Question{Key: q.key, Digest: p.digest, Confirm: p.confirm, Optional: q.optional, Check: p.check, Ref: p}
	}
	answers, err := c.run.Ask(questions)
	if err != nil {
		return err
	}
	var no error
	for i, a := range answers {
		q := &qs[i]
		if q.answered != nil {
			*q.answered = a.Outcome == replay.Accepted
		}
		switch a.Outcome {
		case replay.Accepted:
			if err := questions[i].Ref.(prepared).assign(a.Value); err != nil {
				return c.run.Fail(fmt.Errorf("%w: the logged answer to %q does not fit its type", replay.ErrDiverged, q.key))
			}
		case replay.Declined:
			if no == nil && !q.optional {
				no = &OutcomeError{Key: q.key, Err: ErrDeclined}
			}
		case replay.Cancelled:
			if no == nil && !q.optional {
				no = &OutcomeError{Key: q.key, Err: ErrCancelled}
			}
		}
	}
	return no
}

// Form is a form made from the flat struct T: strings, numbers, booleans and
// choices, described by the struct tag `form`. dst gets the answer.
func Form[T any](key, message string, dst *T) Question {
	return Question{key: key, prepare: func(h *handler) (prepared, error) {
		form, err := h.server.form(reflect.TypeFor[T]())
		if err != nil {
			return prepared{}, err
		}
		return prepared{
			method: protocol.MethodElicit,
			digest: form.digest,
			check: func(answer jsontext.Value) (replay.Outcome, jsontext.Value, []string) {
				outcome, content, wrong := elicited(answer)
				if outcome != replay.Accepted {
					return outcome, nil, wrong
				}
				for _, v := range form.Validate(content) {
					wrong = append(wrong, v.String())
				}
				if wrong != nil {
					return replay.Unanswered, nil, wrong
				}
				// What is logged is the form's own: members that it does not have
				// are not carried along.
				var probe T
				if unmarshal(content, &probe) != nil {
					return unusable("does not fit the form")
				}
				value, err := json.Marshal(&probe, json.Deterministic(true))
				if err != nil {
					return unusable("does not fit the form")
				}
				return replay.Accepted, value, nil
			},
			assign: func(value jsontext.Value) error { return unmarshal(value, dst) },
			params: func() (jsontext.Value, error) { return formParams(message, form.Raw()) },
			lacks:  lacksForm,
		}, nil
	}}
}

// form is a form that has been asked with, and the digest of such questions.
type form struct {
	*schema.Form
	digest replay.Digest
}

// form returns what the type's form looks like: hashed once a type, since a
// handler asks again in every round.
func (s *Server) form(t reflect.Type) (*form, error) {
	if known, ok := s.forms.Load(t); ok {
		return known.(*form), nil
	}
	f, err := s.schemas.Form(t)
	if err != nil {
		return nil, err
	}
	made := &form{f, digestOf("shape", protocol.MethodElicit, "form", string(f.Raw()))}
	s.forms.Store(t, made)
	return made, nil
}

// Sampling asks the client's model. dst gets its message.
func Sampling(key string, params protocol.CreateMessageParams, dst *protocol.CreateMessageResult) Question {
	return Question{key: key, prepare: func(*handler) (prepared, error) {
		return prepared{
			method: protocol.MethodCreateMessage,
			digest: digestOf("shape", protocol.MethodCreateMessage),
			check:  checkResult[protocol.CreateMessageResult]("role", "content", "model"),
			assign: func(value jsontext.Value) error { return unmarshal(value, dst) },
			params: func() (jsontext.Value, error) { return json.Marshal(params, json.Deterministic(true)) },
			lacks: func(have protocol.ClientCapabilities, missing *protocol.ClientCapabilities) {
				lacksSampling(have, missing, len(params.Tools) > 0 || params.ToolChoice != nil)
			},
		}, nil
	}}
}

// Roots asks for the client's roots. dst gets them.
func Roots(key string, dst *[]protocol.Root) Question {
	return Question{key: key, prepare: func(*handler) (prepared, error) {
		return prepared{
			method: protocol.MethodListRoots,
			digest: digestOf("shape", protocol.MethodListRoots),
			check:  checkResult[protocol.ListRootsResult]("roots"),
			assign: func(value jsontext.Value) error {
				var r protocol.ListRootsResult
				err := unmarshal(value, &r)
				*dst = r.Roots
				return err
			},
			params: func() (jsontext.Value, error) { return emptyObject, nil },
			lacks:  lacksRoots,
		}, nil
	}}
}

// elicited reads the answer to an elicitation. Content counts with accept only,
// and absent content is {}.
func elicited(answer jsontext.Value) (replay.Outcome, jsontext.Value, []string) {
	if answer.Kind() != '{' {
		return unusable("must be an object with an action")
	}
	var action string
	var content jsontext.Value
	_ = jsonrpc.Walk(answer, func(name []byte, v jsontext.Value) error {
		switch string(name) {
		case "action":
			action, _ = stringOf(v)
		case "content":
			content = v
		}
		return nil
	})
	switch protocol.ElicitAction(action) {
	case protocol.ElicitAccept:
		switch content.Kind() {
		case 0:
			return replay.Accepted, emptyObject, nil
		case '{':
			return replay.Accepted, content, nil
		}
		return unusable("content must be an object")
	case protocol.ElicitDecline:
		return replay.Declined, nil, nil
	case protocol.ElicitCancel:
		return replay.Cancelled, nil, nil
	}
	return unusable("action must be accept, decline or cancel")
}

// checkResult accepts an object that has the required members and decodes as T.
func checkResult[T any](required ...string) func(jsontext.Value) (replay.Outcome, jsontext.Value, []string) {
	return func(answer jsontext.Value) (replay.Outcome, jsontext.Value, []string) {
		var members map[string]jsontext.Value
		if answer.Kind() != '{' || unmarshal(answer, &members) != nil {
			return unusable("must be an object")
		}
		for _, name := range required {
			if v, ok := members[name]; !ok || v.Kind() == 'n' {
				return unusable(name + " is required")
			}
		}
		var probe T
		if unmarshal(answer, &probe) != nil {
			return unusable("does not have the form of a result")
		}
		return compact(answer)
	}
}

func compact(v jsontext.Value) (replay.Outcome, jsontext.Value, []string) {
	v = v.Clone()
	if v.Compact() != nil {
		return unusable("cannot be read")
	}
	return replay.Accepted, v, nil
}

func unusable(why string) (replay.Outcome, jsontext.Value, []string) {
	return replay.Unanswered, nil, []string{why}
}

func formParams(message string, schema jsontext.Value) (jsontext.Value, error) {
	b := make([]byte, 0, len(message)+len(message)/8+len(schema)+64)
	b, err := jsontext.AppendQuote(append(b, `{"mode":"form","message":`...), message)
	if err != nil {
		return nil, err
	}
	return append(append(append(b, `,"requestedSchema":`...), schema...), '}'), nil
}

// digestOf hashes strings injectively to the size of a log's digests.
func digestOf(parts ...string) replay.Digest {
	b := make([]byte, 0, 512)
	b = append(b, "mrtr question v1"...)
	for _, p := range parts {
		b = append(strconv.AppendInt(append(b, 0), int64(len(p)), 10), 0)
		b = append(b, p...)
	}
	sum := sha256.Sum256(b)
	return replay.Digest(sum[:16])
}

// The two ways in which a user does not answer, both as an *OutcomeError.
var (
	ErrDeclined  = errors.New("declined")  // the user said no
	ErrCancelled = errors.New("cancelled") // the user closed the question without a choice
)

// OutcomeError says that a question which the handler needs was not answered.
// A handler that returns it ends the call politely.
type OutcomeError struct {
	Key string // the question
	Err error  // ErrDeclined or ErrCancelled
}

// Error names the question and what became of it.
func (e *OutcomeError) Error() string { return fmt.Sprintf("%q was %v", e.Key, e.Err) }

// Unwrap returns ErrDeclined or ErrCancelled.
func (e *OutcomeError) Unwrap() error { return e.Err }
