package auth

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
)

// Gateway takes the claims of a token that API Gateway has checked: the JWT
// authorizer of an HTTP API, or the Cognito authorizer of a REST API. Tokens in
// headers are not read, and claims count only where one of these put them.
//
// The issuer must be one of the configured ones, and aud must name one of the
// audiences. A token without aud is accepted only where its client_id is one of
// the audiences, which is the rule of the JWT authorizer as well; azp does not
// count. Cognito's access tokens are such ones unless the client asked for a
// resource: list the app clients whose tokens may come without it. A client_id
// says to whom a token was issued and not what for, so list none that also gets
// tokens for another resource, or have requests need a scope of this one's.
//
// A REST API's Cognito authorizer looks at neither. Have it require a scope, which
// also makes it take access tokens; ID tokens are refused here.
type Gateway struct {
	issuers   []string
	audiences []string
}

var _ Authenticator = (*Gateway)(nil)

// NewGateway returns an authenticator that trusts the event, for tokens of the
// issuers that name one of the audiences: the resource's URL, what else an issuer
// calls the resource, or a client whose tokens have no audience.
func NewGateway(issuers, audiences []string) (*Gateway, error) {
	if len(issuers) == 0 || len(audiences) == 0 {
		return nil, errors.New("auth: tokens need an issuer and an audience")
	}
	if slices.Contains(audiences, "") {
		return nil, errors.New("auth: an audience is empty")
	}
	return &Gateway{slices.Clone(issuers), slices.Clone(audiences)}, nil
}

// gatewayClaims are claims as an authorizer passes them on: strings, and lists
// as "[one two]".
type gatewayClaims struct {
	Issuer   string  `json:"iss"`
	Subject  string  `json:"sub"`
	Audience *string `json:"aud"` // nil: there is none
	ClientID string  `json:"client_id"`
	Party    string  `json:"azp"`
	Scope    string  `json:"scope"`
	SCP      string  `json:"scp"`
	TokenUse string  `json:"token_use"`
}

// Authenticate takes the sender from the request's event.
func (g *Gateway) Authenticate(r *http.Request) (Caller, error) {
	raw := authorizerClaims(r)
	if raw == nil {
		return Caller{}, ErrNoCredentials
	}
	var c gatewayClaims
	if json.Unmarshal(raw, &c) != nil {
		return Caller{}, &RefusedError{ReasonMalformed}
	}
	audiences := []string{c.ClientID}
	if c.Audience != nil {
		audiences = words(*c.Audience)
	}
	switch {
	case c.TokenUse == "id":
		return Caller{}, &RefusedError{ReasonType}
	case !slices.Contains(g.issuers, c.Issuer):
		return Caller{}, &RefusedError{ReasonIssuer}
	case !slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(g.audiences, a) }):
		return Caller{}, &RefusedError{ReasonAudience}
	case c.Subject == "":
		return Caller{}, &RefusedError{ReasonSubject}
	}
	if c.ClientID == "" {
		c.ClientID = c.Party
	}
	return Caller{
		Principal: mrtr.Principal{Issuer: c.Issuer, Subject: c.Subject, Client: c.ClientID},
		Scopes:    append(words(c.Scope), words(c.SCP)...),
	}, nil
}

// authorizerClaims returns the claims of the event's authorizer, nil where it
// has none.
func authorizerClaims(r *http.Request) jsontext.Value {
	inv, ok := lambdahttp.RequestContext(r.Context())
	if !ok || inv.Authorizer == nil {
		return nil
	}
	var a struct {
		JWT struct {
			Claims jsontext.Value `json:"claims"`
		} `json:"jwt"`
		Claims jsontext.Value `json:"claims"`
	}
	if json.Unmarshal(inv.Authorizer, &a) != nil {
		return nil
	}
	claims := a.JWT.Claims
	switch {
	case inv.Kind == lambdahttp.KindREST:
		claims = a.Claims
	case inv.Kind != lambdahttp.KindHTTPAPI:
		return nil
	case claims == nil: // payload format 1.0
		claims = a.Claims
	}
	if claims.Kind() != '{' {
		return nil
	}
	return claims
}

// words splits a claim that is a list.
func words(s string) []string {
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		s = s[1 : len(s)-1]
	}
	return strings.Fields(s)
}
