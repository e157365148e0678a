// Package auth finds out who sends a request to an MCP endpoint and what the
// sender may do. A Guard does both for the server that it is wired to:
//
//	guard, err := auth.NewGuard(who, &auth.Resource{
//		URL:                  "https://mcp.example.com/mcp",
//		AuthorizationServers: []string{"https://issuer.example.com"},
//		Scopes:               []string{"mcp"},
//	})
//	handler, err := srv.Handler(mrtr.HandlerOptions{
//		Authenticate: guard.Authenticate,
//		Middleware:   []mrtr.Middleware{guard.CheckScopes},
//		// and the rest
//	})
//	mux.Handle(auth.MetadataPath, guard.Metadata())
//	mux.Handle(auth.MetadataPath+"/mcp", guard.Metadata())
//	mux.Handle("/mcp", handler)
//
// Who sends a request comes from one of three authenticators:
//
//   - JWT checks bearer tokens in this process, of any OpenID Connect issuer or
//     OAuth authorization server that signs its access tokens;
//   - Gateway takes the claims that API Gateway's JWT or Cognito authorizer has
//     checked;
//   - IAM takes the AWS identity that signed the request, as the gateway or the
//     Function URL has checked it.
//
// Gateway and IAM believe the event. Whoever may invoke the function directly
// can write events, and be anyone in them.
//
// # Replies
//
// With a Resource the server is an OAuth resource server as the MCP
// authorization specification (2026-07-28) has it. A request without
// credentials, whatever its HTTP method, gets 401 with
//
//	WWW-Authenticate: Bearer resource_metadata="…", scope="…"
//
// where scope lists what the request at hand needs. A token that is not
// accepted gets the same with error="invalid_token", a token that lacks a scope
// 403 with error="insufficient_scope" and all scopes that the request needs.
// While an issuer's keys cannot be had, tokens that need them get 503. Without
// a Resource a request that is not signed gets 403.
//
// # URLs
//
// The resource's URL is a setting. Nothing is taken from Host, from an ARN or
// from a stage. The URL of the metadata is the resource's with MetadataPath
// before its last segment, so that it stays behind the stage or base path
// through which the endpoint is reached:
//
//	https://mcp.example.com/mcp   https://mcp.example.com/.well-known/oauth-protected-resource/mcp
//	https://host/prod/mcp         https://host/prod/.well-known/oauth-protected-resource/mcp
//
// Clients take it from WWW-Authenticate. Where a URL has a stage or base path,
// those that look in RFC 9728's own place alone (https://host/.well-known/
// oauth-protected-resource/prod/mcp) find nothing unless that place is mapped to
// the function too; the handler of Metadata answers there as well.
//
// REST APIs rename a function's WWW-Authenticate to
// X-Amzn-Remapped-WWW-Authenticate, which clients do not read. They still find
// the metadata in RFC 9728's place, so an endpoint behind a REST API wants a
// custom domain without a base path.
package auth
