package mrtrtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Call is a call to play. Only Name is required, for a tools/call.
type Call struct {
	Method       string                       // empty: tools/call
	Name         string                       // tool or prompt; for resources/read the URI
	Arguments    any                          // encoded as JSON; nil: left out
	Answers      Answers                      // by question key
	Capabilities *protocol.ClientCapabilities // nil: everything
	MaxRounds    int                          // zero: 60
	// Edit may change each round's request before it is sent.
	Edit func(round int, r *Request)
	// Drop says of which rounds the first reply is lost: the request is sent
	// twice, and the second reply counts.
	Drop func(round int) bool
	// NoReplay leaves out the check that Play makes against Local and Fresh:
	// that a handler, run again over what it has been told, asks the same.
	NoReplay bool
}

// Error is a JSON-RPC error.
type Error struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data"`
}

// Error returns the code and the message.
func (e *Error) Error() string { return fmt.Sprintf("error %d: %s", e.Code, e.Message) }

// Request is a round's request before it is encoded.
type Request struct {
	Method string
	ID     any
	Params map[string]any
	Header http.Header
}

// Round is what one round sent and got.
type Round struct {
	Request  jsontext.Value // body as sent
	Response jsontext.Value // body as received; empty where there was none
	Status   int            // HTTP status
	Header   http.Header    // of the response
	State    string         // requestState of the response; empty: none
	Asked    protocol.InputRequests
}

// Played is a call that has come to its end.
type Played struct {
	Rounds []Round
	Result *protocol.CallToolResult // of the last round; nil where it was an error
	Error  *Error                   // of the last round; nil where it was a result
}

// Last returns the last round.
func (p *Played) Last() *Round { return &p.Rounds[len(p.Rounds)-1] }

