package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// InputHandler answers one question with a JSON object: an ElicitResult, a
// CreateMessageResult or a ListRootsResult of package protocol. An error ends
// the call, and nothing is sent. It is called for one question at a time.
type InputHandler func(ctx context.Context, q Question) (jsontext.Value, error)

// Handlers answer what servers ask, one field for each kind of question. What
// is nil is not declared as a capability. Handlers are called concurrently
// where calls or sessions are; the requests of one handshake server are answered
// one at a time.
type Handlers struct {
	// Form fills in a form. The content of an accepted form gets the defaults of
	// the fields that it leaves out, except for those that are null, and is then
	// checked.
	Form func(ctx context.Context, q *FormQuestion) (protocol.ElicitResult, error)
	// URL shows an address to the user and says whether they agree to open it.
	URL func(ctx context.Context, q *URLQuestion) (protocol.ElicitAction, error)
	// Sampling asks a model.
	Sampling func(ctx context.Context, p *protocol.CreateMessageParams) (*protocol.CreateMessageResult, error)
	// SamplingTools and SamplingContext declare more of sampling.
	SamplingTools, SamplingContext bool
	// Roots lists the client's roots.
	Roots func(ctx context.Context) ([]protocol.Root, error)
}

// URLQuestion is an address for the user to open, http or https. It is the
// server's: show the user where it leads before it is opened.
type URLQuestion struct {
	Key     string // the question's key; empty for a request of a handshake server
	Message string
	URL     string
}

// DefaultInputHandler returns a handler that routes each question through
// [Handlers.HandleServerRequest].
func DefaultInputHandler(h *Handlers) InputHandler { return h.HandleServerRequest }

// HandleServerRequest answers one question, whichever way it came: in a round,
// or as a request of a handshake server. The answer fits the question.
func (h *Handlers) HandleServerRequest(ctx context.Context, q Question) (jsontext.Value, error) {
	answer, err := h.answer(ctx, &q)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("client: encoding the answer to %q: %w", q.Key, err)
	}
	return q.complete(raw)
}

func (h *Handlers) answer(ctx context.Context, q *Question) (any, error) {
	switch q.Method {
	case protocol.MethodElicit:
		return h.elicit(ctx, q)
	case protocol.MethodCreateMessage:
		p, err := q.sampling()
		if err != nil {
			return nil, err
		}
		if h.Sampling == nil {
			return nil, q.refuse(ErrNoHandler, "sampling")
		}
		return h.Sampling(ctx, p)
	case protocol.MethodListRoots:
		if h.Roots == nil {
			return nil, q.refuse(ErrNoHandler, "roots")
		}
		roots, err := h.Roots(ctx)
		return protocol.ListRootsResult{Roots: roots}, err
	}
	return nil, q.refuse(ErrUnknownMethod, "")
}

func (h *Handlers) elicit(ctx context.Context, q *Question) (any, error) {
	e, err := q.elicitation()
	if err != nil {
		return nil, err
	}
	if e.Mode == protocol.ElicitURL {
		if h.URL == nil {
			return nil, q.refuse(ErrNoHandler, "elicitation.url")
		}
		action, err := h.URL(ctx, &URLQuestion{Key: q.Key, Message: e.Message, URL: e.URL})
		return protocol.ElicitResult{Action: action}, err
	}
	form, err := q.form(e)
	if err != nil {
		return nil, err
	}
	if h.Form == nil {
		return nil, q.refuse(ErrNoHandler, "elicitation.form")
	}
	return h.Form(ctx, form)
}

// Capabilities returns what the handlers can be asked for, as the SDK declares
// it.
func (h *Handlers) Capabilities() *mcp.ClientCapabilities {
	c := new(mcp.ClientCapabilities)
	if h.Form != nil || h.URL != nil {
		c.Elicitation = new(mcp.ElicitationCapabilities)
		if h.Form != nil {
			c.Elicitation.Form = new(mcp.FormElicitationCapabilities)
		}
		if h.URL != nil {
			c.Elicitation.URL = new(mcp.URLElicitationCapabilities)
		}
	}
	if h.Sampling != nil {
		c.Sampling = new(mcp.SamplingCapabilities)
		if h.SamplingTools {
			c.Sampling.Tools = new(mcp.SamplingToolsCapabilities)
		}
		if h.SamplingContext {
			c.Sampling.Context = new(mcp.SamplingContextCapabilities)
		}
	}
	if h.Roots != nil {
		c.RootsV2 = new(mcp.RootCapabilities)
	}
	return c
}

// New returns a client of the SDK that declares what the handlers can be asked
// for, which must not be nil, lets them answer the requests of handshake servers, and has the SDK's
// automatic loop switched off. Of opts, which may be nil and is not changed,
// elicitation, sampling and roots in Capabilities and MultiRoundTrip do not
// count. Connect it over what [Transport] returns.
func New(info *mcp.Implementation, h *Handlers, opts *mcp.ClientOptions) *mcp.Client {
	var o mcp.ClientOptions
	if opts != nil {
		o = *opts
	}
	c := h.Capabilities()
	if o.Capabilities != nil {
		c.Extensions, c.Experimental = o.Capabilities.Extensions, o.Capabilities.Experimental
	}
	o.Capabilities, o.MultiRoundTrip = c, &mcp.MultiRoundTripOptions{Disabled: true}
	o.ElicitationHandler, o.CreateMessageHandler, o.CreateMessageWithToolsHandler = nil, nil, nil
	client := mcp.NewClient(info, &o)
	client.AddReceivingMiddleware(h.Middleware())
	return client
}

// Middleware returns a receiving middleware for a client of the SDK: it lets
// the handlers answer what a handshake server requests. A kind of question that
// has no handler is left to the client. The fields of a form are in the order
// of their names: the SDK does not keep the server's.
//
// The requests of a session are answered one at a time, and 100 in all; what
// comes after is refused. A session of 2026-07-28 or later, where servers send
// no requests, has all of them refused.
func (h *Handlers) Middleware() mcp.Middleware {
	var all gates
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			var result mcp.Result
			switch method {
			case protocol.MethodElicit:
				result = new(mcp.ElicitResult)
			case protocol.MethodCreateMessage:
				result = new(mcp.CreateMessageWithToolsResult)
			case protocol.MethodListRoots:
				result = new(mcp.ListRootsResult)
			default:
				return next(ctx, method, r)
			}
			leave, err := all.enter(ctx, r.GetSession())
			if err != nil {
				return nil, err
			}
			defer leave()
			q := Question{Method: method}
			if p := r.GetParams(); p != nil {
				raw, err := json.Marshal(p, jsonv1.OmitEmptyWithLegacySemantics(true), json.Deterministic(true))
				if err != nil {
					return nil, refusal(q.refuse(ErrMalformed, "params"))
				}
				if raw[0] == '{' { // not a nil pointer
					q.Params = raw
				}
			}
			answer, err := h.HandleServerRequest(ctx, q)
			if errors.Is(err, ErrNoHandler) {
				return next(ctx, method, r)
			}
			if err == nil {
				err = json.Unmarshal(answer, result)
			}
			if err != nil {
				return nil, refusal(err)
			}
			return result, nil
		}
	}
}

// refusal returns what a server is told of an error here: little.
func refusal(err error) error {
	if _, ok := errors.AsType[*QuestionError](err); ok {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the client cannot read the request"}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client could not answer"}
}
