package auth_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/auth"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

type object = map[string]any

// authenticate sends an event with these members of its requestContext to an
// authenticator.
func authenticate(t *testing.T, who auth.Authenticator, kind lambdatest.Kind, members object) (caller auth.Caller, err error) {
	t.Helper()
	r := post("Bearer not.looked.at")
	var event object
	require.NoError(t, json.Unmarshal(must(lambdatest.Event(kind, r, []byte(listTools))), &event))
	maps.Copy(event["requestContext"].(object), members)
	if event["version"] != "2.0" && members["httpAPI"] == true { // payload format 1.0
		event["version"] = "1.0"
		delete(event["requestContext"].(object), "resourceId")
	}
	called := false
	h := lambdahttp.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		called = true
		caller, err = who.Authenticate(r)
	}), lambdahttp.Options{})
	_, invokeErr := h.Invoke(context.Background(), must(json.Marshal(event)))
	require.NoError(t, invokeErr)
	require.True(t, called)
	return caller, err
}

// reason returns why an authenticator refused, empty where it did not.
func reason(err error) string {
	if refused, ok := errors.AsType[*auth.RefusedError](err); ok {
		return refused.Reason
	}
	switch {
	case errors.Is(err, auth.ErrNoCredentials):
		return auth.ReasonNone
	case err != nil:
		return err.Error()
	}
	return ""
}

