package mrtr_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// The tests here hold what the suite's fixture met and the suite does not judge.

// regressServer serves what register registers.
func regressServer(t *testing.T, info protocol.Implementation, opts *mrtr.ServerOptions, register func(*mrtr.Server)) http.Handler {
	t.Helper()
	keys, err := requeststate.NewStaticKeys(bytes.Repeat([]byte("r"), requeststate.MinSecretSize))
	require.NoError(t, err)
	s := mrtr.NewServer(info, opts)
	register(s)
	h, err := s.Handler(mrtr.HandlerOptions{Keys: keys, Audience: "regress", Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return h
}

// regressReply is a JSON-RPC response as a client sees it.
type regressReply struct {
	status int
	Result jsontext.Value `json:"result"`
	Error  struct {
		Code int `json:"code"`
	} `json:"error"`
}

// regressModern sends a request of 2026-07-28; name is what Mcp-Name says.
func regressModern(t *testing.T, h http.Handler, method, name string, params map[string]any) regressReply {
	t.Helper()
	params["_meta"] = map[string]any{protocol.MetaProtocolVersion: protocol.Version20260728, protocol.MetaClientCapabilities: map[string]any{}}
	header := http.Header{"Mcp-Protocol-Version": {protocol.Version20260728}, "Mcp-Method": {method}}
	if name != "" {
		header.Set("Mcp-Name", name)
	}
	return regressPost(t, h, header, method, params)
}

func regressPost(t *testing.T, h http.Handler, header http.Header, method string, params map[string]any) regressReply {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	require.NoError(t, err)
	r := httptest.NewRequest("POST", "/mcp", bytes.NewReader(body))
	r.Header = header
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	reply := regressReply{status: w.Code}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &reply), "%s", w.Body)
	return reply
}

var regressInfo = protocol.Implementation{Name: "regress", Version: "1"}

// TestTemplateURIs reads what templates name. The hostile URIs have so many
// list elements that taking one apart would outlast every test's patience.
func TestTemplateURIs(t *testing.T) {
	h := regressServer(t, regressInfo, nil, func(s *mrtr.Server) {
		for _, template := range []string{"t://one/{id}", "t://two/{x}{?q}", "t://two/{x}{?r}", "t://path{/p*}"} {
			mrtr.AddResourceTemplate(s, mrtr.ResourceTemplate{URITemplate: template, Name: template},
				func(_ context.Context, _ *mrtr.Call, uri string, vars map[string]string) ([]protocol.ResourceContents, error) {
					b, err := json.Marshal(vars, json.Deterministic(true))
					return []protocol.ResourceContents{{URI: uri, Text: template + " " + string(b)}}, err
				})
		}
	})
	for _, tt := range []struct{ name, uri, want string }{
		{"plain", "t://one/7", `t://one/{id} {"id":"7"}`},
		{"decoded", "t://one/a%2Fb", `t://one/{id} {"id":"a/b"}`},
		{"empty", "t://one/", `t://one/{id} {"id":""}`},
		{"a list", "t://one/a,b", `t://one/{id} {"id":"a,b"}`},
		{"a path", "t://path/a/b/c", `t://path{/p*} {"p":"a,b,c"}`},
		{"a query", "t://two/a?q=1", `t://two/{x}{?q} {"q":"1","x":"a"}`},
		{"another template's query", "t://two/a?r=1", `t://two/{x}{?r} {"r":"1","x":"a"}`},
		{"nothing", "t://three/a", ""},
		{"more than the template has", "t://one/7/8", ""},
		{"hostile list", "t://one/" + strings.Repeat("a,", 200_000), ""},
		{"hostile path", "t://path" + strings.Repeat("/a", 200_000), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply := regressModern(t, h, "resources/read", tt.uri, map[string]any{"uri": tt.uri})
			if tt.want == "" {
				require.Equal(t, http.StatusBadRequest, reply.status)
				require.Equal(t, -32602, reply.Error.Code)
				return
			}
			var res protocol.ReadResourceResult
			require.NoError(t, json.Unmarshal(reply.Result, &res))
			require.Equal(t, tt.want, res.Contents[0].Text)
		})
	}
	t.Run("completion of a hostile URI", func(t *testing.T) {
		h := regressServer(t, regressInfo, nil, func(s *mrtr.Server) {
			mrtr.AddResourceTemplate(s, mrtr.ResourceTemplate{
				URITemplate: "t://one/{id}", Name: "one",
				Complete: map[string]mrtr.Completer{"id": func(context.Context, string, map[string]string) ([]string, error) { return nil, nil }},
			}, func(context.Context, *mrtr.Call, string, map[string]string) ([]protocol.ResourceContents, error) {
				return nil, nil
			})
		})
		reply := regressModern(t, h, "completion/complete", "", map[string]any{
			"ref":      map[string]any{"type": "ref/resource", "uri": "t://one/" + strings.Repeat("a,", 200_000)},
			"argument": map[string]any{"name": "id", "value": ""},
		})
		require.Equal(t, -32602, reply.Error.Code)
	})
}

func addRegressPrompt(complete map[string]mrtr.Completer) func(*mrtr.Server) {
	return func(s *mrtr.Server) {
		mrtr.AddPrompt(s, mrtr.Prompt{
			Name: "p", Arguments: []protocol.PromptArgument{{Name: "a", Required: true}, {Name: "b"}}, Complete: complete,
		}, func(_ context.Context, _ *mrtr.Call, args map[string]string) (*protocol.GetPromptResult, error) {
			return &protocol.GetPromptResult{Messages: []protocol.PromptMessage{{Role: "user", Content: protocol.Text(args["a"] + args["b"])}}}, nil
		})
	}
}

