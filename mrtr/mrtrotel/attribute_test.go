package mrtrotel_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
)

func TestAttributes(t *testing.T) {
	id := strings.Repeat("i", 63)
	for _, tt := range []struct {
		name    string
		request request
		span    string
		failed  bool
		want    map[string]string // beside those of every span
	}{
		{"tool that asks", request{name: "order", members: arguments, id: `"one"`}, "tools/call order", false, map[string]string{
			"mcp.method.name": "tools/call", "mcp.protocol.version": "2026-07-28", "jsonrpc.request.id": "one",
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "order",
			"mrtr.round": "1", "mrtr.outcome": "input_required", "mrtr.flow_id": "*",
		}},
		{"tool error", request{name: "fail"}, "tools/call fail", true, map[string]string{
			"mcp.method.name": "tools/call", "mcp.protocol.version": "2026-07-28", "jsonrpc.request.id": "1",
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "fail", "error.type": "tool_error",
			"mrtr.round": "1", "mrtr.outcome": "tool_error",
		}},
		{"panic", request{name: "panic", id: "12345678901234567890"}, "tools/call panic", true, map[string]string{
			"mcp.method.name": "tools/call", "mcp.protocol.version": "2026-07-28", "jsonrpc.request.id": "12345678901234567890",
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "panic", "error.type": "-32603", "rpc.response.status_code": "-32603",
			"mrtr.round": "1", "mrtr.outcome": "error", "mrtr.reason": "panic",
		}},
		{"unknown tool", request{name: "secret tool"}, "tools/call", true, map[string]string{
			"mcp.method.name": "tools/call", "mcp.protocol.version": "2026-07-28", "jsonrpc.request.id": "1",
			"gen_ai.operation.name": "execute_tool", "error.type": "-32602", "rpc.response.status_code": "-32602", "mrtr.outcome": "error",
		}},
		{"refused state", request{name: "order", members: arguments + `,"requestState":"secretstate"`}, "tools/call order", true, map[string]string{
			"mcp.method.name": "tools/call", "mcp.protocol.version": "2026-07-28", "jsonrpc.request.id": "1",
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "order", "error.type": "-32602", "rpc.response.status_code": "-32602",
			"mrtr.outcome": "refused", "mrtr.reason": "malformed",
		}},
		{"prompt", request{method: "prompts/get", name: "greet", id: `"` + id + `é"`}, "prompts/get greet", false, map[string]string{
			"mcp.method.name": "prompts/get", "mcp.protocol.version": "2026-07-28", "gen_ai.prompt.name": "greet", "mrtr.round": "1", "mrtr.outcome": "complete",
		}},
		{"resource of a template", request{method: "resources/read", name: "note:///secret"}, "resources/read", false, map[string]string{
			"mcp.method.name": "resources/read", "mcp.protocol.version": "2026-07-28", "jsonrpc.request.id": "1", "mcp.resource.uri": "note:///{id}", "mrtr.round": "1", "mrtr.outcome": "complete",
		}},
		{"list", request{method: "tools/list"}, "tools/list", false, map[string]string{
			"mcp.method.name": "tools/list", "mcp.protocol.version": "2026-07-28", "jsonrpc.request.id": "1", "mrtr.outcome": "complete",
		}},
		{"unknown method", request{method: "secret/method"}, "_OTHER", true, map[string]string{
			"mcp.method.name": "_OTHER", "mcp.protocol.version": "2026-07-28", "jsonrpc.request.id": "1", "error.type": "-32601", "rpc.response.status_code": "-32601", "mrtr.outcome": "error",
		}},
		{"notification", request{method: "notifications/cancelled", id: "-"}, "notifications/cancelled", false, map[string]string{
			"mcp.method.name": "notifications/cancelled", "mrtr.outcome": "notification",
		}},
		{"no JSON", request{body: "secret"}, "_OTHER", true, map[string]string{
			"mcp.method.name": "_OTHER", "error.type": "-32700", "rpc.response.status_code": "-32700", "mrtr.outcome": "error",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newKit(t, nil)
			k.send(request{method: "tools/list"})
			require.Equal(t, "true", attributes(k.last())["faas.coldstart"])
			k.send(tt.request)
			s := k.last()
			require.Equal(t, tt.span, s.Name())
			require.NotContains(t, text(s), "secret")
			got := attributes(s)
			if tt.want["mrtr.flow_id"] != "" {
				require.Len(t, got["mrtr.flow_id"], 32)
				got["mrtr.flow_id"] = tt.want["mrtr.flow_id"]
			}
			tt.want["network.transport"], tt.want["network.protocol.name"] = "tcp", "http"
			require.Equal(t, tt.want, got)
			want := codes.Unset
			if tt.failed {
				want = codes.Error
			}
			require.Equal(t, want, s.Status().Code)
			require.Empty(t, s.Status().Description)
			require.Empty(t, s.Events())
		})
	}
}

// TestHandshakeSession: an error without a JSON-RPC code has its HTTP status.
func TestHandshakeSession(t *testing.T) {
	k := newKit(t, nil)
	hr := request{body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`}.build(t)
	hr.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"*/*"}, "Mcp-Session-Id": {"secret"}}
	k.handler.ServeHTTP(discard{http.Header{}}, hr)
	a := attributes(k.last())
	require.Equal(t, "404", a["error.type"])
	require.Equal(t, "session_malformed", a["mrtr.reason"])
	require.Equal(t, "tools/list", k.last().Name())
	require.NotContains(t, text(k.last()), "secret")
}

// discard is a response that nobody reads.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) WriteHeader(int)             {}
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
