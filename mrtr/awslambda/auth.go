package awslambda

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/auth"
)

// authMode is a value of MRTR_AUTH.
type authMode string

const (
	authUnset   authMode = ""
	authNone    authMode = "none"        // anyone
	authJWT     authMode = "jwt"         // bearer tokens, checked here
	authGateway authMode = "gateway-jwt" // bearer tokens, checked by API Gateway
	authIAM     authMode = "iam"         // signed requests, checked by the gateway
)

// authRequired makes MRTR_AUTH required on Lambda. Without it, leaving it out
// means none and a warning.
const authRequired = false

// authSettings are what the environment says of authorization.
type authSettings struct {
	mode       authMode
	issuers    []string
	keysURL    string
	resource   string
	audiences  []string // beside resource
	scopes     []string
	toolScopes map[string][]string
	implies    map[string][]string
}

// readAuth reads the settings of authorization.
func readAuth(getenv func(string) string, onLambda bool) (authSettings, error) {
	a := authSettings{
		mode:      authMode(getenv("MRTR_AUTH")),
		issuers:   list(getenv("MRTR_OAUTH_ISSUER")),
		keysURL:   strings.TrimSpace(getenv("MRTR_OAUTH_JWKS_URL")),
		resource:  strings.TrimSpace(getenv("MRTR_OAUTH_RESOURCE")),
		audiences: list(getenv("MRTR_OAUTH_AUDIENCES")),
	}
	if scopes := strings.Fields(getenv("MRTR_OAUTH_SCOPES")); len(scopes) > 0 {
		a.scopes = scopes
	}
	var err error
	if a.toolScopes, err = scopeMap(getenv, "MRTR_OAUTH_TOOL_SCOPES"); err != nil {
		return a, err
	}
	if a.implies, err = scopeMap(getenv, "MRTR_OAUTH_IMPLIED_SCOPES"); err != nil {
		return a, err
	}
	switch a.mode {
	case authUnset:
		if onLambda && authRequired {
			return a, fmt.Errorf("MRTR_AUTH is not set: say jwt, gateway-jwt, iam, or none to serve anyone")
		}
		return a, a.withoutOAuth(getenv)
	case authNone:
		return a, a.withoutOAuth(getenv)
	case authIAM:
		if !onLambda {
			return a, fmt.Errorf("MRTR_AUTH: iam needs the gateway that checks signatures, which a local run has not")
		}
		return a, a.withoutOAuth(getenv)
	case authJWT, authGateway:
		return a, a.checkOAuth(onLambda)
	}
	return a, fmt.Errorf("MRTR_AUTH: %q is none of none, jwt, gateway-jwt, iam", string(a.mode))
}

// withoutOAuth fails where OAuth is set up and would not be used.
func (a *authSettings) withoutOAuth(getenv func(string) string) error {
	for _, name := range [...]string{
		"MRTR_OAUTH_ISSUER", "MRTR_OAUTH_JWKS_URL", "MRTR_OAUTH_RESOURCE", "MRTR_OAUTH_AUDIENCES",
		"MRTR_OAUTH_SCOPES", "MRTR_OAUTH_TOOL_SCOPES", "MRTR_OAUTH_IMPLIED_SCOPES",
	} {
		if strings.TrimSpace(getenv(name)) != "" {
			return fmt.Errorf("%s is set, but MRTR_AUTH is neither jwt nor gateway-jwt", name)
		}
	}
	return nil
}

func (a *authSettings) checkOAuth(onLambda bool) error {
	u, err := url.Parse(a.resource)
	switch {
	case a.mode == authGateway && !onLambda:
		return fmt.Errorf("MRTR_AUTH: gateway-jwt needs the gateway that checks tokens, which a local run has not")
	case len(a.issuers) == 0:
		return fmt.Errorf("MRTR_OAUTH_ISSUER is not set: it says whose tokens are accepted")
	case a.resource == "":
		return fmt.Errorf("MRTR_OAUTH_RESOURCE is not set: it is the URL of this endpoint, for which tokens must be issued")
	case err != nil || !strings.HasSuffix(u.Path, "/mcp"):
		return fmt.Errorf("MRTR_OAUTH_RESOURCE: %q is no URL that ends in /mcp", a.resource)
	case a.keysURL != "" && (a.mode != authJWT || len(a.issuers) > 1):
		return fmt.Errorf("MRTR_OAUTH_JWKS_URL is for MRTR_AUTH=jwt with one MRTR_OAUTH_ISSUER")
	}
	return nil
}

