package mrtr

import (
	"fmt"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// confirmSchema is the form of a confirmation: one box that must be ticked or
// left.
const confirmSchema = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`

// Confirm asks the user to agree to message, all of it: an answer counts only
// for the very text that was shown, and only once it was shown. It returns nil
// for a yes. Every no (an unticked box, a decline, a cancel) is an
// *OutcomeError; ErrDeclined is under it for the first two. Anonymous callers
// are refused unless the server allows them.
//
// Effects belong after a Confirm, and whatever decides about them into its
// text.
func Confirm(c *Call, key, message string) error { return AskAll(c, Confirmation(key, message)) }

// Confirmation is the question of a Confirm, to be asked beside others. It
// counts as answered with a yes alone.
func Confirmation(key, message string) Question {
	return Question{key: key, known: true, prepare: func(*handler) (prepared, error) {
		return prepared{
			method:  protocol.MethodElicit,
			digest:  digestOf("full", protocol.MethodElicit, protocol.ElicitForm, confirmSchema, message),
			confirm: true,
			check: func(answer jsontext.Value) (replay.Outcome, jsontext.Value, []string) {
				outcome, content, wrong := elicited(answer)
				if outcome != replay.Accepted {
					return outcome, nil, wrong
				}
				switch ok := at(content, []string{"ok"}); string(ok) {
				case "true":
					return replay.Accepted, emptyObject, nil
				case "false":
					return replay.Declined, nil, nil
				case "":
					return unusable("/ok is required")
				}
				return unusable("/ok must be true or false")
			},
			assign: func(jsontext.Value) error { return nil },
			params: func() (jsontext.Value, error) { return formParams(message, jsontext.Value(confirmSchema)) },
			lacks:  lacksForm,
		}, nil
	}}
}

// URL asks the user to open an https address in a browser, for what must not
// pass through the client: signing in, paying, secrets. An accept says that the
// user agreed to open it, not that anything was done there: the tool checks,
// and asks again under another key where it was not. The address must not hold
// personal data or credentials. Anonymous callers are refused unless the server
// allows them.
func URL(key, message, address string) Question {
	return Question{key: key, known: true, prepare: func(*handler) (prepared, error) {
		if u, err := url.Parse(address); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return prepared{}, fmt.Errorf("a URL question takes an https address without credentials")
		}
		return prepared{
			method: protocol.MethodElicit,
			digest: digestOf("shape", protocol.MethodElicit, protocol.ElicitURL),
			check: func(answer jsontext.Value) (replay.Outcome, jsontext.Value, []string) {
				outcome, _, wrong := elicited(answer)
				if outcome == replay.Accepted {
					return outcome, emptyObject, nil
				}
				return outcome, nil, wrong
			},
			assign: func(jsontext.Value) error { return nil },
			params: func() (jsontext.Value, error) {
				return mustJSON(&protocol.ElicitURLParams{Message: message, URL: address}), nil
			},
			lacks: lacksURL,
		}, nil
	}}
}

// Optional makes a question one that may be refused: a decline or cancel leaves
// the group going, and answered says whether there was an answer.
func Optional(q Question, answered *bool) Question {
	q.optional, q.answered = true, answered
	return q
}

// known returns an error for an anonymous caller that the server does not allow
// to do what binds a person.
func (c *Call) known() error {
	if c.claims.Principal != nil || c.handler.opts.AllowAnonymous {
		return nil
	}
	return c.run.Fail(Errorf("This tool needs a caller who is signed in."))
}