func TestGateway(t *testing.T) {
	const pool = "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc"
	g, err := auth.NewGateway([]string{pool, "https://issuer.example/"}, []string{resourceURL, "client-7"})
	require.NoError(t, err)
	claims := func(edits object) object {
		c := object{"iss": pool, "sub": "ann", "client_id": "client-7", "scope": "openid mcp", "token_use": "access", "exp": "1785590000"}
		for name, v := range edits {
			if c[name] = v; v == nil {
				delete(c, name)
			}
		}
		return c
	}
	jwt := func(edits object) object {
		return object{"authorizer": object{"jwt": object{"claims": claims(edits), "scopes": nil}}}
	}
	rest := func(edits object) object { return object{"authorizer": object{"claims": claims(edits)}} }
	ann := auth.Caller{Principal: mrtr.Principal{Issuer: pool, Subject: "ann", Client: "client-7"}, Scopes: []string{"openid", "mcp"}}
	other := ann
	other.Client, other.Scopes = "party", []string{"a", "b", "c"}

	for _, tt := range []struct {
		name    string
		kind    lambdatest.Kind
		members object
		want    auth.Caller
		reason  string
	}{
		{"HTTP API", lambdatest.HTTPAPI, jwt(nil), ann, ""},
		{"REST API", lambdatest.REST, rest(nil), ann, ""},
		{"HTTP API, format 1.0", lambdatest.REST, object{"httpAPI": true, "authorizer": object{"claims": claims(nil), "scopes": nil}}, ann, ""},
		{"audience", lambdatest.HTTPAPI, jwt(object{"aud": resourceURL}), ann, ""},
		{"audiences", lambdatest.HTTPAPI, jwt(object{"aud": "[https://x.example " + resourceURL + "]"}), ann, ""},
		{"azp and a list of scopes", lambdatest.HTTPAPI, jwt(object{"aud": resourceURL, "client_id": nil, "azp": "party", "scope": "a", "scp": "[b c]"}), other, ""},

		{"another audience", lambdatest.HTTPAPI, jwt(object{"aud": "https://other.example"}), auth.Caller{}, auth.ReasonAudience},
		{"part of an audience", lambdatest.HTTPAPI, jwt(object{"aud": resourceURL + "x"}), auth.Caller{}, auth.ReasonAudience},
		{"another audience, of a client that needs none", lambdatest.REST, rest(object{"aud": "https://other.example"}), auth.Caller{}, auth.ReasonAudience},
		{"an audience that is empty", lambdatest.HTTPAPI, jwt(object{"aud": ""}), auth.Caller{}, auth.ReasonAudience},
		{"audiences that are none", lambdatest.HTTPAPI, jwt(object{"aud": "[]"}), auth.Caller{}, auth.ReasonAudience},
		{"no audience, of another client", lambdatest.HTTPAPI, jwt(object{"client_id": "client-8"}), auth.Caller{}, auth.ReasonAudience},
		{"no audience, of another client of a REST API", lambdatest.REST, rest(object{"client_id": "client-8"}), auth.Caller{}, auth.ReasonAudience},
		{"no audience, of a client that is called like a list", lambdatest.REST, rest(object{"client_id": "[client-8 client-7]"}), auth.Caller{}, auth.ReasonAudience},
		{"no audience and no client", lambdatest.HTTPAPI, jwt(object{"client_id": nil}), auth.Caller{}, auth.ReasonAudience},
		{"no audience, and the client in azp", lambdatest.HTTPAPI, jwt(object{"client_id": nil, "azp": "client-7"}), auth.Caller{}, auth.ReasonAudience},
		{"another issuer", lambdatest.HTTPAPI, jwt(object{"iss": "https://issuer.example"}), auth.Caller{}, auth.ReasonIssuer},
		{"no issuer", lambdatest.REST, rest(object{"iss": nil}), auth.Caller{}, auth.ReasonIssuer},
		{"an ID token", lambdatest.REST, rest(object{"token_use": "id"}), auth.Caller{}, auth.ReasonType},
		{"nobody", lambdatest.HTTPAPI, jwt(object{"sub": ""}), auth.Caller{}, auth.ReasonSubject},
		{"claims that are no strings", lambdatest.HTTPAPI, jwt(object{"sub": object{}}), auth.Caller{}, auth.ReasonMalformed},

		{"no authorizer", lambdatest.HTTPAPI, nil, auth.Caller{}, auth.ReasonNone},
		{"a null authorizer", lambdatest.REST, object{"authorizer": nil}, auth.Caller{}, auth.ReasonNone},
		{"no claims", lambdatest.HTTPAPI, object{"authorizer": object{"jwt": object{"claims": nil}}}, auth.Caller{}, auth.ReasonNone},
		{"claims as a string", lambdatest.REST, object{"authorizer": object{"claims": "sub=ann"}}, auth.Caller{}, auth.ReasonNone},
		{"an authorizer that is a string", lambdatest.REST, object{"authorizer": "ann"}, auth.Caller{}, auth.ReasonNone},
		{"a Lambda authorizer", lambdatest.HTTPAPI, object{"authorizer": object{"lambda": object{"claims": claims(nil)}}}, auth.Caller{}, auth.ReasonNone},
		{"an HTTP API's claims on a REST API", lambdatest.REST, jwt(nil), auth.Caller{}, auth.ReasonNone},
		{"a Function URL, which has no such authorizer", lambdatest.FunctionURL, jwt(nil), auth.Caller{}, auth.ReasonNone},
		{"IAM", lambdatest.HTTPAPI, object{"authorizer": object{"iam": object{"accountId": "123456789012", "userId": "AROAX:ann"}}}, auth.Caller{}, auth.ReasonNone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := authenticate(t, g, tt.kind, tt.members)
			require.Equal(t, tt.reason, reason(err))
			require.Equal(t, tt.want, got)
		})
	}
	_, err = g.Authenticate(post("Bearer not.looked.at"))
	require.ErrorIs(t, err, auth.ErrNoCredentials, "no event at all")

	_, err = auth.NewGateway(nil, []string{resourceURL})
	require.Error(t, err)
	_, err = auth.NewGateway([]string{pool}, nil)
	require.Error(t, err)
	_, err = auth.NewGateway([]string{pool}, []string{resourceURL, ""})
	require.Error(t, err, "a token with neither an audience nor a client would be for it")
}

