package mrtr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/yosida95/uritemplate/v3"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/replay"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/schema"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// target is what a multi-round request names: a tool, a prompt or a resource.
type target struct {
	purpose     requeststate.Purpose
	method      string
	name        string
	revision    string
	revisions   []string // accepted ones, revision first
	input       *schema.Schema
	needs       protocol.ClientCapabilities
	definition  any // as its list shows it: a Tool, Prompt, Resource or ResourceTemplate of protocol
	headers     []paramHeader
	yieldWithin time.Duration
	template    *uritemplate.Template // of a resource template
	arguments   map[string]bool       // names that completion knows
	completers  map[string]Completer
	run         func(context.Context, *Call, jsontext.Value) (reply, error)
}

// reply is what a handler made.
type reply interface {
	encode(*request) (jsontext.Value, error) // the whole response
	outcome() Outcome
}

func (t *target) setRevision(revision string, accepted []string) error {
	if len(revision) > 255 {
		return fmt.Errorf("a revision has at most 255 bytes")
	}
	t.revision = revision
	t.revisions = append([]string{revision}, accepted...)
	return nil
}

// round runs one round of a multi-round request and returns its response. name is
// what the client named: the target's name, or a URI that its template fits.
func (h *handler) round(ctx context.Context, r *request, t *target, name string, args jsontext.Value) (jsontext.Value, error) {
	r.info.Target = t.name
	answers, err := r.inputResponses()
	if err != nil {
		return nil, err
	}
	if err := missingCapability(lacksNeeds(t.needs, r.caps)); err != nil {
		return h.cannotAsk(r, t, err)
	}
	// 1. The flow: the one that the state continues, or a new one.
	claims, log, signed, err := h.openState(ctx, r, t, name, args)
	if err != nil {
		return nil, err
	}
	c := &Call{handler: h, request: r, target: t, name: name, args: args, answers: answers, claims: claims, run: replay.NewRun(log, signed, answers)}
	m := Method{Name: t.method, Target: t.name, Round: int(claims.Round)}
	if signed {
		m.FlowID = flowIDString(claims.FlowID)
		r.info.FlowID, r.info.Traceparent = m.FlowID, claims.Traceparent
	}
	r.info.Round = m.Round
	res, err := h.through(ctx, m, func(ctx context.Context) (jsontext.Value, error) { return h.runRound(ctx, c) })
	if err != nil {
		return h.handlerError(ctx, r, t, err)
	}
	return res, nil
}

// runRound runs the handler over the log and returns the round's response.
func (h *handler) runRound(ctx context.Context, c *Call) (jsontext.Value, error) {
	r, t := c.request, c.target
	// 2. The arguments.
	if t.input != nil {
		if bad := t.input.Validate(c.args); len(bad) > 0 {
			return h.finish(r, invalidArguments(bad))
		}
	}
	// 3. The handler.
	start := time.Now()
	res, err := bounded(ctx, t.name, c.run.Close, func() (reply, error) { return t.run(ctx, c, c.args) })
	r.info.Handler = time.Since(start)
	// 4. What the log has to say beats what the handler returned.
	if end := c.run.End(err == nil); end != nil {
		if errors.Is(end, replay.ErrPending) {
			r.info.Swallowed = err == nil
			if c.guard.asked && err == nil && res != nil {
				return nil, internal("misuse", fmt.Errorf("%q returned both a result and questions", t.name))
			}
			return h.inputRequired(ctx, c)
		}
		err = end
	}
	if err != nil {
		return nil, err
	}
	return h.finish(r, res)
}

func (h *handler) finish(r *request, res reply) (jsontext.Value, error) {
	b, err := res.encode(r)
	if err != nil {
		return nil, internal("encoding", err)
	}
	r.info.Outcome = res.outcome()
	return b, nil
}

// inputResponses reads the answers that came with the request.
func (r *request) inputResponses() (map[string]jsontext.Value, error) {
	raw := r.params.InputResponses
	if raw == nil {
		return nil, nil
	}
	if raw.Kind() != '{' {
		return nil, invalidParams("inputResponses must be an object")
	}
	answers := make(map[string]jsontext.Value)
	err := jsonrpc.Walk(raw, func(key []byte, v jsontext.Value) error {
		answers[string(key)] = v
		return nil
	})
	return answers, err
}

