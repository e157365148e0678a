package auth

import (
	"context"
	"errors"
	"net/http"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Caller is who sent a request, and what its credentials allow.
type Caller struct {
	mrtr.Principal
	Scopes []string // as granted; empty where the credentials carry none
}

// Authenticator finds out who sent a request. It is safe for concurrent use.
type Authenticator interface {
	// Authenticate returns the sender. The error is ErrNoCredentials where the
	// request carries none of the kind that is read, a *RefusedError where they
	// are not accepted, and any other where they could not be judged.
	Authenticate(r *http.Request) (Caller, error)
}

// ErrNoCredentials is returned for a request without credentials.
var ErrNoCredentials = errors.New("auth: no credentials")

// RefusedError is returned for credentials that are not accepted. It holds
// nothing of them.
type RefusedError struct {
	Reason string // one of the reasons below
}

func (e *RefusedError) Error() string { return "auth: credentials refused: " + e.Reason }

// Reasons of a RefusedError, for logs and metrics. A scope that is missing is
// reported under ReasonScope, no credentials under ReasonNone and keys that
// cannot be had under ReasonUnavailable.
const (
	ReasonMalformed   = "token_malformed"     // no signed JWT in compact form, or claims that cannot be read
	ReasonTooLong     = "token_too_long"      // more than 32 KiB
	ReasonAlgorithm   = "token_algorithm"     // none, HMAC or an unknown one
	ReasonType        = "token_type"          // an ID token or another JWT that is no access token, or one with crit
	ReasonIssuer      = "token_issuer"        // not one of the configured issuers
	ReasonKey         = "token_key"           // signed by a key that the issuer does not publish
	ReasonSignature   = "token_signature"     // forged or damaged
	ReasonAudience    = "token_audience"      // for another resource
	ReasonExpired     = "token_expired"       // after exp, or without exp
	ReasonNotYet      = "token_not_yet_valid" // before nbf or iat
	ReasonSubject     = "token_subject"       // names nobody
	ReasonScope       = "insufficient_scope"
	ReasonNone        = "no_credentials"
	ReasonUnavailable = "auth_unavailable"
)

// descriptions are what a client is told of a refused token.
var descriptions = map[string]string{
	ReasonExpired:  "the access token has expired",
	ReasonNotYet:   "the access token is not valid yet",
	ReasonAudience: "the access token is for another resource",
	ReasonIssuer:   "the access token is of another issuer",
}

func description(reason string) string {
	if d, ok := descriptions[reason]; ok {
		return d
	}
	return "the access token is not valid"
}

// Guard lets through what an Authenticator knows the sender of, as far as the
// sender's scopes go. It is safe for concurrent use.
type Guard struct {
	who      Authenticator
	resource *resource // nil: no OAuth
}

// NewGuard returns a guard. A nil r means that callers have no OAuth tokens:
// there are no scopes, no challenges and no metadata then.
func NewGuard(who Authenticator, r *Resource) (*Guard, error) {
	if who == nil {
		return nil, errors.New("auth: a guard needs an authenticator")
	}
	g := &Guard{who: who}
	if r != nil {
		var err error
		if g.resource, err = newResource(r); err != nil {
			return nil, err
		}
	}
	return g, nil
}

type callerKey struct{}

// Authenticate returns the request's context with the sender in it, for
// mrtr.PrincipalFrom. It is what mrtr.HandlerOptions.Authenticate wants: its
// error is always a *mrtr.AuthorizationError, made for the client.
func (g *Guard) Authenticate(r *http.Request) (context.Context, error) {
	caller, err := g.who.Authenticate(r)
	if err != nil {
		return nil, g.refuse(r, err)
	}
	if g.resource != nil && !g.resource.grantsAll(caller.Scopes, g.resource.scopes) {
		return nil, g.resource.insufficient(g.needs(r))
	}
	ctx := mrtr.WithPrincipal(r.Context(), caller.Principal)
	return context.WithValue(ctx, callerKey{}, caller.Scopes), nil
}

// CheckScopes is a mrtr.Middleware that refuses a tools/call whose caller lacks
// a scope of the tool's. It relies on the request's body alone.
func (g *Guard) CheckScopes(ctx context.Context, m mrtr.Method, next func(context.Context) error) error {
	if g.resource != nil && m.Name == protocol.MethodCallTool {
		if own := g.resource.tools[m.Target]; len(own) > 0 {
			granted, _ := ctx.Value(callerKey{}).([]string)
			if !g.resource.grantsAll(granted, own) {
				return g.resource.insufficient(g.resource.forTool(m.Target))
			}
		}
	}
	return next(ctx)
}

// needs returns the scopes to ask for in a challenge to r: those that every
// request needs, and those of the tool that the headers name. Headers are the
// client's word, which is enough to say what to ask for.
func (g *Guard) needs(r *http.Request) []string {
	if r.Header.Get("Mcp-Method") == protocol.MethodCallTool {
		return g.resource.forTool(r.Header.Get("Mcp-Name"))
	}
	return g.resource.scopes
}

// refuse turns an authenticator's error into the client's.
func (g *Guard) refuse(r *http.Request, err error) error {
	refused, bad := errors.AsType[*RefusedError](err)
	switch {
	case !bad && !errors.Is(err, ErrNoCredentials):
		return &mrtr.AuthorizationError{Status: http.StatusServiceUnavailable, Reason: ReasonUnavailable, Err: err}
	case g.resource == nil && bad:
		return &mrtr.AuthorizationError{Status: http.StatusForbidden, Reason: refused.Reason}
	case g.resource == nil:
		return &mrtr.AuthorizationError{Status: http.StatusForbidden, Reason: ReasonNone}
	case bad:
		return &mrtr.AuthorizationError{
			Status: http.StatusUnauthorized, Reason: refused.Reason,
			Challenge: g.resource.challenge("invalid_token", description(refused.Reason), g.needs(r)),
		}
	}
	return &mrtr.AuthorizationError{
		Status: http.StatusUnauthorized, Reason: ReasonNone,
		Challenge: g.resource.challenge("", "", g.needs(r)),
	}
}
