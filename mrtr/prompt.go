package mrtr

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// Prompt describes a prompt. Only Name is required.
type Prompt struct {
	Name        string
	Title       string
	Description string
	Arguments   []protocol.PromptArgument // values are strings
	Icons       []protocol.Icon
	Meta        protocol.Object

	// Complete suggests values, by argument name. Arguments without one have
	// no suggestions.
	Complete map[string]Completer

	Revision        string // as for Tool
	AcceptRevisions []string
	Needs           protocol.ClientCapabilities
}

// AddPrompt registers a prompt. The handler gets the arguments that came, the
// required ones among them, and may ask back as a tool does. A mistake in p
// panics, as does a second prompt of the same name.
func AddPrompt(s *Server, p Prompt, handle func(ctx context.Context, c *Call, args map[string]string) (*protocol.GetPromptResult, error)) {
	t, err := newPrompt(p)
	if err != nil {
		panic(fmt.Sprintf("mrtr: prompt %q: %v", p.Name, err))
	}
	t.run = func(ctx context.Context, c *Call, raw jsontext.Value) (reply, error) {
		args, err := promptArguments(p.Arguments, raw)
		if err != nil {
			return nil, err
		}
		res, err := handle(ctx, c, args)
		if err == nil && res == nil {
			err = internal("no_result", fmt.Errorf("the handler of prompt %q returned neither a result nor an error", p.Name))
		}
		if err != nil {
			return nil, err
		}
		return promptReply{res}, nil
	}
	s.add(t)
}

func newPrompt(p Prompt) (*target, error) {
	if p.Name == "" {
		return nil, errors.New("a prompt needs a name")
	}
	names := make(map[string]bool, len(p.Arguments))
	for _, a := range p.Arguments {
		if a.Name == "" || names[a.Name] {
			return nil, fmt.Errorf("argument %q is named twice or not at all", a.Name)
		}
		names[a.Name] = true
	}
	for name := range p.Complete {
		if !names[name] {
			return nil, fmt.Errorf("a completer for argument %q, which it does not have", name)
		}
	}
	t := &target{
		purpose: requeststate.PurposePrompt, method: protocol.MethodGetPrompt, name: p.Name, needs: p.Needs,
		completers: p.Complete, arguments: names,
		definition: protocol.Prompt{
			Name: p.Name, Title: p.Title, Description: p.Description,
			Arguments: p.Arguments, Icons: p.Icons, Meta: p.Meta,
		},
	}
	return t, t.setRevision(p.Revision, p.AcceptRevisions)
}

// promptArguments reads a prompt's arguments, which are strings all.
func promptArguments(declared []protocol.PromptArgument, raw jsontext.Value) (map[string]string, error) {
	args, ok := stringMembers(raw)
	if !ok {
		return nil, invalidParams("the arguments of a prompt are strings")
	}
	for _, a := range declared {
		if _, ok := args[a.Name]; a.Required && !ok {
			return nil, invalidParams(fmt.Sprintf("argument %q is required", a.Name))
		}
	}
	return args, nil
}

// stringMembers returns the members of an object that holds strings alone. It
// reports false for anything else, null as a member included.
func stringMembers(raw jsontext.Value) (map[string]string, bool) {
	var values map[string]jsontext.Value
	if raw.Kind() != '{' || unmarshal(raw, &values) != nil {
		return nil, false
	}
	members := make(map[string]string, len(values))
	for name, value := range values {
		text, ok := stringOf(value)
		if !ok {
			return nil, false
		}
		members[name] = text
	}
	return members, true
}

type promptReply struct{ *protocol.GetPromptResult }

func (p promptReply) outcome() Outcome { return OutcomeComplete }

func (p promptReply) encode(r *request) (jsontext.Value, error) {
	res := *p.GetPromptResult
	res.ResultType, res.Meta = r.resultType(), nil
	if res.Messages == nil {
		res.Messages = []protocol.PromptMessage{}
	}
	return r.response(r.encodeResult(res, p.Meta))
}

// getPrompt runs one round of a prompts/get.
func (h *handler) getPrompt(ctx context.Context, r *request) (jsontext.Value, error) {
	name, ok := stringOf(r.params.Name)
	if !ok {
		return nil, invalidParams("name must be a string")
	}
	t, ok := h.targets[targetKey{requeststate.PurposePrompt, name}]
	if !ok {
		return nil, invalidParams("unknown prompt")
	}
	args, err := r.arguments()
	if err != nil {
		return nil, err
	}
	return h.round(ctx, r, t, name, args)
}

// notATool turns an error of a prompt's or a resource's handler into the
// request's failure: such results have no isError.
func notATool(text, reason string, cause error) *failure {
	return fail(http.StatusOK, jsonrpc.CodeInternalError, text).because(reason, cause)
}
