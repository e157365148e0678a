package mrtr

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// Clients of 2025-11-25 and before open with initialize. They are served by the
// same stateless code: what they declared travels in the session id, which is a
// sealed token.

// handshakeVersions are the versions of that era that are served, newest first.
var handshakeVersions = []string{protocol.Version20251125, protocol.Version20250618}

// handshakeLogLevel is what such clients get of a handler's log: they have no
// level a request, and logging/setLevel would need a session.
const handshakeLogLevel = protocol.LevelInfo

// errNoSession is what a client with an unknown session id gets: 404 and an
// empty body, upon which it initializes anew.
func errNoSession(err error) *failure {
	f := asFailure(err)
	if f.status == http.StatusServiceUnavailable {
		return f
	}
	return (&failure{status: http.StatusNotFound}).because("session_"+f.reason, err)
}

// serveHandshake answers a request of a handshake client.
func (h *handler) serveHandshake(ctx context.Context, r *request) (jsontext.Value, error) {
	r.handshake, r.version, r.logLevel = true, handshakeVersions[0], handshakeLogLevel
	if v := r.http.Header.Get(jsonrpc.HeaderProtocolVersion); v != "" {
		r.version = v
	}
	if r.Method == protocol.MethodInitialize {
		return r.response(h.initialize(ctx, r))
	}
	if err := h.openSession(ctx, r); err != nil {
		return nil, err
	}
	if r.IsNotification() {
		return nil, nil
	}
	switch r.Method {
	case protocol.MethodPing, protocol.MethodSetLevel:
		return r.response(emptyObject, nil)
	}
	// A client of that era does not cancel by closing its connection.
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(context.WithoutCancel(ctx), deadline)
		defer cancel()
	} else {
		ctx = context.WithoutCancel(ctx)
	}
	return h.dispatch(ctx, r)
}

// initialize answers the handshake. It fails over no version: a client that
// does not know the one it gets leaves.
func (h *handler) initialize(ctx context.Context, r *request) (jsontext.Value, error) {
	var p struct {
		Version      jsontext.Value `json:"protocolVersion"`
		Capabilities jsontext.Value `json:"capabilities"`
	}
	if unmarshal(r.Params, &p) != nil {
		return nil, invalidParams("protocolVersion is required")
	}
	version, ok := stringOf(p.Version)
	if !ok {
		return nil, invalidParams("protocolVersion is required")
	}
	if r.version = version; !slices.Contains(handshakeVersions, version) {
		r.version = handshakeVersions[0]
	}
	if p.Capabilities != nil && unmarshal(p.Capabilities, &r.caps) != nil {
		return nil, invalidParams("capabilities is not of the right form")
	}
	id, err := h.sealSession(ctx, r)
	if err != nil {
		return nil, err
	}
	r.stream.w.Header().Set(jsonrpc.HeaderSessionID, id)
	info, caps := h.server.info, h.capabilities()
	if r.version < protocol.Version20251125 {
		info.Description, info.WebsiteURL, info.Icons = "", "", nil
	}
	caps.Extensions = nil // not known before 2026-07-28
	return r.encodeResult(struct {
		Version      string                      `json:"protocolVersion"`
		Capabilities protocol.ServerCapabilities `json:"capabilities"`
		Info         protocol.Implementation     `json:"serverInfo"`
		Instructions string                      `json:"instructions,omitzero"`
	}{r.version, caps, info, h.server.opts.Instructions}, nil)
}

// What a session id's body says: the place of the version in the list below,
// and what the client declared, a bit each.
const (
	sessionForm byte = 1 << iota
	sessionURL
	sessionSampling
	sessionSamplingTools
	sessionRoots
)

// sessionVersions must keep its order: session ids outlive a deploy.
var sessionVersions = []string{protocol.Version20250618, protocol.Version20251125}

func (h *handler) sealSession(ctx context.Context, r *request) (string, error) {
	now := h.opts.Now()
	c := requeststate.Claims{
		Audience: h.audience, Principal: principalDigest(r.http.Context()), Method: protocol.MethodInitialize,
		Arguments: emptyArguments, IssuedAt: now, RoundExpiry: now.Add(h.opts.SessionTTL), FlowDeadline: now.Add(h.opts.SessionTTL),
	}
	c.NewFlow()
	var bits byte
	for _, b := range [...]struct {
		bit byte
		on  bool
	}{
		{sessionForm, r.caps.SupportsForm()},
		{sessionURL, r.caps.SupportsURL()},
		{sessionSampling, r.caps.SupportsSampling()},
		{sessionSamplingTools, r.caps.SupportsSamplingTools()},
		{sessionRoots, r.caps.SupportsRoots()},
	} {
		if b.on {
			bits |= b.bit
		}
	}
	body := []byte{byte(slices.Index(sessionVersions, r.version)), bits}
	return requeststate.Seal(ctx, h.opts.Keys, requeststate.PurposeSession, c, body, 0)
}

