package lambdahttp

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// Invocation is what an event says beside the HTTP request. It must not be
// changed; it may be kept. All of it but the ids and the kind came through a
// gateway from a client or an authorizer.
type Invocation struct {
	Kind            Kind
	LambdaRequestID string         // this invocation's id; empty outside the Lambda loop
	RequestID       string         // the gateway's id of the request
	AccountID       string         // account of the API; for a Function URL the caller's, or "anonymous"
	Stage           string         // "$default" where there is none
	DomainName      string         // host that the client called
	SourceIP        string         // as the gateway saw it
	Authorizer      jsontext.Value // requestContext.authorizer as sent; nil when absent or null
	Identity        jsontext.Value // requestContext.identity as sent (REST APIs, IAM); nil when absent or null
}

// RequestContext returns what the event said of the request that ctx belongs
// to. It reports false when the request did not come through this package.
func RequestContext(ctx context.Context) (*Invocation, bool) {
	inv, ok := ctx.Value(invocationKey{}).(*Invocation)
	return inv, ok
}

type invocationKey struct{}

// invocationContext is a context that carries an Invocation in one allocation.
type invocationContext struct {
	context.Context
	inv Invocation
}

func (c *invocationContext) Value(key any) any {
	if key == (invocationKey{}) {
		return &c.inv
	}
	return c.Context.Value(key)
}