func TestIAM(t *testing.T) {
	const account, session = "123456789012", "AROAEXAMPLE:ann@example.com"
	iam := func(edits object) object {
		id := object{
			"accessKey": "ASIAEXAMPLE", "accountId": account, "callerId": session, "cognitoIdentity": nil, "principalOrgId": "o-1",
			"userArn": "arn:aws:sts::123456789012:assumed-role/tools/ann@example.com", "userId": session,
		}
		maps.Copy(id, edits)
		return object{"authorizer": object{"iam": id}}
	}
	rest := func(edits object) object {
		id := object{
			"accessKey": "ASIAEXAMPLE", "accountId": account, "caller": session, "user": session, "cognitoIdentityId": nil,
			"userArn": "arn:aws:sts::123456789012:assumed-role/tools/ann@example.com", "sourceIp": "203.0.113.7",
		}
		maps.Copy(id, edits)
		return object{"identity": id}
	}
	of := func(subject string) auth.Caller {
		return auth.Caller{Principal: mrtr.Principal{Issuer: "aws:iam:" + account, Subject: subject}}
	}
	const pooled = "AROAEXAMPLE:CognitoIdentityCredentials"
	for _, tt := range []struct {
		name    string
		kind    lambdatest.Kind
		members object
		want    auth.Caller
		reason  string
	}{
		{"HTTP API", lambdatest.HTTPAPI, iam(nil), of(session), ""},
		{"Function URL", lambdatest.FunctionURL, iam(nil), of(session), ""},
		{"REST API", lambdatest.REST, rest(nil), of(session), ""},
		{"HTTP API, format 1.0", lambdatest.REST, func() object { m := rest(nil); m["httpAPI"] = true; return m }(), of(session), ""},
		{"another session of the role", lambdatest.HTTPAPI, iam(object{"userId": "AROAEXAMPLE:bob@example.com"}), of("AROAEXAMPLE:bob@example.com"), ""},
		{"a user", lambdatest.REST, rest(object{"user": "AIDAEXAMPLE", "caller": "AIDAEXAMPLE"}), of("AIDAEXAMPLE"), ""},
		{"an identity pool", lambdatest.HTTPAPI, iam(object{"userId": pooled, "cognitoIdentity": object{"identityId": "eu-central-1:1", "amr": []string{"unauthenticated"}}}), of(pooled + "/eu-central-1:1"), ""},
		{"an identity pool behind a REST API", lambdatest.REST, rest(object{"user": pooled, "cognitoIdentityId": "eu-central-1:2"}), of(pooled + "/eu-central-1:2"), ""},

		{"not signed, HTTP API", lambdatest.HTTPAPI, nil, auth.Caller{}, auth.ReasonNone},
		{"not signed, REST API", lambdatest.REST, nil, auth.Caller{}, auth.ReasonNone},
		{"not signed, Function URL", lambdatest.FunctionURL, object{"accountId": "anonymous"}, auth.Caller{}, auth.ReasonNone},
		{"no user", lambdatest.HTTPAPI, iam(object{"userId": ""}), auth.Caller{}, auth.ReasonNone},
		{"no account", lambdatest.REST, rest(object{"accountId": nil}), auth.Caller{}, auth.ReasonNone},
		{"of an odd form", lambdatest.HTTPAPI, iam(object{"userId": 5}), auth.Caller{}, auth.ReasonNone},
		{"an HTTP API's signer on a REST API", lambdatest.REST, iam(nil), auth.Caller{}, auth.ReasonNone},
		{"a JWT", lambdatest.HTTPAPI, object{"authorizer": object{"jwt": object{"claims": object{"sub": "ann"}}}}, auth.Caller{}, auth.ReasonNone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := authenticate(t, auth.IAM{}, tt.kind, tt.members)
			require.Equal(t, tt.reason, reason(err))
			require.Equal(t, tt.want, got)
		})
	}
}

// TestUnsigned: without OAuth there is nothing that a client could be told to
// fetch, so there is no challenge and no metadata.
func TestUnsigned(t *testing.T) {
	g, err := auth.NewGuard(auth.IAM{}, nil)
	require.NoError(t, err)
	e := newEndpoint(t, g, newClock())
	got := e.do(post("Bearer x"))
	require.Equal(t, http.StatusForbidden, got.Code)
	require.Empty(t, got.Header().Get("WWW-Authenticate"))
	require.Equal(t, auth.ReasonNone, e.last.Reason)
	w := httptest.NewRecorder()
	g.Metadata().ServeHTTP(w, httptest.NewRequest("GET", auth.MetadataPath, nil))
	require.Equal(t, http.StatusNotFound, w.Code)
}
