package auth

import (
	"errors"
	"strings"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// claims are what is read of an access token. Names are matched exactly, and
// none may come twice.
type claims struct {
	jwt.Claims
	ClientID string    `json:"client_id"`
	Party    string    `json:"azp"`
	Scope    scopeList `json:"scope"`
	SCP      scopeList `json:"scp"`
	TokenUse string    `json:"token_use"` // of Amazon Cognito: access or id
}

func parseClaims(payload []byte) (*claims, error) {
	c := new(claims)
	if err := json.Unmarshal(payload, c); err != nil {
		return nil, err
	}
	return c, nil
}

// client returns the OAuth client that a token was given to.
func (c *claims) client() string {
	if c.ClientID != "" {
		return c.ClientID
	}
	return c.Party
}

func (c *claims) scopes() []string {
	if len(c.SCP) == 0 {
		return c.Scope
	}
	return append(c.Scope[:len(c.Scope):len(c.Scope)], c.SCP...)
}

// scopeList is a list of scopes in JSON: a string with spaces between them (RFC
// 9068), or an array of strings, as some servers send it.
type scopeList []string

var errScopes = errors.New("auth: scopes are a string or an array of strings")

// UnmarshalJSONFrom reads either form.
func (l *scopeList) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case '"':
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		*l = strings.Fields(token.String())
		return nil
	case '[':
		return json.UnmarshalDecode(dec, (*[]string)(l))
	case 'n':
		return dec.SkipValue()
	}
	return errScopes
}