// TestCompletionNotOffered: a server without completers does not have the
// capability, so it does not have the method.
func TestCompletionNotOffered(t *testing.T) {
	h := regressServer(t, regressInfo, nil, addRegressPrompt(nil))
	params := func() map[string]any {
		return map[string]any{"ref": map[string]any{"type": "ref/prompt", "name": "p"}, "argument": map[string]any{"name": "a", "value": ""}}
	}
	reply := regressModern(t, h, "completion/complete", "", params())
	require.Equal(t, http.StatusNotFound, reply.status)
	require.Equal(t, -32601, reply.Error.Code)
	reply = regressPost(t, h, http.Header{}, "completion/complete", params())
	require.Equal(t, http.StatusOK, reply.status)
	require.Equal(t, -32601, reply.Error.Code)
}

// TestStringsOnly: the arguments of prompts and completions are strings, and
// null is none.
func TestStringsOnly(t *testing.T) {
	h := regressServer(t, regressInfo, nil, addRegressPrompt(map[string]mrtr.Completer{
		"a": func(_ context.Context, typed string, others map[string]string) ([]string, error) {
			return []string{typed + others["b"]}, nil
		},
	}))
	object := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	ref := object("type", "ref/prompt", "name", "p")
	for _, tt := range []struct {
		name, method string
		params       map[string]any
		code         int
	}{
		{"prompt", "prompts/get", object("name", "p", "arguments", object("a", "x", "b", "y")), 0},
		{"prompt without the other argument", "prompts/get", object("name", "p", "arguments", object("a", "")), 0},
		{"prompt with null", "prompts/get", object("name", "p", "arguments", object("a", nil)), -32602},
		{"prompt with another null", "prompts/get", object("name", "p", "arguments", object("a", "x", "b", nil)), -32602},
		{"prompt with a number", "prompts/get", object("name", "p", "arguments", object("a", 1)), -32602},
		{"prompt without the required", "prompts/get", object("name", "p", "arguments", object("b", "y")), -32602},
		{"completion", "completion/complete", object("ref", ref, "argument", object("name", "a", "value", "v"), "context", object("arguments", object("b", "w"))), 0},
		{"completion with an empty context", "completion/complete", object("ref", ref, "argument", object("name", "a", "value", ""), "context", object()), 0},
		{"completion without value", "completion/complete", object("ref", ref, "argument", object("name", "a")), -32602},
		{"completion of null", "completion/complete", object("ref", ref, "argument", object("name", "a", "value", nil)), -32602},
		{"completion with null beside it", "completion/complete", object("ref", ref, "argument", object("name", "a", "value", ""), "context", object("arguments", object("b", nil))), -32602},
		{"completion without params", "completion/complete", object(), -32602},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name := ""
			if tt.method == "prompts/get" {
				name = "p"
			}
			require.Equal(t, tt.code, regressModern(t, h, tt.method, name, tt.params).Error.Code)
		})
	}
}

// TestOldRevisions: what a handshake client is told has no member that its
// revision does not know.
func TestOldRevisions(t *testing.T) {
	icons := []protocol.Icon{{Src: "https://icons.example/i.png"}}
	info := protocol.Implementation{Name: "regress", Version: "1", Description: "d", WebsiteURL: "https://w.example", Icons: icons}
	h := regressServer(t, info, &mrtr.ServerOptions{Extensions: protocol.Object{"com.example/x": jsontext.Value(`{}`)}}, func(s *mrtr.Server) {
		mrtr.AddTool(s, mrtr.Tool{Name: "t", Icons: icons}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) { return nil, nil })
		mrtr.AddPrompt(s, mrtr.Prompt{Name: "p", Icons: icons}, func(context.Context, *mrtr.Call, map[string]string) (*protocol.GetPromptResult, error) {
			return nil, nil
		})
		mrtr.AddResource(s, mrtr.Resource{URI: "r://r", Name: "r", Icons: icons}, func(context.Context, *mrtr.Call) ([]protocol.ResourceContents, error) { return nil, nil })
		mrtr.AddResourceTemplate(s, mrtr.ResourceTemplate{URITemplate: "t://{t}", Name: "t", Icons: icons},
			func(context.Context, *mrtr.Call, string, map[string]string) ([]protocol.ResourceContents, error) {
				return nil, nil
			})
	})
	for _, tt := range []struct {
		version string
		icons   bool
	}{{protocol.Version20250618, false}, {protocol.Version20251125, true}} {
		t.Run(tt.version, func(t *testing.T) {
			result := func(method string, params map[string]any) string {
				t.Helper()
				reply := regressPost(t, h, http.Header{"Mcp-Protocol-Version": {tt.version}}, method, params)
				require.Equal(t, http.StatusOK, reply.status)
				require.NotEmpty(t, reply.Result)
				return string(reply.Result)
			}
			opened := result("initialize", map[string]any{"protocolVersion": tt.version, "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "c", "version": "1"}})
			require.NotContains(t, opened, "extensions")
			for _, member := range []string{"icons", "description", "websiteUrl"} {
				require.Equal(t, tt.icons, strings.Contains(opened, `"`+member+`"`), "%s", member)
			}
			for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list"} {
				list := result(method, map[string]any{})
				require.Equal(t, tt.icons, strings.Contains(list, `"icons"`), "%s", method)
				require.NotContains(t, list, "ttlMs")
				require.NotContains(t, list, "resultType")
			}
		})
	}
}
