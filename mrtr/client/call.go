package client

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Outcome is how a call ended: with a result of the SDK's type R, or with a
// task.
type Outcome[R any] struct {
	Result   *R             // nil where there is a task
	Task     *Task          // nil where there is a result; tools only
	Raw      jsontext.Value // the JSON of either, as it came
	Rounds   int            // how many requests were answered
	Restarts int            // how often the call began again
}

// CallToolWithInputs calls a tool and answers what it asks back, until there is
// a result: the questions of a round one at a time, in the order of their keys.
// args is what encodes as a JSON object; nil is none. The session's transport
// must come from [Transport]. A nil opts means the zero value; a nil handler
// refuses all questions.
//
// A result with IsError is no error of this function.
func CallToolWithInputs(ctx context.Context, session *mcp.ClientSession, name string, args any, handler InputHandler, opts *Options) (*Outcome[mcp.CallToolResult], error) {
	f, err := NewToolCall(name, args)
	if err != nil {
		return nil, err
	}
	if err := f.Run(ctx, session, handler, opts); err != nil {
		return nil, err
	}
	return f.ToolOutcome()
}

// GetPromptWithInputs gets a prompt, as [CallToolWithInputs] calls a tool.
func GetPromptWithInputs(ctx context.Context, session *mcp.ClientSession, name string, args map[string]string, handler InputHandler, opts *Options) (*Outcome[mcp.GetPromptResult], error) {
	f, err := NewPromptGet(name, args)
	if err != nil {
		return nil, err
	}
	if err := f.Run(ctx, session, handler, opts); err != nil {
		return nil, err
	}
	return f.PromptOutcome()
}

// ReadResourceWithInputs reads a resource, as [CallToolWithInputs] calls a
// tool. It always asks the server: the SDK's cache is not used.
func ReadResourceWithInputs(ctx context.Context, session *mcp.ClientSession, uri string, handler InputHandler, opts *Options) (*Outcome[mcp.ReadResourceResult], error) {
	f := NewResourceRead(uri)
	if err := f.Run(ctx, session, handler, opts); err != nil {
		return nil, err
	}
	return f.ResourceOutcome()
}

// ToolOutcome returns how the call of a tool ended, nil where it is not done.
func (f *Flow) ToolOutcome() (*Outcome[mcp.CallToolResult], error) {
	return outcomeOf[mcp.CallToolResult](f, protocol.MethodCallTool)
}

// PromptOutcome returns how the request of a prompt ended, nil where it is not
// done.
func (f *Flow) PromptOutcome() (*Outcome[mcp.GetPromptResult], error) {
	return outcomeOf[mcp.GetPromptResult](f, protocol.MethodGetPrompt)
}

// ResourceOutcome returns how the reading of a resource ended, nil where it is
// not done.
func (f *Flow) ResourceOutcome() (*Outcome[mcp.ReadResourceResult], error) {
	return outcomeOf[mcp.ReadResourceResult](f, protocol.MethodReadResource)
}

func outcomeOf[R any](f *Flow, method string) (*Outcome[R], error) {
	if f.method != method {
		return nil, &ResultError{Method: f.method, Reason: "it is of another method than the one asked for"}
	}
	if !f.Done() {
		return nil, nil
	}
	out := &Outcome[R]{Task: f.task, Raw: f.result, Rounds: f.rounds, Restarts: f.restarts}
	if f.task != nil {
		return out, nil
	}
	out.Result = new(R)
	if json.Unmarshal(f.result, out.Result) == nil {
		return out, nil
	}
	// What a complete result has no use for must not spoil it.
	var members protocol.Object
	if json.Unmarshal(f.result, &members) == nil {
		delete(members, "inputRequests")
		delete(members, "requestState")
		if raw, err := json.Marshal(members); err == nil && json.Unmarshal(raw, out.Result) == nil {
			return out, nil
		}
	}
	return nil, &ResultError{Method: method, Reason: "it does not have the form of a result"}
}
