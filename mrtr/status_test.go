package mrtr_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// statusServer has a tool for each way in which a call can end.
func statusServer(s *mrtr.Server) {
	tool(s, "greet", greet)
	tool(s, "plain", func(context.Context, *mrtr.Call) (*mrtr.Result, error) { return mrtr.Text("done"), nil })
	tool(s, "panics", func(context.Context, *mrtr.Call) (*mrtr.Result, error) { panic("secret-panic-value") })
	tool(s, "crashes", func(context.Context, *mrtr.Call) (*mrtr.Result, error) {
		var none []int
		return mrtr.Textf("%d", none[len(none)]), nil
	})
	tool(s, "nothing", func(context.Context, *mrtr.Call) (*mrtr.Result, error) { return nil, nil })
	tool(s, "fails", func(context.Context, *mrtr.Call) (*mrtr.Result, error) { return nil, errors.New("secret-cause") })
	tool(s, "fails_in_public", func(context.Context, *mrtr.Call) (*mrtr.Result, error) {
		return nil, mrtr.Errorf("no flights on %s", "Sunday")
	})
	tool(s, "content_and_questions", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
		_ = c.RequestInput(protocol.InputRequests{{Key: "k", Method: protocol.MethodListRoots}}, nil)
		return mrtr.Text("and a result"), nil
	})
	mrtr.AddTool(s, mrtr.Tool{Name: "strict"}, func(_ context.Context, _ *mrtr.Call, in struct {
		City  string `json:"city"`
		Count int    `json:"count"`
	}) (*mrtr.Result, error) {
		return mrtr.Textf("%d to %s", in.Count, in.City), nil
	})
	mrtr.AddPrompt(s, mrtr.Prompt{
		Name: "greet", Arguments: []protocol.PromptArgument{{Name: "who", Required: true}},
		Complete: map[string]mrtr.Completer{"who": func(context.Context, string, map[string]string) ([]string, error) { return []string{"Alice"}, nil }},
	},
		func(context.Context, *mrtr.Call, map[string]string) (*protocol.GetPromptResult, error) {
			return &protocol.GetPromptResult{}, nil
		})
	mrtr.AddResource(s, mrtr.Resource{URI: "file:///a", Name: "a"}, func(context.Context, *mrtr.Call) ([]protocol.ResourceContents, error) {
		return nil, errors.New("secret-cause")
	})
}

