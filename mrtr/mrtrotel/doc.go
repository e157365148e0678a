// Package mrtrotel makes OpenTelemetry spans of an MCP server's requests: one
// server span a request, and links between the rounds of a flow.
//
//	handler, err := srv.Handler(mrtr.HandlerOptions{
//		…
//		Observers: []mrtr.Observer{mrtrotel.Observer(provider, nil)},
//	})
//
// It needs the API of OpenTelemetry alone. Where spans go is the provider's
// matter; see package otlp for one that is set up by environment variables.
//
// # Trace context
//
// A span's parent is the trace context in the request's _meta (traceparent and
// tracestate, SEP-414), which is where MCP carries it whatever the transport.
// A span that is in the request's context already, such as that of an HTTP
// instrumentation in front of the server, is linked; without trace context in
// _meta it is the parent. HTTP headers are not read. Baggage in _meta is
// dropped unless Options.Baggage asks for it. A value that is not in the form of
// W3C Trace Context or W3C Baggage counts as absent, and nothing is said of it
// anywhere.
//
// The handler's context carries the span, so that spans of its own are children.
//
// # Links
//
// A flow's second and later rounds are linked to the span of its first one. That
// span's context travels in the sealed state, so this works with every client. A
// client may also send what it takes for the first round's context in _meta,
// under mrtr.MetaTraceLink or mrtr.MetaTraceLinkOther: that is linked too.
//
// # Attributes
//
// Names follow the semantic conventions for MCP, which are in development. The
// span is named "{method} {target}" where the target is a tool or a prompt.
//
//	mcp.method.name           _OTHER for a method that no client has
//	mcp.protocol.version
//	jsonrpc.request.id        up to 64 bytes
//	gen_ai.operation.name     execute_tool, of tools/call
//	gen_ai.tool.name          registered tools only
//	gen_ai.prompt.name        registered prompts only
//	mcp.resource.uri          as registered: of a template the template, not what the client named
//	network.transport         tcp
//	network.protocol.name     http
//	rpc.response.status_code  JSON-RPC error code
//	error.type                that code, tool_error, or the HTTP status of an error without a code
//	mrtr.round                from 1
//	mrtr.flow_id              of a flow that was begun or continued
//	mrtr.outcome              an mrtr.Outcome
//	mrtr.reason               why it was not served, such as why a state was refused
//	faas.coldstart            true on a process's first request
//
// The status is Error where error.type is set. No span ever holds an argument,
// an answer, a result, a state, or the text of an error.
package mrtrotel