// scopeMap reads "name=scope scope,name=scope".
func scopeMap(getenv func(string) string, name string) (map[string][]string, error) {
	var out map[string][]string
	for _, entry := range list(getenv(name)) {
		key, scopes, _ := strings.Cut(entry, "=")
		key = strings.TrimSpace(key)
		_, twice := out[key]
		if key == "" || len(strings.Fields(scopes)) == 0 || twice {
			return nil, fmt.Errorf("%s: %q is no entry such as name=scope1 scope2, or the second of its name", name, entry)
		}
		if out == nil {
			out = make(map[string][]string)
		}
		out[key] = strings.Fields(scopes)
	}
	return out, nil
}

// guard returns the guard that the settings describe, nil where anyone is let
// in.
func (a *authSettings) guard(now func() time.Time) (*auth.Guard, error) {
	audiences := append([]string{a.resource}, a.audiences...)
	var who auth.Authenticator
	var err error
	switch a.mode {
	case authIAM:
		return auth.NewGuard(auth.IAM{}, nil)
	case authGateway:
		who, err = auth.NewGateway(a.issuers, audiences)
	case authJWT:
		issuers := make([]auth.Issuer, len(a.issuers))
		for i, u := range a.issuers {
			issuers[i] = auth.Issuer{URL: u, KeysURL: a.keysURL}
		}
		who, err = auth.NewJWT(issuers, audiences, auth.JWTOptions{Now: now})
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the MRTR_OAUTH settings: %w", err)
	}
	g, err := auth.NewGuard(who, &auth.Resource{
		URL: a.resource, AuthorizationServers: a.issuers,
		Scopes: a.scopes, ToolScopes: a.toolScopes, Implies: a.implies,
	})
	if err != nil {
		return nil, fmt.Errorf("reading the MRTR_OAUTH settings: %w", err)
	}
	return g, nil
}

// protect wires the guard that the settings describe into a server's options.
// It fails where scopes are set for a tool that there is not: a name that is
// misspelt would leave the tool that is meant open.
func (a *authSettings) protect(srv *mrtr.Server, opts *mrtr.HandlerOptions) (*auth.Guard, error) {
	for _, tool := range slices.Sorted(maps.Keys(a.toolScopes)) {
		if !srv.HasTool(tool) {
			return nil, fmt.Errorf("MRTR_OAUTH_TOOL_SCOPES: there is no tool %q", tool)
		}
	}
	g, err := a.guard(opts.Now)
	if g == nil || err != nil {
		return nil, err
	}
	opts.Authenticate = g.Authenticate
	opts.Middleware = append(opts.Middleware, g.CheckScopes)
	return g, nil
}

// warn says at start that callers are not authenticated. wrapped: a middleware
// of the program's own may do it.
func (a *authSettings) warn(logger *slog.Logger, onLambda, wrapped bool) {
	switch {
	case a.mode == authNone:
		logger.Warn("callers are not authenticated: MRTR_AUTH is none")
	case a.mode == authUnset && onLambda && !wrapped:
		logger.Warn("callers are not authenticated, and nobody said that they need not be: anyone who finds this endpoint can call its tools; set MRTR_AUTH to jwt, gateway-jwt or iam, or to none if this is meant")
	}
}

// withMetadata serves the well-known path of OAuth beside the endpoint. A nil
// guard has none.
func withMetadata(g *auth.Guard, next http.Handler) http.Handler {
	metadata := http.NotFoundHandler()
	if g != nil {
		metadata = g.Metadata()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, auth.MetadataPath) {
			metadata.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