// TestStatus is the design's table of statuses, a row or more for each of its
// rows.
func TestStatus(t *testing.T) {
	post := func(body string) request { return request{body: body, name: "greet"} }
	withID := func(id string) request { return request{name: "plain", id: id} }
	call := func(params string) request { return request{name: "greet", params: params} }
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	bare := func(params string) request {
		return request{name: "plain", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + params + `}}`}
	}
	for _, tt := range []struct {
		name   string
		r      request
		status int
		code   int    // 0: no error
		id     string // of the reply; empty: 1
		data   string // of the error
	}{
		// Too large, media type, Accept.
		{name: "body too large", r: post(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`), status: 413, code: -32600, id: "-"},
		{name: "body of 10 MB", r: post(strings.Repeat("[", 10<<20)), status: 413, code: -32600, id: "-"},
		{name: "no content type", r: request{name: "plain", header: map[string]string{"Content-Type": "-"}}, status: 415, code: -32600, id: "-"},
		{name: "text", r: request{name: "plain", header: map[string]string{"Content-Type": "text/plain"}}, status: 415, code: -32600, id: "-"},
		{name: "JSON by another name", r: request{name: "plain", header: map[string]string{"Content-Type": "application/json-rpc"}}, status: 415, code: -32600, id: "-"},
		{name: "content type with charset", r: request{name: "plain", header: map[string]string{"Content-Type": "Application/JSON; charset=utf-8"}}, status: 200},
		{name: "accepts HTML", r: request{name: "plain", header: map[string]string{"Accept": "text/html"}}, status: 406, code: -32600, id: "-"},
		{name: "accepts JSON alone", r: request{name: "plain", header: map[string]string{"Accept": "application/json"}}, status: 406, code: -32600, id: "-"},
		{name: "accepts events alone", r: request{name: "plain", header: map[string]string{"Accept": "text/event-stream"}}, status: 406, code: -32600, id: "-"},
		{name: "refuses events", r: request{name: "plain", header: map[string]string{"Accept": "application/json, text/event-stream;q=0"}}, status: 406, code: -32600, id: "-"},
		{name: "accepts anything", r: request{name: "plain", header: map[string]string{"Accept": "*/*"}}, status: 200},
		{name: "accepts by weight", r: request{name: "plain", header: map[string]string{"Accept": "application/json;q=0.9,text/event-stream;q=0.1"}}, status: 200},
		{name: "accepts classes", r: request{name: "plain", header: map[string]string{"Accept": "application/*, text/*"}}, status: 200},
		{name: "no Accept", r: request{name: "plain", header: map[string]string{"Accept": "-"}}, status: 200},

		// Unparsable.
		{name: "empty body", r: post(" "), status: 400, code: -32700, id: "-"},
		{name: "not JSON", r: post(`{"jsonrpc":`), status: 400, code: -32700, id: "-"},
		{name: "bad UTF-8", r: post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"), status: 400, code: -32700, id: "-"},
		{name: "duplicate names", r: call(`"a":{"b":1,"b":2}`), status: 400, code: -32700, id: "-"},
		{name: "duplicate names in arguments", r: call(`"arguments":{"x":[{"b":1,"b":2}]}`), status: 400, code: -32700, id: "-"},
		{name: "duplicate answers", r: call(`"inputResponses":{"user_name":{},"user_name":{}}`), status: 400, code: -32700, id: "-"},
		{name: "10,000 deep", r: call(`"arguments":{"a":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`), status: 400, code: -32700, id: "-"},

		// No single request.
		{name: "batch", r: post(`[{"jsonrpc":"2.0","id":1,"method":"server/discover"}]`), status: 400, code: -32600, id: "-"},
		{name: "response", r: post(`{"jsonrpc":"2.0","id":1,"result":{}}`), status: 400, code: -32600},
		{name: "id null", r: withID(`null`), status: 400, code: -32600, id: "-"},
		{name: "id fractional", r: withID(`1.5`), status: 400, code: -32600, id: "-"},
		{name: "id with exponent", r: withID(`1e3`), status: 400, code: -32600, id: "-"},
		{name: "id boolean", r: withID(`true`), status: 400, code: -32600, id: "-"},
		{name: "id object", r: withID(`{}`), status: 400, code: -32600, id: "-"},
		{name: "id array", r: withID(`[1]`), status: 400, code: -32600, id: "-"},
		{name: "id 2^60", r: withID(`1152921504606846976`), status: 200, id: `1152921504606846976`},
		{name: "id emoji", r: withID(`"🙂"`), status: 200, id: `"🙂"`},
		{name: "id escaped", r: withID(`"\ud83d\ude42"`), status: 200, id: `"\ud83d\ude42"`},
		{name: "id empty", r: withID(`""`), status: 200, id: `""`},
		{name: "id 0", r: withID(`0`), status: 200, id: `0`},
		{name: "id -1", r: withID(`-1`), status: 200, id: `-1`},
		{name: "no jsonrpc", r: post(`{"id":"x","method":"tools/call"}`), status: 400, code: -32600, id: `"x"`},

		// _meta.
		{name: "no _meta", r: bare(`"name":"plain"`), status: 400, code: -32602},
		{name: "no params", r: request{name: "plain", body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, header: map[string]string{"Mcp-Method": "tools/list"}}, status: 400, code: -32602},
		{name: "_meta is no object", r: bare(`"name":"plain","_meta":[]`), status: 400, code: -32602},
		{name: "_meta is null", r: bare(`"name":"plain","_meta":null`), status: 400, code: -32602},
		{name: "no version", r: bare(`"name":"plain","_meta":{"io.modelcontextprotocol/clientCapabilities":{}}`), status: 400, code: -32602},
		{name: "version is a number", r: bare(`"name":"plain","_meta":{"io.modelcontextprotocol/protocolVersion":20260728,"io.modelcontextprotocol/clientCapabilities":{}}`), status: 400, code: -32602},
		{name: "no capabilities", r: bare(`"name":"plain","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`), status: 400, code: -32602},
		{name: "capabilities are null", r: bare(`"name":"plain","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":null}`), status: 400, code: -32602},
		{name: "capabilities of another form", r: bare(`"name":"plain","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":1}}`), status: 400, code: -32602},
		{name: "unknown log level", r: bare(`"name":"plain","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"loud"}`), status: 400, code: -32602},
		{name: "no clientInfo", r: bare(`"name":"plain",` + meta), status: 200},

		// Headers.
		{name: "version header missing", r: request{name: "plain", header: map[string]string{"Mcp-Protocol-Version": "-"}}, status: 400, code: -32020},
		{name: "version header empty", r: request{name: "plain", header: map[string]string{"Mcp-Protocol-Version": ""}}, status: 400, code: -32020},
		{name: "version header unlike the body", r: request{name: "plain", header: map[string]string{"Mcp-Protocol-Version": "2025-11-25"}}, status: 400, code: -32020},
		{name: "method header missing", r: request{name: "plain", header: map[string]string{"Mcp-Method": "-"}}, status: 400, code: -32020},
		{name: "method header of other case", r: request{name: "plain", header: map[string]string{"Mcp-Method": "Tools/Call"}}, status: 400, code: -32020},
		{name: "method header unlike the body", r: request{name: "plain", header: map[string]string{"Mcp-Method": "tools/list"}}, status: 400, code: -32020},
		{name: "method header in Base64", r: request{name: "plain", header: map[string]string{"Mcp-Method": "=?base64?dG9vbHMvY2FsbA==?="}}, status: 400, code: -32020},
		{name: "name header missing", r: request{name: "plain", header: map[string]string{"Mcp-Name": "-"}}, status: 400, code: -32020},
		{name: "name header unlike the body", r: request{name: "plain", header: map[string]string{"Mcp-Name": "greet"}}, status: 400, code: -32020},
		{name: "name header of other case", r: request{name: "plain", header: map[string]string{"Mcp-Name": "Plain"}}, status: 400, code: -32020},
		{name: "name header in Base64", r: request{name: "plain", header: map[string]string{"Mcp-Name": "=?base64?cGxhaW4=?="}}, status: 200},
		{name: "name header in bad Base64", r: request{name: "plain", header: map[string]string{"Mcp-Name": "=?base64?cGxhaW4?="}}, status: 400, code: -32020},
		{name: "name header of a prompt", r: request{method: "prompts/get", name: "greet", header: map[string]string{"Mcp-Name": "x"}}, status: 400, code: -32020},
		{name: "name header of a resource", r: request{method: "resources/read", name: "file:///a", header: map[string]string{"Mcp-Name": "file:///b"}}, status: 400, code: -32020},
		{name: "headers come before the unknown tool", r: request{name: "unknown", header: map[string]string{"Mcp-Name": "plain"}}, status: 400, code: -32020},

		// Version.
		{
			name:   "a handshake version in a modern request",
			r:      request{name: "plain", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain","_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientCapabilities":{}}}}`, header: map[string]string{"Mcp-Protocol-Version": "2025-11-25"}},
			status: 400, code: -32022, data: `{"supported":["2026-07-28"],"requested":"2025-11-25"}`,
		},
		{
			name:   "an unknown version",
			r:      request{name: "plain", body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain","_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}`, header: map[string]string{"Mcp-Protocol-Version": "2099-01-01"}},
			status: 400, code: -32022, data: `{"supported":["2026-07-28"],"requested":"2099-01-01"}`,
		},

		// Methods.
		{name: "unknown method", r: request{method: "tools/destroy"}, status: 404, code: -32601},
		{name: "method of other case", r: request{method: "Tools/List"}, status: 404, code: -32601},
		{name: "initialize", r: request{method: "initialize"}, status: 404, code: -32601},
		{name: "ping", r: request{method: "ping"}, status: 404, code: -32601},
		{name: "logging/setLevel", r: request{method: "logging/setLevel"}, status: 404, code: -32601},
		{name: "resources/subscribe", r: request{method: "resources/subscribe"}, status: 404, code: -32601},
		{name: "notifications/initialized with an id", r: request{method: "notifications/initialized"}, status: 404, code: -32601},

		// Params.
		{name: "unknown tool", r: request{name: "unknown"}, status: 400, code: -32602},
		{name: "tool of other case", r: request{name: "Greet"}, status: 400, code: -32602},
		{name: "name is missing", r: bare(meta), status: 400, code: -32602},
		{name: "Name for name", r: bare(`"Name":"plain",` + meta), status: 400, code: -32602},
		{name: "name is a number", r: bare(`"name":1,` + meta), status: 400, code: -32602},
		{name: "arguments are an array", r: call(`"arguments":[]`), status: 400, code: -32602},
		{name: "arguments are null", r: call(`"arguments":null`), status: 400, code: -32602},
		{name: "arguments are a string", r: call(`"arguments":"{}"`), status: 400, code: -32602},
		{name: "inputResponses are an array", r: call(`"inputResponses":[]`), status: 400, code: -32602},
		{name: "inputResponses are null", r: call(`"inputResponses":null`), status: 400, code: -32602},
		{name: "inputResponses are a string", r: call(`"inputResponses":"{}"`), status: 400, code: -32602},
		{name: "requestState is a number", r: call(`"requestState":1`), status: 400, code: -32602},
		{name: "requestState is null", r: call(`"requestState":null`), status: 400, code: -32602},
		{name: "requestState is an object", r: call(`"requestState":{}`), status: 400, code: -32602},
		{name: "requestState is empty", r: call(`"requestState":""`), status: 400, code: -32602},
		{name: "unknown cursor", r: request{method: "tools/list", params: `"cursor":"AAAA"`}, status: 400, code: -32602},
		{name: "empty cursor", r: request{method: "tools/list", params: `"cursor":""`}, status: 400, code: -32602},
		{name: "cursor is a number", r: request{method: "tools/list", params: `"cursor":1`}, status: 400, code: -32602},
		{name: "unknown prompt", r: request{method: "prompts/get", name: "plain"}, status: 400, code: -32602},
		{name: "prompt without its argument", r: request{method: "prompts/get", name: "greet"}, status: 400, code: -32602},
		{name: "prompt with an argument that is no string", r: request{method: "prompts/get", name: "greet", params: `"arguments":{"who":1}`}, status: 400, code: -32602},
		{name: "unknown resource", r: request{method: "resources/read", name: "file:///b"}, status: 400, code: -32602, data: `{"uri":"file:///b"}`},
		{name: "completion of nothing", r: request{method: "completion/complete", params: `"ref":{"type":"ref/prompt","name":"unknown"},"argument":{"name":"who","value":""}`}, status: 400, code: -32602},
		{name: "completion of an unknown argument", r: request{method: "completion/complete", params: `"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"x","value":""}`}, status: 400, code: -32602},
		{name: "completion of another form", r: request{method: "completion/complete", params: `"ref":1`}, status: 400, code: -32602},

		// Capabilities.
		{name: "lacks elicitation", r: request{name: "greet", caps: `{}`}, status: 400, code: -32021, data: `{"requiredCapabilities":{"elicitation":{"form":{}}}}`},

		// Handlers.
		{name: "panic", r: request{name: "panics"}, status: 200, code: -32603},
		{name: "runtime error", r: request{name: "crashes"}, status: 200, code: -32603},
		{name: "neither result nor error", r: request{name: "nothing"}, status: 200, code: -32603},
		{name: "content and questions", r: request{name: "content_and_questions"}, status: 200, code: -32603},
		{name: "error in a resource", r: request{method: "resources/read", name: "file:///a"}, status: 200, code: -32603},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newKit(t, statusServer, nil)
			res := k.do(tt.r)
			require.Equal(t, tt.status, res.status, res.body)
			require.Equal(t, "application/json", res.header.Get("Content-Type"))
			switch tt.id {
			case "":
				require.Equal(t, "1", string(res.ID), "the id comes back byte for byte")
			case "-":
				require.Nil(t, res.ID, "an id that cannot be read is left out")
			default:
				require.Equal(t, tt.id, string(res.ID), "the id comes back byte for byte")
			}
			if tt.code == 0 {
				require.Nil(t, res.Error, res.body)
				return
			}
			res.failed(t, tt.status, tt.code)
			require.NotContains(t, res.body, "secret")
			require.Equal(t, tt.data, string(res.Error.Data))
			require.Equal(t, tt.code, k.last().Code)
			require.Equal(t, tt.status, k.last().Status)

			// The next request is served.
			k.do(request{name: "plain"}).says(t, "done")
		})
	}
}

func TestStatusMethods(t *testing.T) {
	for _, method := range []string{"GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"} {
		t.Run(method, func(t *testing.T) {
			k := newKit(t, statusServer, nil)
			hr := request{name: "plain"}.build()
			hr.Method = method
			res := serve(t, k.handler, hr)
			require.Equal(t, http.StatusMethodNotAllowed, res.status)
			require.Equal(t, "POST", res.header.Get("Allow"))
		})
	}
}

func TestStatusOrigin(t *testing.T) {
	for _, tt := range []struct {
		name     string
		loopback bool
		host     string
		origins  []string
		want     int
	}{
		{"no origin", false, "mcp.example", nil, 200},
		{"the allowed one", false, "mcp.example", []string{"https://app.example"}, 200},
		{"another one", false, "mcp.example", []string{"https://evil.example"}, 403},
		{"the allowed one with a port", false, "mcp.example", []string{"https://app.example:8443"}, 403},
		{"the allowed one over http", false, "mcp.example", []string{"http://app.example"}, 403},
		{"the allowed one within another", false, "mcp.example", []string{"https://app.example.evil.example"}, 403},
		{"null", false, "mcp.example", []string{"null"}, 403},
		{"empty", false, "mcp.example", []string{""}, 403},
		{"two", false, "mcp.example", []string{"https://app.example", "https://app.example"}, 403},
		{"loopback where it is not allowed", false, "mcp.example", []string{"http://localhost:3000"}, 403},
		{"a gateway's own host", false, "abc.execute-api.us-east-1.amazonaws.com", nil, 200},
		{"local", true, "127.0.0.1:8080", []string{"http://localhost:3000"}, 200},
		{"local, IPv6", true, "[::1]:8080", []string{"http://[::1]:3000"}, 200},
		{"local, no origin", true, "localhost:8080", nil, 200},
		{"local, a page", true, "127.0.0.1:8080", []string{"https://evil.example"}, 403},
		{"local, a page with a telling name", true, "127.0.0.1:8080", []string{"http://localhost.evil.example"}, 403},
		{"local, another scheme", true, "127.0.0.1:8080", []string{"file://localhost"}, 403},
		{"local, rebound host", true, "evil.example:8080", nil, 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newKit(t, statusServer, func(o *mrtr.HandlerOptions) {
				o.AllowedOrigins, o.AllowLoopbackOrigins = []string{"https://app.example"}, tt.loopback
			})
			hr := request{name: "plain"}.build()
			hr.Host = tt.host
			if tt.origins != nil {
				hr.Header["Origin"] = tt.origins
			}
			res := serve(t, k.handler, hr)
			require.Equal(t, tt.want, res.status, res.body)
			if tt.want == http.StatusForbidden {
				require.NotNil(t, res.Error)
				require.Empty(t, res.header.Get("Access-Control-Allow-Origin"))
				require.Equal(t, "origin", k.last().Reason)
			}
		})
	}
}

func TestNotification(t *testing.T) {
	for name, body := range map[string]string{
		"known":                 `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,` + metaWith(`{}`) + `}}`,
		"unknown":               `{"jsonrpc":"2.0","method":"notifications/whatever","params":{` + metaWith(`{}`) + `}}`,
		"of a request's name":   `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"panics",` + metaWith(`{}`) + `}}`,
		"of a handshake client": `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, statusServer, nil)
			r := request{body: body}
			if name == "of a handshake client" {
				r.header = map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Method": "notifications/initialized"}
			}
			res := k.do(r)
			require.Equal(t, http.StatusAccepted, res.status)
			require.Empty(t, res.body)
			require.Empty(t, res.header.Get("Content-Type"))
			require.Equal(t, mrtr.OutcomeNotification, k.last().Outcome)
		})
	}
}

// TestArgumentsThatFail: the model reads what is wrong with its arguments, by
// place and rule.
func TestArgumentsThatFail(t *testing.T) {
	for name, tt := range map[string]struct{ args, pointer string }{
		"wrong type": {`{"city":"secret-city","count":"secret-count"}`, `"/count"`},
		"missing":    {`{"count":1}`, `"/city"`},
		"unknown":    {`{"city":"x","count":1,"secret-name":1}`, `""`},
		"fraction":   {`{"city":"x","count":1.5}`, `"/count"`},
		"null":       {`{"city":null,"count":1}`, `"/city"`},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, statusServer, nil)
			res := k.do(request{name: "strict", params: `"arguments":` + tt.args})
			res.failsInWords(t)
			require.Contains(t, res.text(), tt.pointer)
			require.NotContains(t, res.body, "secret")
			require.NotContains(t, k.log(), "secret")
		})
	}
	k := newKit(t, statusServer, nil)
	k.do(request{name: "strict", params: `"arguments":{"city":"Rome","count":2}`}).says(t, "2 to Rome")
}

func TestHandlerErrors(t *testing.T) {
	k := newKit(t, statusServer, nil)
	res := k.do(request{name: "fails"})
	res.failsInWords(t)
	require.NotContains(t, res.body, "secret-cause")
	require.Contains(t, k.log(), "secret-cause", "the cause is in the log")

	res = k.do(request{name: "fails_in_public"})
	res.failsInWords(t)
	require.Equal(t, "no flights on Sunday", res.text())
}

// TestKeysUnavailable: a key service that is down is never reported as a bad
// state, and clients are told when to come again.
func TestKeysUnavailable(t *testing.T) {
	k := newKit(t, statusServer, nil)
	state := k.do(request{name: "greet"}).asks(t, "user_name")
	k.keys.fail(fmt.Errorf("%w: throttled", requeststate.ErrUnavailable))
	for name, r := range map[string]request{
		"sealing": {name: "greet"},
		"opening": {name: "greet", params: retry(state, accept("user_name", `{"name":"Alice"}`))},
	} {
		t.Run(name, func(t *testing.T) {
			res := k.do(r)
			res.failed(t, http.StatusServiceUnavailable, -32603)
			require.NotEmpty(t, res.header.Get("Retry-After"))
			require.Nil(t, res.Error.Data)
			require.Equal(t, "keys_unavailable", k.last().Reason)
		})
	}
	k.do(request{name: "plain"}).says(t, "done") // needs no keys
	k.keys.fail(nil)
	k.do(request{name: "greet", params: retry(state, accept("user_name", `{"name":"Alice"}`))}).says(t, "Hello, Alice!")
}

// TestMissingCapabilities: exactly what is missing is named.
func TestMissingCapabilities(t *testing.T) {
	register := func(s *mrtr.Server) {
		var name nameForm
		var message protocol.CreateMessageResult
		var roots []protocol.Root
		sampling := protocol.CreateMessageParams{MaxTokens: 1, Messages: []protocol.SamplingMessage{{Role: "user", Content: protocol.SamplingContent{protocol.Text("x")}}}}
		withTools := sampling
		withTools.Tools = []protocol.Tool{{Name: "t", InputSchema: jsontext.Value(`{"type":"object"}`)}}
		for key, q := range map[string][]mrtr.Question{
			"form":           {mrtr.Form("k", "?", &name)},
			"url":            {mrtr.URL("k", "?", "https://pay.example/")},
			"sampling":       {mrtr.Sampling("k", sampling, &message)},
			"sampling_tools": {mrtr.Sampling("k", withTools, &message)},
			"roots":          {mrtr.Roots("k", &roots)},
			"all":            {mrtr.Form("a", "?", &name), mrtr.URL("b", "?", "https://pay.example/"), mrtr.Sampling("c", withTools, &message), mrtr.Roots("d", &roots)},
		} {
			tool(s, key, func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
				if err := mrtr.AskAll(c, q...); err != nil {
					return nil, err
				}
				return mrtr.Text("done"), nil
			})
		}
		tool(s, "guard", func(_ context.Context, c *mrtr.Call) (*mrtr.Result, error) {
			return nil, c.RequestInput(protocol.InputRequests{
				{Key: "u", Method: protocol.MethodElicit, Params: jsontext.Value(`{"mode":"url","message":"?","url":"https://pay.example/","elicitationId":"1"}`)},
				{Key: "s", Method: protocol.MethodCreateMessage, Params: jsontext.Value(`{"messages":[],"maxTokens":1,"toolChoice":{"mode":"auto"}}`)},
			}, nil)
		})
		mrtr.AddTool(s, mrtr.Tool{
			Name:  "needs",
			Needs: protocol.ClientCapabilities{Elicitation: &protocol.ElicitationCapability{Form: protocol.Object{}}, Roots: &protocol.RootsCapability{}},
		}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) { panic("the handler ran") })
	}
	for _, tt := range []struct{ tool, caps, missing string }{
		{"form", `{}`, `{"elicitation":{"form":{}}}`},
		{"form", `{"elicitation":{}}`, ``},
		{"form", `{"elicitation":{"form":{}}}`, ``},
		{"form", `{"elicitation":{"url":{}}}`, `{"elicitation":{"form":{}}}`},
		{"url", `{}`, `{"elicitation":{"url":{}}}`},
		{"url", `{"elicitation":{}}`, `{"elicitation":{"url":{}}}`},
		{"url", `{"elicitation":{"form":{}}}`, `{"elicitation":{"url":{}}}`},
		{"url", `{"elicitation":{"url":{}}}`, ``},
		{"sampling", `{"roots":{}}`, `{"sampling":{}}`},
		{"sampling", `{"sampling":{}}`, ``},
		{"sampling_tools", `{}`, `{"sampling":{"tools":{}}}`},
		{"sampling_tools", `{"sampling":{}}`, `{"sampling":{"tools":{}}}`},
		{"sampling_tools", `{"sampling":{"tools":{}}}`, ``},
		{"roots", `{"sampling":{}}`, `{"roots":{}}`},
		{"roots", `{"roots":{}}`, ``},
		{"all", `{}`, `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}`},
		{"all", `{"elicitation":{},"sampling":{}}`, `{"elicitation":{"url":{}},"sampling":{"tools":{}},"roots":{}}`},
		{"all", allCaps, ``},
		{"guard", `{"elicitation":{},"sampling":{}}`, `{"elicitation":{"url":{}},"sampling":{"tools":{}}}`},
		{"guard", allCaps, ``},
		{"needs", `{"elicitation":{"url":{}}}`, `{"elicitation":{"form":{}},"roots":{}}`},
	} {
		t.Run(tt.tool+" "+tt.caps, func(t *testing.T) {
			k := newKit(t, register, nil)
			res := k.do(request{name: tt.tool, caps: tt.caps})
			if tt.missing == "" {
				require.Equal(t, "input_required", res.Result.ResultType, res.body)
				return
			}
			res.failed(t, http.StatusBadRequest, -32021)
			require.JSONEq(t, `{"requiredCapabilities":`+tt.missing+`}`, string(res.Error.Data))
		})
	}
}
