package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// What the suite's authorization servers know of the client: its metadata
// document is at an address that only they look at, and no browser ever opens
// the redirect.
const (
	clientDocument = "https://conformance-test.local/client-metadata.json"
	redirectURL    = "http://localhost:3000/callback"
)

// personSigner signs in a person when the server asks for it.
func personSigner(g *given) (auth.OAuthHandler, error) {
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:                    redirectURL,
		AuthorizationCodeFetcher:       follow,
		ClientIDMetadataDocumentConfig: &auth.ClientIDMetadataDocumentConfig{URL: clientDocument},
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				RedirectURIs: []string{redirectURL}, GrantTypes: []string{"authorization_code", "refresh_token"},
			},
		},
		RequestRefreshToken: true,
	}
	if g.ClientID != "" {
		config.PreregisteredClient = g.credentials()
	}
	return auth.NewAuthorizationCodeHandler(config)
}

// serviceSigner signs in a program that acts for itself.
func serviceSigner(g *given) (auth.OAuthHandler, error) {
	return extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{Credentials: g.credentials()})
}

func (g *given) credentials() *oauthex.ClientCredentials {
	return &oauthex.ClientCredentials{ClientID: g.ClientID, ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: g.ClientSecret}}
}

// follow is the person at the browser: the suite's authorization servers ask
// nothing and send the browser back at once.
func follow(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, args.URL, nil)
	if err != nil {
		return nil, err
	}
	resp, err := browser.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		return nil, fmt.Errorf("the authorization server does not send the browser back: %w", err)
	}
	q := back.Query()
	if !q.Has("code") {
		return nil, errors.New("the authorization server sends the browser back without a code")
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}
