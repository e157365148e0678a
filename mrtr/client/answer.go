package client

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Accept returns the answer to a form, or with nil content to an address that
// the user agreed to open. content is a map or struct of the form's fields; one
// that is null is left out without its default.
func Accept(content any) (jsontext.Value, error) {
	r := protocol.ElicitResult{Action: protocol.ElicitAccept}
	if content != nil {
		var err error
		if r.Content, err = json.Marshal(content, json.Deterministic(true)); err != nil {
			return nil, fmt.Errorf("client: encoding the content: %w", err)
		}
	}
	return json.Marshal(r)
}

// Decline returns the answer of a user who says no.
func Decline() jsontext.Value { return jsontext.Value(`{"action":"decline"}`) }

// Cancel returns the answer of a user who closes the question.
func Cancel() jsontext.Value { return jsontext.Value(`{"action":"cancel"}`) }

// rawAnswer is an answer for the SDK to send as it is. The type inside makes it
// one in the SDK's eyes.
type rawAnswer struct {
	*mcp.ElicitResult
	raw jsontext.Value
}

// MarshalJSON returns the answer.
func (a rawAnswer) MarshalJSON() ([]byte, error) { return a.raw, nil }

// complete returns an answer as it is to be sent: with the form's defaults in
// it, without the content of what was not accepted.
func (q *Question) complete(answer jsontext.Value) (jsontext.Value, error) {
	refuse := func(problems ...string) (jsontext.Value, error) {
		return nil, &AnswerError{Key: q.Key, Method: q.Method, Problems: problems}
	}
	var members protocol.Object
	if answer.Kind() != '{' || json.Unmarshal(answer, &members) != nil {
		return refuse("it is not a JSON object")
	}
	switch q.Method {
	case protocol.MethodElicit:
		return q.completeElicitation(members, refuse)
	case protocol.MethodCreateMessage:
		for _, name := range [...]string{"role", "content", "model"} {
			if v := members[name]; v == nil || v.Kind() == 'n' {
				return refuse("/" + name + " is required")
			}
		}
		if json.Unmarshal(answer, new(protocol.CreateMessageResult)) != nil {
			return refuse("it is not a message of a model")
		}
	case protocol.MethodListRoots:
		if members["roots"].Kind() != '[' || json.Unmarshal(answer, new(protocol.ListRootsResult)) != nil {
			return refuse("/roots must be a list of roots")
		}
	default:
		return nil, q.refuse(ErrUnknownMethod, "")
	}
	answer = answer.Clone()
	return answer, answer.Compact()
}

func (q *Question) completeElicitation(members protocol.Object, refuse func(...string) (jsontext.Value, error)) (jsontext.Value, error) {
	var action protocol.ElicitAction
	_ = json.Unmarshal(members["action"], &action)
	switch action {
	case protocol.ElicitAccept:
	case protocol.ElicitDecline, protocol.ElicitCancel:
		return json.Marshal(protocol.ElicitResult{Action: action})
	default:
		return refuse("/action must be accept, decline or cancel")
	}
	e, err := q.elicitation()
	if err != nil {
		return nil, err
	}
	if e.Mode == protocol.ElicitURL {
		return json.Marshal(protocol.ElicitResult{Action: action})
	}
	form, err := q.form(e)
	if err != nil {
		return nil, err
	}
	var content protocol.Object
	if raw := members["content"]; raw != nil && json.Unmarshal(raw, &content) != nil {
		return refuse("/content must be an object")
	}
	content = form.Fill(content)
	if problems := form.Check(content); len(problems) > 0 {
		return refuse(problems...)
	}
	raw, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	return json.Marshal(protocol.ElicitResult{Action: action, Content: raw})
}
