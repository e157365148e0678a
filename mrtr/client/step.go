package client

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Step sends one round and takes the response. Every question must have its
// answer. When the server asked for a retry without a question, it waits first.
// When the server refuses the state and asks to begin again, and that is
// allowed, the flow is as new, but for the answers that can be used again.
func (f *Flow) Step(ctx context.Context, session *mcp.ClientSession, opts *Options) error {
	// 1. Whether there is a round to send.
	if f.Done() {
		return ErrDone
	}
	if err := f.bounded(opts); err != nil {
		return err
	}
	if open := f.Questions(); len(open) > 0 {
		e := new(UnansweredError)
		for _, q := range open {
			e.Keys = append(e.Keys, q.Key)
		}
		return e
	}
	if f.pauses > 0 {
		if err := opts.sleep(ctx, pauseFor(f.pauses)); err != nil {
			return err
		}
	}
	// 2. The round on the wire.
	x := &exchange{method: f.method}
	err := f.send(context.WithValue(ctx, exchangeKey{}, x), session, f.meta(ctx, opts))
	x.mu.Lock()
	defer x.mu.Unlock()
	if opts != nil && opts.OnRound != nil && x.request != nil {
		opts.OnRound(Exchange{Round: f.rounds + 1, Request: x.request, Response: x.response})
	}
	// 3. What came back. The SDK's own reading of a result, and its complaints
	// about one, do not count.
	switch {
	case x.looped:
		return ErrAutomaticLoop
	case x.result != nil:
		return f.takeResult(x.result, x.declared)
	case x.broken && x.response == nil:
		return &ResultError{Method: f.method, Reason: "it is too large, or not JSON of the strict kind"}
	case err != nil:
		return f.takeError(err, session, x.declared, opts)
	case x.id == nil:
		return ErrTransport
	}
	return &ResultError{Method: f.method, Reason: "it did not pass the transport"}
}

// send sends the round: the same call each time, in params of its own.
func (f *Flow) send(ctx context.Context, session *mcp.ClientSession, meta map[string]any) error {
	var answers mcp.InputResponseMap
	if len(f.answers) > 0 {
		answers = make(mcp.InputResponseMap, len(f.answers))
		for key, a := range f.answers {
			answers[key] = rawAnswer{raw: a}
		}
	}
	var err error
	switch f.method {
	case protocol.MethodCallTool:
		_, err = session.CallTool(ctx, &mcp.CallToolParams{
			Meta: meta, Name: f.target, Arguments: f.arguments.Clone(), InputResponses: answers, RequestState: f.state,
		})
	case protocol.MethodGetPrompt:
		var args map[string]string
		if err := json.Unmarshal(f.arguments, &args); err != nil {
			return err
		}
		_, err = session.GetPrompt(ctx, &mcp.GetPromptParams{
			Meta: meta, Name: f.target, Arguments: args, InputResponses: answers, RequestState: f.state,
		})
	case protocol.MethodReadResource:
		// Past the SDK's cache, which does not tell a question from a result.
		_, err = mcp.CallCustomMethod[*mcp.ReadResourceParams, *mcp.ReadResourceResult](ctx, session, f.method, &mcp.ReadResourceParams{
			Meta: meta, URI: f.target, InputResponses: answers, RequestState: f.state,
		})
	}
	return err
}