// openSession reads the session id, if there is one: without, a client is
// served as one that declared nothing.
func (h *handler) openSession(ctx context.Context, r *request) error {
	ids := r.http.Header[jsonrpc.HeaderSessionID]
	if len(ids) == 0 {
		return nil
	}
	_, body, err := requeststate.Open(ctx, h.opts.Keys, ids[0], requeststate.Binding{
		Purpose: requeststate.PurposeSession, Audience: h.audience, Principal: principalDigest(r.http.Context()),
		Method: protocol.MethodInitialize, Arguments: emptyArguments,
	}, requeststate.OpenOptions{Now: h.opts.Now()})
	if err != nil {
		return errNoSession(err)
	}
	if len(body) != 2 || int(body[0]) >= len(sessionVersions) {
		return errNoSession(&requeststate.RefusedError{Reason: requeststate.ReasonClaims})
	}
	r.version = sessionVersions[body[0]]
	has := func(bit byte) bool { return body[1]&bit != 0 }
	if has(sessionForm) || has(sessionURL) {
		r.caps.Elicitation = &protocol.ElicitationCapability{}
		if has(sessionForm) {
			r.caps.Elicitation.Form = protocol.Object{}
		}
		if has(sessionURL) {
			r.caps.Elicitation.URL = protocol.Object{}
		}
	}
	if has(sessionSampling) {
		r.caps.Sampling = &protocol.SamplingCapability{}
		if has(sessionSamplingTools) {
			r.caps.Sampling.Tools = protocol.Object{}
		}
	}
	if has(sessionRoots) {
		r.caps.Roots = &protocol.RootsCapability{}
	}
	return nil
}

var emptyArguments = func() requeststate.Digest {
	d, _ := requeststate.ArgumentsDigest(nil) // of {}, which is valid
	return d
}()

// askHandshake answers a handshake client when a handler must ask. Its revision
// has no input_required, so the result of a tool says in words what is needed
// and, for a client that can answer, carries the questions and the state beside
// them: its retry is accepted.
func (h *handler) askHandshake(ctx context.Context, c *Call, requests protocol.InputRequests, lacking bool) (jsontext.Value, error) {
	if c.target.purpose != requeststate.PurposeTool {
		return nil, notATool("This needs input that the client's protocol version cannot be asked for", "cannot_ask", nil)
	}
	if lacking {
		return h.cannotAsk(c.request, c.target, nil)
	}
	if err := urlRequired(c, requests); err != nil {
		return nil, err
	}
	more, err := appendContents([]byte(`,"content":`), inWords(requests).Content)
	if err != nil {
		return nil, internal("encoding", err)
	}
	return h.ask(ctx, c, requests, append(more, `,"isError":true`...))
}

// cannotAsk answers a client that did not declare what a target needs.
func (h *handler) cannotAsk(r *request, t *target, lacking *failure) (jsontext.Value, error) {
	switch {
	case !r.handshake:
		return nil, lacking
	case t.purpose != requeststate.PurposeTool:
		return nil, notATool("This needs input that the client did not declare to give", "cannot_ask", nil)
	}
	r.info.Reason = "cannot_ask"
	res := Text("This tool needs input that the client did not declare to give.")
	res.IsError = true
	return h.finish(r, res)
}

// inWords says what is asked, for a model or a person to read.
func inWords(requests protocol.InputRequests) *Result {
	var b strings.Builder
	b.WriteString("This tool needs input before it can finish:")
	for _, q := range requests {
		b.WriteString("\n- ")
		b.WriteString(q.Key)
		var p struct {
			Message string `json:"message"`
			URL     string `json:"url"`
		}
		switch _ = unmarshal(q.Params, &p); q.Method {
		case protocol.MethodElicit:
			b.WriteString(": " + p.Message)
			if p.URL != "" {
				b.WriteString(" (" + p.URL + ")")
			}
		case protocol.MethodCreateMessage:
			b.WriteString(": a message of the client's model")
		case protocol.MethodListRoots:
			b.WriteString(": the client's roots")
		}
	}
	return Text(b.String())
}

// urlRequired returns 2025-11-25's own error where all that is asked is to open
// addresses: the client opens them and calls again.
func urlRequired(c *Call, requests protocol.InputRequests) error {
	var data protocol.URLElicitationRequiredData
	for _, q := range requests {
		var p struct {
			Mode    string `json:"mode"`
			Message string `json:"message"`
			URL     string `json:"url"`
		}
		if c.request.version != protocol.Version20251125 || q.Method != protocol.MethodElicit || unmarshal(q.Params, &p) != nil || p.Mode != protocol.ElicitURL {
			return nil
		}
		data.Elicitations = append(data.Elicitations, protocol.ElicitURLParams{Message: p.Message, URL: p.URL, ElicitationID: q.Key + "-" + rand.Text()})
	}
	return fail(http.StatusOK, protocol.CodeURLElicitationRequired, "URL elicitation required").with(data)
}
