package mrtr

import (
	"context"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// Principal is the authenticated caller of a request. Every state is bound to
// it: a refreshed token of the same person continues a flow, another person's
// never does.
type Principal struct {
	Issuer  string // who vouches for the identity, such as an OIDC issuer URL
	Subject string // whose identity it is, within Issuer
	Client  string // the OAuth client it was given to; may be empty
}

type principalKey struct{}

// WithPrincipal returns a context that carries p. An authenticating middleware
// calls it before the request reaches the server's handler.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalFrom returns the caller that ctx carries. It reports false where the
// caller is anonymous: where there is none, or one without a Subject.
func PrincipalFrom(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok && p.Subject != ""
}

// principalDigest returns the digest that binds states to ctx's caller, nil
// where the caller is anonymous.
func principalDigest(ctx context.Context) *requeststate.Digest {
	p, ok := PrincipalFrom(ctx)
	if !ok {
		return nil
	}
	d := requeststate.PrincipalDigest(p.Issuer, p.Subject, p.Client)
	return &d
}