// takeResult takes a result. It changes nothing where the result is refused.
func (f *Flow) takeResult(raw jsontext.Value, declared *protocol.ClientCapabilities) error {
	bad := func(reason string) error { return &ResultError{Method: f.method, Reason: reason} }
	var m struct {
		Type     jsontext.Value  `json:"resultType"`
		Requests jsontext.Value  `json:"inputRequests"`
		State    jsontext.Value  `json:"requestState"`
		Meta     protocol.Object `json:"_meta"`
	}
	if raw.Kind() != '{' || json.Unmarshal(raw, &m) != nil {
		return bad("it is not a JSON object")
	}
	kind := string(protocol.ResultComplete)
	if m.Type != nil && json.Unmarshal(m.Type, &kind) != nil || m.Type.Kind() == 'n' {
		return bad("resultType is not a string")
	}
	switch {
	case kind == string(protocol.ResultComplete):
		f.end(raw, nil)
		return nil
	case kind == resultTask && f.method == protocol.MethodCallTool:
		task, err := readTask(raw)
		if err != nil {
			return err
		}
		f.end(raw, task)
		return nil
	case kind != string(protocol.ResultInputRequired):
		return &ResultTypeError{Method: f.method, Type: kind}
	}
	var requests protocol.InputRequests
	if m.Requests != nil && json.Unmarshal(m.Requests, &requests) != nil {
		return bad("inputRequests is not an object of requests")
	}
	var state string
	if m.State != nil && (m.State.Kind() != '"' || json.Unmarshal(m.State, &state) != nil) {
		return bad("requestState is not a string")
	}
	if m.State != nil && state == "" { // it would be left out of the retry
		return bad("requestState is empty")
	}
	if m.Requests == nil && m.State == nil {
		return bad("it has neither inputRequests nor requestState")
	}
	return f.ask(readQuestions(requests, m.Meta), state, declared)
}

// maxQuestions is how many questions a round may have.
const maxQuestions = 100

const tooManyQuestions = "it asks more than 100 questions"

// ask begins the next round.
func (f *Flow) ask(asked []Question, state string, declared *protocol.ClientCapabilities) error {
	if len(asked) > maxQuestions {
		return &ResultError{Method: f.method, Reason: tooManyQuestions}
	}
	for i := range asked {
		if err := asked[i].check(declared); err != nil {
			return err
		}
	}
	f.remember()
	f.rounds++
	f.state, f.asked, f.answers = state, asked, make(map[string]jsontext.Value, len(asked))
	if f.pauses++; len(asked) > 0 {
		f.pauses = 0
	}
	f.reuse()
	return nil
}

func (f *Flow) end(result jsontext.Value, task *Task) {
	f.rounds++
	f.result, f.task = result, task
	f.state, f.asked, f.answers, f.given, f.reusable, f.pauses = "", nil, nil, nil, nil, 0
}

// takeError takes what the SDK returned where no result came.
func (f *Flow) takeError(err error, session *mcp.ClientSession, declared *protocol.ClientCapabilities, opts *Options) error {
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok {
		return err
	}
	switch data := jsontext.Value(rpc.Data); rpc.Code {
	case protocol.CodeInvalidParams:
		var d protocol.RestartData
		if f.state == "" || json.Unmarshal(data, &d) != nil || !d.Restart {
			return err
		}
		if f.restarts >= opts.maxRestarts() {
			return &RestartError{Restarts: f.restarts, Err: rpc}
		}
		f.remember()
		f.rounds++
		f.restart()
		return nil
	case protocol.CodeURLElicitationRequired:
		if isModern(session) {
			return err
		}
		return f.askURLs(data, declared, err)
	}
	return err
}

// askURLs takes the error by which 2025-11-25 asks to open addresses before the
// call is made again: as questions, each under its elicitationId.
func (f *Flow) askURLs(data jsontext.Value, declared *protocol.ClientCapabilities, err error) error {
	var d struct {
		Elicitations []jsontext.Value `json:"elicitations"`
	}
	if json.Unmarshal(data, &d) != nil || len(d.Elicitations) == 0 {
		return err
	}
	var requests protocol.InputRequests
	for _, params := range d.Elicitations {
		var p struct {
			Mode string `json:"mode"`
			ID   string `json:"elicitationId"`
		}
		if json.Unmarshal(params, &p) != nil || p.Mode != protocol.ElicitURL || p.ID == "" {
			return err
		}
		if _, twice := requests.Get(p.ID); twice {
			return err
		}
		if a := f.answers[p.ID]; a != nil && !accepted(a) { // the user said no
			return err
		}
		requests = append(requests, protocol.InputRequest{Key: p.ID, Method: protocol.MethodElicit, Params: params})
	}
	return f.ask(readQuestions(requests, nil), "", declared)
}

func accepted(answer jsontext.Value) bool {
	var r protocol.ElicitResult
	return json.Unmarshal(answer, &r) == nil && r.Action == protocol.ElicitAccept
}

func isModern(session *mcp.ClientSession) bool {
	r := session.InitializeResult()
	return r != nil && r.ProtocolVersion >= protocol.Version20260728
}
