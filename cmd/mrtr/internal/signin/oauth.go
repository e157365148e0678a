package signin

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Options say how to sign in with OAuth.
type Options struct {
	// Dir is where tokens are kept. Required.
	Dir string
	// Show tells the user to open an address. An error ends the sign-in: nobody
	// can. Required.
	Show func(address string) error
	// ClientID and ClientSecret are a client that is registered already. Empty:
	// the client registers itself.
	ClientID, ClientSecret string
	// Issuer is the authorization server that the client is registered with; no
	// other gets its id or its secret. Required with ClientSecret; empty
	// otherwise: the one that the endpoint names.
	Issuer string
	// Port is where on this machine the sign-in comes back to; 0: any.
	Port int
	// Patience is how long the user may take. Zero: 5 minutes.
	Patience time.Duration
}

// OAuth returns a handler that signs the user in where the endpoint demands it,
// and keeps the token.
func OAuth(endpoint *url.URL, o Options) (auth.OAuthHandler, error) {
	if err := private(endpoint); err != nil {
		return openHandler{}, nil // it is asked without credentials, and cannot demand any
	}
	if o.ClientSecret != "" && o.Issuer == "" {
		return nil, errors.New("signin: a client secret without the authorization server that it is for")
	}
	h := &handler{endpoint: endpoint.String(), options: o, store: store{o.Dir}}
	k, err := h.store.read(h.endpoint)
	if err != nil {
		return nil, err
	}
	if k != nil {
		h.source = h.saving(k.config(), k.token())
	}
	return h, nil
}

// openHandler has no credentials and gets none.
type openHandler struct{}

func (openHandler) TokenSource(context.Context) (oauth2.TokenSource, error) { return nil, nil }

func (openHandler) Authorize(_ context.Context, r *http.Request, resp *http.Response) error {
	_ = resp.Body.Close()
	return fmt.Errorf("signin: %q demands a sign-in, but would get the token in clear text", r.URL.Host)
}

// handler is safe for concurrent use.
type handler struct {
	endpoint string
	options  Options
	store    store

	mu     sync.Mutex // held during a sign-in: there is one at a time
	inner  *auth.AuthorizationCodeHandler
	source oauth2.TokenSource // nil: there is no token
	failed error              // of a sign-in: the user is not asked again
}

var _ auth.OAuthHandler = (*handler)(nil)

// TokenSource returns what the last sign-in gave, this one's or an earlier one's.
func (h *handler) TokenSource(context.Context) (oauth2.TokenSource, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.source, nil
}

// Authorize signs the user in. A sign-in that fails is not tried again: the SDK
// would, since it goes on to an older revision.
func (h *handler) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed == nil {
		h.failed = h.signIn(ctx, r, resp)
	} else {
		_ = resp.Body.Close()
	}
	return h.failed
}

func (h *handler) signIn(ctx context.Context, r *http.Request, resp *http.Response) error {
	if h.inner == nil {
		l, err := listen(h.options)
		if err == nil {
			h.inner, err = h.newInner(l)
		}
		if err != nil {
			_ = resp.Body.Close()
			return fmt.Errorf("signing in: %w", err)
		}
	}
	if err := h.inner.Authorize(ctx, r, resp); err != nil {
		return fmt.Errorf("signing in: %w", err)
	}
	source, err := h.inner.TokenSource(ctx)
	if err != nil {
		return err
	}
	if source != nil {
		h.source = source
	}
	return nil
}

func (h *handler) newInner(l *loopback) (*auth.AuthorizationCodeHandler, error) {
	c := &auth.AuthorizationCodeHandlerConfig{
		Client: client(), RedirectURL: l.url, AuthorizationCodeFetcher: l.fetch, RequestRefreshToken: true,
		NewTokenSource: func(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			return h.saving(c, t), h.store.write(keep(h.endpoint, c, t))
		},
	}
	if h.options.ClientID != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: h.options.ClientID, Issuer: h.options.Issuer}
		if h.options.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: h.options.ClientSecret}
		}
	} else {
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "mrtr", RedirectURIs: []string{l.url}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}}
	}
	return auth.NewAuthorizationCodeHandler(c)
}

// client returns what talks to the authorization server. Where that redirects a
// request, which holds a code, a token or a secret, it goes nowhere.
func client() *http.Client {
	return &http.Client{Timeout: 30 * time.Second, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if via[0].Method != http.MethodGet {
			return fmt.Errorf("signin: %q redirects what is meant for it alone", via[0].URL.Host)
		}
		if len(via) >= 10 {
			return errors.New("signin: too many redirects")
		}
		return nil
	}}
}

// saving returns a source that keeps the tokens it refreshes.
func (h *handler) saving(c *oauth2.Config, t *oauth2.Token) oauth2.TokenSource {
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, client())
	return &savingSource{handler: h, config: c, inner: c.TokenSource(ctx, t), last: t}
}

type savingSource struct {
	handler *handler
	config  *oauth2.Config
	inner   oauth2.TokenSource

	mu   sync.Mutex
	last *oauth2.Token
}

// Token returns a token that is good, as far as is known here. Where the last one
// has expired for good, the error is one that means: sign in anew.
func (s *savingSource) Token() (*oauth2.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last.RefreshToken == "" && !s.last.Valid() {
		return nil, &oauth2.RetrieveError{ErrorCode: "invalid_grant", ErrorDescription: "the token has expired"}
	}
	t, err := s.inner.Token()
	if err != nil {
		return nil, err
	}
	if t.AccessToken != s.last.AccessToken {
		if err := s.handler.store.write(keep(s.handler.endpoint, s.config, t)); err != nil {
			return nil, err
		}
		s.last = t
	}
	return t, nil
}

// listen opens the place where a sign-in comes back to.
func listen(o Options) (*loopback, error) {
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port)))
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	return newLoopback(ln, o), nil
}
