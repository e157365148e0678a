package mrtr

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// Completer suggests values for an argument, best first, given what was typed
// so far and the arguments that have their values already. It may return any
// number; a client gets the first 100.
type Completer func(ctx context.Context, typed string, others map[string]string) ([]string, error)

const maxCompletions = 100

// complete answers a completion/complete.
func (h *handler) complete(ctx context.Context, r *request) (jsontext.Value, error) {
	var p struct {
		Ref      protocol.CompletionReference `json:"ref"`
		Argument struct {
			Name  jsontext.Value `json:"name"`
			Value jsontext.Value `json:"value"`
		} `json:"argument"`
		Context struct {
			Arguments jsontext.Value `json:"arguments"`
		} `json:"context"`
	}
	bad := unmarshal(r.Params, &p) != nil
	name, nameOK := stringOf(p.Argument.Name)
	typed, typedOK := stringOf(p.Argument.Value)
	var others map[string]string
	if p.Context.Arguments != nil {
		var ok bool
		others, ok = stringMembers(p.Context.Arguments)
		bad = bad || !ok
	}
	if bad || !nameOK || !typedOK {
		return nil, invalidParams("ref, argument or context is not of the right form")
	}
	var t *target
	switch p.Ref.Type {
	case protocol.RefPrompt:
		t = h.targets[targetKey{requeststate.PurposePrompt, p.Ref.Name}]
	case protocol.RefResource:
		if t = h.targets[targetKey{requeststate.PurposeResource, p.Ref.URI}]; t == nil {
			t, _ = h.resource(p.Ref.URI)
		}
	}
	if t == nil {
		return nil, invalidParams("ref names no prompt or resource of this server")
	}
	r.info.Target = t.name
	if !t.arguments[name] {
		return nil, invalidParams("argument names none that the ref has")
	}
	res := protocol.CompleteResult{ResultType: r.resultType(), Completion: protocol.Completion{Values: []string{}}}
	if complete := t.completers[name]; complete != nil {
		values, err := bounded(ctx, t.name, func() {}, func() ([]string, error) { return complete(ctx, typed, others) })
		if err != nil {
			return nil, err
		}
		total, more := len(values), len(values) > maxCompletions
		res.Completion.Values = append(res.Completion.Values, values[:min(total, maxCompletions)]...)
		res.Completion.Total, res.Completion.HasMore = &total, &more
	}
	return r.encodeResult(res, nil)
}
