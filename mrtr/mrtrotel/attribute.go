package mrtrotel

import (
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Keys of attributes.
const (
	keyMethod          = attribute.Key("mcp.method.name")
	keyProtocolVersion = attribute.Key("mcp.protocol.version")
	keyResource        = attribute.Key("mcp.resource.uri")
	keyRequestID       = attribute.Key("jsonrpc.request.id")
	keyOperation       = attribute.Key("gen_ai.operation.name")
	keyTool            = attribute.Key("gen_ai.tool.name")
	keyPrompt          = attribute.Key("gen_ai.prompt.name")
	keyTransport       = attribute.Key("network.transport")
	keyProtocol        = attribute.Key("network.protocol.name")
	keyCode            = attribute.Key("rpc.response.status_code")
	keyErrorType       = attribute.Key("error.type")
	keyCold            = attribute.Key("faas.coldstart")

	keyRound   = attribute.Key("mrtr.round")
	keyFlow    = attribute.Key("mrtr.flow_id")
	keyOutcome = attribute.Key("mrtr.outcome")
	keyReason  = attribute.Key("mrtr.reason")
)

// methodName returns the method, or what stands for one that is unknown: a
// caller's text is no name.
func methodName(info *mrtr.RoundInfo) string {
	if info.Method == "" {
		return "_OTHER"
	}
	return info.Method
}

// spanName returns "{method} {target}". Resources are left out of it, as the
// conventions have it.
func spanName(info *mrtr.RoundInfo) string {
	switch info.Method {
	case protocol.MethodCallTool, protocol.MethodGetPrompt:
		if info.Target != "" {
			return info.Method + " " + info.Target
		}
	}
	return methodName(info)
}

// known returns what is known when a request has been decoded, so that samplers
// can see it.
func known(info *mrtr.RoundInfo) []attribute.KeyValue {
	kv := append(make([]attribute.KeyValue, 0, 6),
		keyMethod.String(methodName(info)), keyTransport.String("tcp"), keyProtocol.String("http"))
	if info.RequestID != "" {
		kv = append(kv, keyRequestID.String(info.RequestID))
	}
	if info.Method == protocol.MethodCallTool {
		kv = append(kv, keyOperation.String("execute_tool"))
	}
	if info.Cold {
		kv = append(kv, keyCold.Bool(true))
	}
	return kv
}

// learned returns what is known in the end, and whether the request failed.
func learned(info *mrtr.RoundInfo) (kv []attribute.KeyValue, failed bool) {
	kv = append(make([]attribute.KeyValue, 0, 8), keyOutcome.String(string(info.Outcome)))
	text := func(key attribute.Key, value string) {
		if value != "" {
			kv = append(kv, key.String(value))
		}
	}
	text(keyProtocolVersion, info.Version)
	switch info.Method {
	case protocol.MethodCallTool:
		text(keyTool, info.Target)
	case protocol.MethodGetPrompt:
		text(keyPrompt, info.Target)
	case protocol.MethodReadResource:
		text(keyResource, info.Target)
	}
	if info.Round > 0 {
		kv = append(kv, keyRound.Int(info.Round))
	}
	text(keyFlow, info.FlowID)
	text(keyReason, info.Reason)
	switch {
	case info.Code != 0:
		code := strconv.Itoa(info.Code)
		return append(kv, keyCode.String(code), keyErrorType.String(code)), true
	case info.Outcome == mrtr.OutcomeToolError:
		return append(kv, keyErrorType.String("tool_error")), true
	case info.Outcome == mrtr.OutcomeRPCError || info.Outcome == mrtr.OutcomeRefused:
		return append(kv, keyErrorType.String(strconv.Itoa(info.Status))), true
	}
	return kv, false
}