// openState returns the claims and the log that the request continues. Without
// a requestState they are new ones.
func (h *handler) openState(ctx context.Context, r *request, t *target, name string, args jsontext.Value) (c requeststate.Claims, log replay.Log, signed bool, err error) {
	if r.params.RequestState == nil {
		now := h.opts.Now()
		c = requeststate.Claims{
			Audience: h.audience, Principal: principalDigest(r.http.Context()), Method: t.method, Target: name,
			Revision: t.revision, Round: 1, FlowDeadline: now.Add(h.opts.FlowTTL),
		}
		if c.Traceparent = r.info.Traceparent; c.Traceparent == "" {
			c.Traceparent = r.info.Trace.Traceparent
		}
		if len(c.Traceparent) > maxTraceparent {
			c.Traceparent = ""
		}
		return c, log, false, nil
	}
	token, ok := stringOf(r.params.RequestState)
	if !ok || token == "" {
		return c, log, false, invalidParams("requestState must be a non-empty string")
	}
	digest, err := requeststate.ArgumentsDigest(args)
	if err != nil {
		return c, log, false, invalidParams("arguments cannot be read")
	}
	c, body, err := requeststate.Open(ctx, h.opts.Keys, token, requeststate.Binding{
		Purpose: t.purpose, Audience: h.audience, Principal: principalDigest(r.http.Context()),
		Method: t.method, Target: name, Arguments: digest, Revisions: t.revisions,
	}, requeststate.OpenOptions{Now: h.opts.Now(), MaxSize: h.opts.MaxStateBytes})
	if err != nil {
		return c, log, false, err
	}
	if log, err = replay.Parse(body); err != nil {
		return c, log, false, refused("log", err)
	}
	c.Round++
	return c, log, true, nil
}

// maxTraceparent is the length of a version 00 traceparent; longer ones of
// later versions are not carried.
const maxTraceparent = 55

// handlerError turns an error of the handler into a result, or into the
// request's failure.
func (h *handler) handlerError(ctx context.Context, r *request, t *target, err error) (jsontext.Value, error) {
	if _, ok := errors.AsType[*failure](err); ok {
		return nil, err
	}
	if _, ok := errors.AsType[*AuthorizationError](err); ok {
		return nil, err
	}
	for _, own := range [...]error{replay.ErrDiverged, replay.ErrMisuse, requeststate.ErrUnavailable} {
		if errors.Is(err, own) {
			return nil, err
		}
	}
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		return nil, internal("timeout", err)
	}
	text, reason := toolErrorText, "handler_error"
	if public, ok := errors.AsType[*PublicError](err); ok {
		if text, reason = public.text, ""; errors.Is(err, ErrClaimed) {
			reason = "forked"
		}
	} else if no, ok := errors.AsType[*OutcomeError](err); ok {
		text, reason = "The call ended because the question "+no.Error()+".", no.Err.Error()
	}
	if reason == "handler_error" {
		r.info.Err = err
	}
	if r.info.Reason = reason; t.purpose != requeststate.PurposeTool {
		return nil, notATool(text, reason, err)
	}
	res := Text(text)
	res.IsError = true
	return h.finish(r, res)
}

// invalidArguments is the result for arguments that fail the tool's schema. It
// names places and rules, never values.
func invalidArguments(bad []schema.Violation) *Result {
	var b strings.Builder
	b.WriteString("The arguments do not fit the tool's input schema:")
	for _, v := range bad {
		fmt.Fprintf(&b, "\n%q %s", v.Pointer, v.Rule)
	}
	res := Text(b.String())
	res.IsError = true
	return res
}

// MetaInvalid is the key in the _meta of an input_required result that lists
// what was wrong with answers that are asked again, by question: places and
// rules, never values.
const MetaInvalid = "io.github.mrtr-lambda/invalidInputResponses"

// inputRequired returns the result that asks what is pending, with the flow
// sealed for the next round.
func (h *handler) inputRequired(ctx context.Context, c *Call) (jsontext.Value, error) {
	// 1. The questions, and whether the client takes them.
	requests, missing, err := c.pendingRequests()
	if err != nil {
		return nil, err
	}
	if c.request.handshake {
		return h.askHandshake(ctx, c, requests, missing != nil)
	}
	if missing != nil {
		return nil, missing
	}
	return h.ask(ctx, c, requests, nil)
}

// ask returns the response that asks with a protocol.InputRequiredResult, the
// flow sealed in it for the next round. more are members of the result besides,
// each behind a comma.
func (h *handler) ask(ctx context.Context, c *Call, requests protocol.InputRequests, more []byte) (jsontext.Value, error) {
	// 2. The state.
	if int(c.claims.Round) >= h.opts.MaxRounds {
		return nil, internal("too_many_rounds", fmt.Errorf("%q is not done in round %d, the last that is allowed%s", c.target.name, c.claims.Round, c.waiting()))
	}
	body, err := h.stateBody(c)
	if err != nil {
		return nil, err
	}
	size := len(body)*4/3 + len(more) + 1024
	for i := range requests {
		size += len(requests[i].Params) + 64
	}
	b := c.request.beginResponse(protocol.ResultInputRequired, size)
	if b, err = appendRequests(append(b, `"inputRequests":`...), requests); err != nil {
		return nil, internal("encoding", err)
	}
	b = append(b, `,"requestState":"`...)
	before := len(b)
	if b, err = h.appendState(ctx, b, c, body); err != nil {
		return nil, err
	}
	c.request.info.FlowID, c.request.info.Traceparent = flowIDString(c.claims.FlowID), c.claims.Traceparent
	c.request.info.Outcome, c.request.info.StateBytes = OutcomeInputRequired, len(b)-before
	// 3. The rest of the result.
	var meta protocol.Object
	if bad := c.run.Invalid(); len(bad) > 0 {
		c.request.info.Reason = "invalid_answer"
		meta = protocol.Object{MetaInvalid: mustJSON(bad)}
	}
	b, err = c.request.endResponse(append(append(b, '"'), more...), meta)
	if err != nil {
		return nil, internal("encoding", err)
	}
	return b, nil
}

