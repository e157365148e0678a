package mrtr

import (
	"bytes"
	"context"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// request is one decoded request, on its way through the server.
type request struct {
	jsonrpc.Request
	handler   *handler
	http      *http.Request
	stream    *stream
	params    params
	version   string // protocol version
	handshake bool   // of the era before 2026-07-28
	caps      protocol.ClientCapabilities
	logLevel  protocol.LoggingLevel // least severe that the client wants; empty: none
	vars      map[string]string     // of a resource template, in the URI that was asked for
	info      *RoundInfo
	observed  context.Context // what the observers made of the request's; nil: they have not been told
	ends      []func()        // of observers
}

// params holds the members that requests have, raw: what is wrong with one is
// decided where it is used.
type params struct {
	Meta           meta
	Name           jsontext.Value
	URI            jsontext.Value
	Arguments      jsontext.Value
	InputResponses jsontext.Value
	RequestState   jsontext.Value
	Cursor         jsontext.Value
}

// meta holds the _meta members that this server reads.
type meta struct {
	ProtocolVersion    jsontext.Value
	ClientInfo         jsontext.Value
	ClientCapabilities jsontext.Value
	LogLevel           jsontext.Value
	ProgressToken      jsontext.Value
	Traceparent        jsontext.Value
	Tracestate         jsontext.Value
	Baggage            jsontext.Value
	TraceLink          jsontext.Value
}

// decoded are the options for parts of a body that jsonrpc.Parse has already
// found to be strict JSON.
var decoded = json.JoinOptions(jsontext.AllowDuplicateNames(true))

// unmarshal reads a part of such a body.
func unmarshal(b jsontext.Value, v any) error { return json.Unmarshal(b, v, decoded) }

// emptyObject stands for what was left out.
var emptyObject = jsontext.Value(`{}`)

// arguments returns the call's arguments, {} where there are none.
func (r *request) arguments() (jsontext.Value, error) {
	switch a := r.params.Arguments; a.Kind() {
	case 0:
		return emptyObject, nil
	case '{':
		return a, nil
	}
	return nil, invalidParams("arguments must be an object")
}

// decodeParams reads the request's params. Values stay parts of the body.
func (r *request) decodeParams() error {
	if r.Params == nil {
		return nil
	}
	p := &r.params
	return jsonrpc.Walk(r.Params, func(name []byte, v jsontext.Value) error {
		switch string(name) {
		case "_meta":
			if v.Kind() != '{' {
				return invalidParams("_meta must be an object")
			}
			return p.Meta.decode(v)
		case "name":
			p.Name = v
		case "uri":
			p.URI = v
		case "arguments":
			p.Arguments = v
		case "inputResponses":
			p.InputResponses = v
		case "requestState":
			p.RequestState = v
		case "cursor":
			p.Cursor = v
		}
		return nil
	})
}

func (m *meta) decode(raw jsontext.Value) error {
	return jsonrpc.Walk(raw, func(name []byte, v jsontext.Value) error {
		switch string(name) {
		case protocol.MetaProtocolVersion:
			m.ProtocolVersion = v
		case protocol.MetaClientInfo:
			m.ClientInfo = v
		case protocol.MetaClientCapabilities:
			m.ClientCapabilities = v
		case protocol.MetaLogLevel:
			m.LogLevel = v
		case protocol.MetaProgressToken:
			m.ProgressToken = v
		case protocol.MetaTraceparent:
			m.Traceparent = v
		case protocol.MetaTracestate:
			m.Tracestate = v
		case protocol.MetaBaggage:
			m.Baggage = v
		case MetaTraceLink:
			m.TraceLink = v
		case MetaTraceLinkOther:
			if m.TraceLink == nil {
				m.TraceLink = v
			}
		}
		return nil
	})
}

// served are the versions of the modern era, newest first.
var served = []string{protocol.Version20260728}

// checkModern holds a request against the rules of the modern era: its _meta,
// then its headers, then the version.
func (r *request) checkModern() error {
	m := &r.params.Meta
	version, ok := textOf(m.ProtocolVersion)
	if !ok {
		return invalidParams("_meta needs " + protocol.MetaProtocolVersion + ", a string")
	}
	if m.ClientCapabilities.Kind() != '{' {
		return invalidParams("_meta needs " + protocol.MetaClientCapabilities + ", an object")
	}
	if err := r.checkHeaders(version); err != nil {
		return err
	}
	at := slices.IndexFunc(served, func(v string) bool { return v == string(version) })
	if at < 0 {
		return fail(http.StatusBadRequest, protocol.CodeUnsupportedProtocolVersion, "Unsupported protocol version").
			with(protocol.UnsupportedProtocolVersionData{Supported: served, Requested: string(version)})
	}
	r.version = served[at]
	if !r.decodeCapabilities(m.ClientCapabilities) {
		return invalidParams(protocol.MetaClientCapabilities + " is not of the right form")
	}
	if m.LogLevel != nil {
		level, ok := stringOf(m.LogLevel)
		if r.logLevel = protocol.LoggingLevel(level); !ok || !r.logLevel.Known() {
			return invalidParams(protocol.MetaLogLevel + " is no log level")
		}
	}
	return nil
}

// decodeCapabilities reads what the client declared, and reports whether it is
// of the right form.
func (r *request) decodeCapabilities(raw jsontext.Value) bool {
	// Most clients declare a few empty objects: those are read here.
	plain := true
	_ = jsonrpc.Walk(raw, func(name []byte, v jsontext.Value) error {
		switch {
		case string(v) != "{}":
			plain = false
		case string(name) == "elicitation":
			r.caps.Elicitation = &protocol.ElicitationCapability{}
		case string(name) == "sampling":
			r.caps.Sampling = &protocol.SamplingCapability{}
		case string(name) == "roots":
			r.caps.Roots = &protocol.RootsCapability{}
		default:
			plain = false
		}
		return nil
	})
	if plain {
		return true
	}
	r.caps = protocol.ClientCapabilities{}
	return unmarshal(raw, &r.caps) == nil
}

// modern reports whether a request is of the era that began with 2026-07-28:
// it has a _meta field of that era, or a version header that no handshake
// client sends, or asks for discovery.
func (r *request) modern() bool {
	m := &r.params.Meta
	if m.ProtocolVersion != nil || m.ClientInfo != nil || m.ClientCapabilities != nil || m.LogLevel != nil || r.Method == protocol.MethodDiscover {
		return true
	}
	if r.Method == protocol.MethodInitialize {
		return false // whatever version its header names: the handshake settles that
	}
	version := r.http.Header.Get(jsonrpc.HeaderProtocolVersion)
	return version != "" && !slices.Contains(handshakeVersions, version)
}

// checkMirrors holds the headers that mirror the body against it, where a
// handshake client sends them at all: something on the way may go by them.
func (r *request) checkMirrors() error {
	if r.http.Header[jsonrpc.HeaderMethod] != nil {
		if err := r.checkHeader(jsonrpc.HeaderMethod, "Mcp-Method", []byte(r.Method), false); err != nil {
			return err
		}
	}
	if name, ok := r.named(); ok && r.http.Header[jsonrpc.HeaderName] != nil {
		return r.checkHeader(jsonrpc.HeaderName, "Mcp-Name", name, true)
	}
	return nil
}

// named returns what Mcp-Name mirrors; false where the method has none, or its
// params lack it, which the method itself says.
func (r *request) named() ([]byte, bool) {
	switch r.Method {
	case protocol.MethodCallTool, protocol.MethodGetPrompt:
		return textOf(r.params.Name)
	case protocol.MethodReadResource:
		return textOf(r.params.URI)
	}
	return nil, false
}

// checkHeaders holds the request's headers against its body.
func (r *request) checkHeaders(version []byte) error {
	if err := r.checkHeader(jsonrpc.HeaderProtocolVersion, "MCP-Protocol-Version", version, false); err != nil {
		return err
	}
	if err := r.checkHeader(jsonrpc.HeaderMethod, "Mcp-Method", []byte(r.Method), false); err != nil {
		return err
	}
	if name, ok := r.named(); ok {
		return r.checkHeader(jsonrpc.HeaderName, "Mcp-Name", name, true)
	}
	return nil
}

// checkHeader holds one required header against the body's value. encoded: the
// Base64 sentinel form is allowed.
func (r *request) checkHeader(header, shown string, want []byte, encoded bool) error {
	values := r.http.Header[header]
	if len(values) == 0 || values[0] == "" && len(want) > 0 {
		return headerMismatch(shown + " is missing")
	}
	got, ok := values[0], true
	if encoded {
		got, ok = jsonrpc.DecodeHeaderValue(got)
	}
	if !ok || len(values) > 1 || got != string(want) {
		return headerMismatch(shown + " does not match the body")
	}
	return nil
}

// stringOf returns the string that v holds. It reports false for anything
// else, an absent value included.
func stringOf(v jsontext.Value) (string, bool) {
	b, ok := textOf(v)
	return string(b), ok
}

// textOf is stringOf without a copy: the bytes are those of v where it has no
// escapes.
func textOf(v jsontext.Value) ([]byte, bool) {
	if v.Kind() != '"' {
		return nil, false
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1 : len(v)-1], true
	}
	b, err := jsontext.AppendUnquote(make([]byte, 0, len(v)), v)
	if err != nil {
		return nil, false
	}
	return b, true
}