// Text returns the result's texts, a line each; the error's message where
// there is no result.
func (p *Played) Text() string {
	if p.Result == nil {
		return p.Error.Error()
	}
	var lines []string
	for _, c := range p.Result.Content {
		if t, ok := c.(*protocol.TextContent); ok {
			lines = append(lines, t.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// Play runs a call to its end: it sends it, answers what is asked, sends it
// again with the state, until there is a result or an error. It fails the test
// where a reply is not MCP, where a question has no answer in Answers, and
// where the rounds do not end.
//
// Against Local and Fresh it also runs each round that asks a second time and
// compares, and fails the test where the handler would not be the same in the
// next round: what it asks depends on time, randomness or the order of a map, a
// step's value does not survive JSON, an error of an ask was swallowed, a form
// cannot be expressed. What the server would log of a call that failed goes to
// the test's log.
func Play(tb testing.TB, e *Endpoint, call Call) *Played {
	tb.Helper()
	p, err := play(e, call)
	if err != nil {
		tb.Fatalf("mrtrtest: %v", err)
	}
	if cause := e.cause(); cause != nil && (p.Error != nil || p.Result.IsError) {
		tb.Logf("mrtrtest: the last round failed, and the server's log says: %v", cause)
	}
	return p
}

func play(e *Endpoint, call Call) (*Played, error) {
	if e.err != nil {
		return nil, e.err
	}
	if call.MaxRounds == 0 {
		call.MaxRounds = 60
	}
	p := &Played{}
	var state string
	var responses map[string]any
	for n := 1; n <= call.MaxRounds; n++ {
		round, err := send(e, call, n, state, responses)
		if err == nil && call.Drop != nil && call.Drop(n) {
			round, err = send(e, call, n, state, responses)
		}
		if err != nil {
			return nil, fmt.Errorf("round %d: %w", n, err)
		}
		p.Rounds = append(p.Rounds, round)
		var reply struct {
			Result jsontext.Value `json:"result"`
			Error  *Error         `json:"error"`
		}
		if err := json.Unmarshal(round.Response, &reply); err != nil {
			return nil, fmt.Errorf("round %d: status %d and no JSON-RPC response: %w", n, round.Status, err)
		}
		if reply.Error != nil {
			p.Error = reply.Error
			return p, e.misused(call)
		}
		var asks protocol.InputRequiredResult
		if err := json.Unmarshal(reply.Result, &asks); err != nil {
			return nil, fmt.Errorf("round %d: reading the result: %w", n, err)
		}
		if asks.ResultType != protocol.ResultInputRequired {
			p.Result = new(protocol.CallToolResult)
			if err := json.Unmarshal(reply.Result, p.Result); err != nil {
				return nil, fmt.Errorf("round %d: reading the result: %w", n, err)
			}
			return p, nil
		}
		var meta struct {
			Meta struct {
				Invalid map[string][]string `json:"io.github.mrtr-lambda/invalidInputResponses"`
			} `json:"_meta"`
		}
		if err := json.Unmarshal(reply.Result, &meta); err != nil {
			return nil, fmt.Errorf("round %d: reading _meta: %w", n, err)
		}
		if err := call.Answers.unfit(meta.Meta.Invalid); err != nil {
			return nil, fmt.Errorf("round %d: %w", n-1, err)
		}
		last := p.Last()
		last.State, last.Asked = asks.RequestState, asks.InputRequests
		state = asks.RequestState
		if err := e.replay(call, n, *last); err != nil {
			return nil, fmt.Errorf("round %d: %w", n, err)
		}
		if responses = nil; len(asks.InputRequests) == 0 {
			continue // a yield: the retry has the state alone
		}
		if responses, err = call.Answers.respond(asks.InputRequests); err != nil {
			return nil, fmt.Errorf("round %d: %w", n, err)
		}
	}
	return nil, fmt.Errorf("no end after %d rounds", call.MaxRounds)
}

// send plays one round.
func send(e *Endpoint, call Call, n int, state string, responses map[string]any) (Round, error) {
	r := call.request(n)
	if state != "" {
		r.Params["requestState"] = state
	}
	if responses != nil {
		r.Params["inputResponses"] = responses
	}
	if call.Edit != nil {
		call.Edit(n, r)
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": r.ID, "method": r.Method, "params": r.Params}, json.Deterministic(true))
	if err != nil {
		return Round{}, fmt.Errorf("encoding the request: %w", err)
	}
	hr := httptest.NewRequest(http.MethodPost, e.url, strings.NewReader(string(body)))
	hr.RequestURI = ""
	hr.Header = r.Header
	resp, err := e.do(hr)
	if err != nil {
		return Round{}, err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(resp.Body)
	if err != nil {
		return Round{}, fmt.Errorf("reading the response: %w", err)
	}
	return Round{Request: body, Response: reply, Status: resp.StatusCode, Header: resp.Header}, nil
}

// request returns the call as a modern client sends it.
func (call Call) request(n int) *Request {
	method := call.Method
	if method == "" {
		method = protocol.MethodCallTool
	}
	params := map[string]any{"_meta": map[string]any{
		protocol.MetaProtocolVersion:    protocol.Version20260728,
		protocol.MetaClientInfo:         protocol.Implementation{Name: "mrtrtest", Version: "1"},
		protocol.MetaClientCapabilities: call.capabilities(),
	}}
	if method == protocol.MethodReadResource {
		params["uri"] = call.Name
	} else {
		params["name"] = call.Name
	}
	if call.Arguments != nil {
		params["arguments"] = call.Arguments
	}
	return &Request{Method: method, ID: strconv.Itoa(n), Params: params, Header: http.Header{
		"Content-Type":                {"application/json"},
		"Accept":                      {"application/json, text/event-stream"},
		jsonrpc.HeaderProtocolVersion: {protocol.Version20260728},
		jsonrpc.HeaderMethod:          {method},
		jsonrpc.HeaderName:            {jsonrpc.EncodeHeaderValue(call.Name)},
	}}
}

func (call Call) capabilities() protocol.ClientCapabilities {
	if call.Capabilities != nil {
		return *call.Capabilities
	}
	return protocol.ClientCapabilities{
		Elicitation: &protocol.ElicitationCapability{Form: protocol.Object{}, URL: protocol.Object{}},
		Sampling:    &protocol.SamplingCapability{Tools: protocol.Object{}},
		Roots:       &protocol.RootsCapability{},
	}
}
