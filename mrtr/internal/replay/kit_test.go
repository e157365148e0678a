package replay_test

import (
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
)

func digest(s string) replay.Digest {
	sum := sha256.Sum256([]byte(s))
	return replay.Digest(sum[:16])
}

// check takes {"action":"accept","content":{…}}, decline and cancel, and refuses
// a content that has the member "bad".
func check(answer jsontext.Value) (replay.Outcome, jsontext.Value, []string) {
	var a struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content"`
	}
	if answer.Kind() != '{' || json.Unmarshal(answer, &a) != nil {
		return replay.Unanswered, nil, []string{"must be an object"}
	}
	switch a.Action {
	case "decline":
		return replay.Declined, nil, nil
	case "cancel":
		return replay.Cancelled, nil, nil
	}
	if _, bad := a.Content["bad"]; bad || a.Action != "accept" {
		return replay.Unanswered, nil, []string{"is bad"}
	}
	b, err := json.Marshal(a.Content, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return replay.Accepted, b, nil
}

// form is a question whose text does not count.
func form(key string) replay.Question {
	return replay.Question{Key: key, Digest: digest("shape of " + key), Check: check, Ref: key}
}

func optional(key string) replay.Question {
	q := form(key)
	q.Optional = true
	return q
}

// confirm is a question whose text counts.
func confirm(key, text string) replay.Question {
	return replay.Question{Key: key, Digest: digest("text " + text), Confirm: true, Check: check, Ref: key}
}

func reshaped(key string) replay.Question {
	q := form(key)
	q.Digest = digest("another shape of " + key)
	return q
}

type answers = map[string]jsontext.Value

var (
	yes     = jsontext.Value(`{"action":"accept","content":{"n":1}}`)
	other   = jsontext.Value(`{"action":"accept","content":{"n":2}}`)
	bad     = jsontext.Value(`{"action":"accept","content":{"bad":true}}`)
	decline = jsontext.Value(`{"action":"decline","content":{"n":1}}`)
	cancel  = jsontext.Value(`{"action":"cancel"}`)
)

// handler is the code of a handler, reduced to its asks and steps.
type handler func(r *replay.Run) error

// ask passes one group and returns the errors of the run alone.
func ask(qs ...replay.Question) handler {
	return func(r *replay.Run) error {
		_, err := r.Ask(qs)
		return err
	}
}

func step(name, result string) handler {
	return func(r *replay.Run) error {
		_, err := r.Step(name, func() (jsontext.Value, error) { return jsontext.Value(result), nil })
		return err
	}
}

// then runs handlers in order until one fails.
func then(hs ...handler) handler {
	return func(r *replay.Run) error {
		for _, h := range hs {
			if err := h(r); err != nil {
				return err
			}
		}
		return nil
	}
}

// round runs h over the sealed log, nil for none, and returns the run, which
// has ended, with what overrides the handler's result.
func round(t testing.TB, sealed []byte, fresh answers, h handler) (*replay.Run, error) {
	t.Helper()
	var log replay.Log
	if sealed != nil {
		var err error
		log, err = replay.Parse(sealed)
		require.NoError(t, err)
	}
	r := replay.NewRun(log, sealed != nil, fresh)
	err := h(r)
	if end := r.End(err == nil); end != nil {
		err = end
	}
	return r, err
}

// seal returns the wire form of the log that a run has left.
func seal(t testing.TB, r *replay.Run) []byte {
	t.Helper()
	b, err := r.Log().Append(nil)
	require.NoError(t, err)
	return b
}

// pending runs a round that must end with questions, and returns the log and
// their keys.
func pending(t testing.TB, sealed []byte, fresh answers, h handler) ([]byte, []string) {
	t.Helper()
	r, err := round(t, sealed, fresh, h)
	require.ErrorIs(t, err, replay.ErrPending)
	return seal(t, r), keys(r.Pending())
}

func keys(qs []replay.Question) []string {
	out := []string{}
	for _, q := range qs {
		out = append(out, q.Ref.(string))
	}
	return out
}

var errStep = errors.New("the step's own error")