// appendRequests appends an object of requests, whose params are JSON. A yield
// has none: clients retry upon the empty object.
func appendRequests(b []byte, requests protocol.InputRequests) ([]byte, error) {
	b = append(b, '{')
	for i, r := range requests {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = jsontext.AppendQuote(b, r.Key); err != nil {
			return nil, fmt.Errorf("the key of a question: %w", err)
		}
		if b, err = jsontext.AppendQuote(append(b, `:{"method":`...), r.Method); err != nil {
			return nil, fmt.Errorf("the method of question %q: %w", r.Key, err)
		}
		b = append(append(append(b, `,"params":`...), r.Params...), '}')
	}
	return append(b, '}'), nil
}

// waiting says for the log which questions wait, and of a confirmation why it
// may do so for ever.
func (c *Call) waiting() string {
	var b strings.Builder
	for _, q := range c.run.Pending() {
		fmt.Fprintf(&b, "; it waits for %q", q.Key)
		if q.Confirm {
			b.WriteString(", a confirmation, which is asked again whenever its text has changed")
		}
	}
	return b.String()
}

// pendingRequests returns the questions to send, and the error for a client
// that did not declare to take them.
func (c *Call) pendingRequests() (requests protocol.InputRequests, lacking *failure, err error) {
	var missing protocol.ClientCapabilities
	requests = slices.Clone(c.guard.requests)
	for i, r := range requests {
		lacksFor(r, c.request.caps, &missing)
		if r.Params == nil {
			requests[i].Params = emptyObject // some clients cannot do without
		} else if requests[i].Params, err = json.Marshal(r.Params); err != nil {
			return nil, nil, internal("encoding", fmt.Errorf("question %q: %w", r.Key, err))
		}
	}
	for _, q := range c.run.Pending() {
		p := q.Ref.(prepared)
		params, err := p.params()
		if err != nil {
			return nil, nil, internal("encoding", fmt.Errorf("question %q: %w", q.Key, err))
		}
		p.lacks(c.request.caps, &missing)
		requests = append(requests, protocol.InputRequest{Key: q.Key, Method: p.method, Params: params})
	}
	return requests, missingCapability(missing), nil
}

// stateBody returns what the token of the round that c ends holds beside its
// claims.
func (h *handler) stateBody(c *Call) ([]byte, error) {
	log := *c.run.Log() // a copy: a handler that is late may still read the flow's own state
	if c.guard.asked {
		log.Own, log.Asked = c.guard.own, nil
		for _, r := range c.guard.requests {
			log.Asked = append(log.Asked, r.Key)
		}
	}
	if !c.run.Signed() && h.opts.SingleUse != nil {
		log.Home = h.opts.SingleUse.Home()
	}
	// The log grows by what came, roughly.
	size := len(c.request.params.RequestState)*3/4 + len(c.request.params.InputResponses) + 256
	body, err := log.Append(make([]byte, 0, size))
	if err != nil {
		return nil, internal("misuse", err)
	}
	return body, nil
}

// appendState appends the token of the round that c ends.
func (h *handler) appendState(ctx context.Context, b []byte, c *Call, body []byte) ([]byte, error) {
	if !c.run.Signed() {
		c.claims.NewFlow()
		var err error
		if c.claims.Arguments, err = requeststate.ArgumentsDigest(c.args); err != nil {
			return nil, invalidParams("arguments cannot be read")
		}
	}
	now := h.opts.Now()
	c.claims.Revision = c.target.revision
	c.claims.IssuedAt = now
	c.claims.RoundExpiry = now.Add(h.opts.RoundTTL)
	b, err := requeststate.AppendSeal(ctx, b, h.opts.Keys, c.target.purpose, c.claims, body, h.opts.MaxStateBytes)
	if size, ok := errors.AsType[*requeststate.SizeError](err); ok {
		return nil, internal("state_too_large", fmt.Errorf("%w; the largest entries: %s", size, c.largest()))
	}
	return b, err
}

// largest names the largest entries of the call's log with their sizes in
// bytes.
func (c *Call) largest() string {
	entries := slices.Clone(c.run.Log().Entries)
	slices.SortFunc(entries, func(a, b replay.Entry) int { return b.Size() - a.Size() })
	var parts []string
	for i := range entries[:min(3, len(entries))] {
		parts = append(parts, fmt.Sprintf("%q %d", entries[i].Name(), entries[i].Size()))
	}
	own := c.run.Log().Own
	if c.guard.asked {
		own = c.guard.own
	}
	if len(own) > 0 {
		parts = append(parts, fmt.Sprintf("own state %d", len(own)))
	}
	return strings.Join(parts, ", ")
}
