package requeststate

import "slices"

// Binding is what the request at hand says, against which Open holds a token.
type Binding struct {
	Purpose   Purpose
	Audience  Digest  // AudienceDigest of this deployment's name
	Principal *Digest // PrincipalDigest of the caller; nil: there is none
	Method    string
	Target    string
	Arguments Digest
	Revisions []string // accepted ones; where there are none, the empty revision
}

func (b *Binding) accepts(revision string) bool {
	if len(b.Revisions) == 0 {
		return revision == ""
	}
	return slices.Contains(b.Revisions, revision)
}

// check holds authentic claims against the request and the clock. It returns
// the first reason to refuse, or none.
func (c *Claims) check(want Binding, opts OpenOptions) Reason {
	skew := opts.Skew
	if skew == 0 {
		skew = DefaultSkew
	}
	skew = max(skew, 0)
	switch {
	case c.Audience != want.Audience:
		return ReasonAudience
	case c.Principal != nil && want.Principal == nil:
		return ReasonNoPrincipal
	case c.Principal == nil && want.Principal != nil:
		return ReasonSomePrincipal
	case c.Principal != nil && *c.Principal != *want.Principal:
		return ReasonPrincipal
	case c.Method != want.Method:
		return ReasonMethod
	case c.Target != want.Target:
		return ReasonTarget
	case c.Arguments != want.Arguments:
		return ReasonArguments
	case !want.accepts(c.Revision):
		return ReasonRevision
	case c.IssuedAt.After(opts.Now.Add(skew)):
		return ReasonIssuedAhead
	case !opts.Now.Before(c.FlowDeadline):
		return ReasonFlowExpired
	case !opts.Now.Before(c.RoundExpiry):
		return ReasonRoundExpired
	}
	return ""
}
