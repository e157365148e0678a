// Package signin proves to an endpoint who the user is: with a bearer token, by
// AWS signatures, or by signing in with OAuth, the official SDK's flow, whose
// token is kept for the next time.
//
// Nothing of it is sent to any host but the endpoint's, the authorization server
// aside, and nothing in clear text but to this machine itself.
package signin
