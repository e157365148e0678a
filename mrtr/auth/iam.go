package auth

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
)

// IAM takes the AWS identity that signed a request (Signature Version 4), as
// an API or a Function URL with IAM authorization has checked it.
//
// The principal is the account and the full user id: of a role the role's id
// and the session's name, so that two people who assume one role are two. Where
// the credentials are those of a Cognito identity pool, all of whose users
// share a session name, the identity's id is added.
type IAM struct{}

var _ Authenticator = IAM{}

// identity is what a gateway says of the signer.
type identity struct {
	account, user, cognito string
}

// Authenticate takes the sender from the request's event.
func (IAM) Authenticate(r *http.Request) (Caller, error) {
	inv, ok := lambdahttp.RequestContext(r.Context())
	if !ok {
		return Caller{}, ErrNoCredentials
	}
	var who identity
	if inv.Kind == lambdahttp.KindREST || inv.Kind == lambdahttp.KindHTTPAPI && inv.Identity != nil {
		who = restIdentity(inv)
	} else {
		who = httpIdentity(inv)
	}
	if who.account == "" || who.user == "" {
		return Caller{}, ErrNoCredentials
	}
	subject := who.user
	if who.cognito != "" {
		subject += "/" + who.cognito // no user id has a slash
	}
	return Caller{Principal: mrtr.Principal{Issuer: "aws:iam:" + who.account, Subject: subject}}, nil
}

// httpIdentity reads an HTTP API's or a Function URL's authorizer.
func httpIdentity(inv *lambdahttp.Invocation) identity {
	var a struct {
		IAM struct {
			AccountID string `json:"accountId"`
			UserID    string `json:"userId"`
			Cognito   struct {
				IdentityID string `json:"identityId"`
			} `json:"cognitoIdentity"`
		} `json:"iam"`
	}
	if inv.Authorizer == nil || json.Unmarshal(inv.Authorizer, &a) != nil {
		return identity{}
	}
	return identity{a.IAM.AccountID, a.IAM.UserID, a.IAM.Cognito.IdentityID}
}

// restIdentity reads a REST API's identity, which payload format 1.0 of an HTTP
// API has as well.
func restIdentity(inv *lambdahttp.Invocation) identity {
	var id struct {
		AccountID string `json:"accountId"`
		User      string `json:"user"`
		Cognito   string `json:"cognitoIdentityId"`
	}
	if inv.Identity == nil || json.Unmarshal(inv.Identity, &id) != nil {
		return identity{}
	}
	return identity{id.AccountID, id.User, id.Cognito}
}
