package auth

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// Resource is an MCP endpoint as OAuth knows it. URL and AuthorizationServers
// are required.
type Resource struct {
	// URL is the endpoint as its clients call it, stage and base path included:
	// https, or http on a loopback host, without query, fragment or a slash at
	// the end.
	URL string
	// AuthorizationServers are the issuers of which clients get tokens, as
	// their own metadata spells them.
	AuthorizationServers []string
	// Scopes are what every request needs. Empty: a valid token is enough.
	Scopes []string
	// ToolScopes are what calls of a tool need beside Scopes, by its name.
	ToolScopes map[string][]string
	// Implies lists, for a broad scope, the narrower ones that it includes,
	// directly or through others.
	Implies map[string][]string
}

// resource is a Resource that has been checked.
type resource struct {
	metadataURL string
	metadata    []byte   // the JSON document
	suffixes    []string // what may follow MetadataPath in a request's path
	scopes      []string
	tools       map[string][]string
	implies     map[string][]string // all narrower scopes
}

func newResource(r *Resource) (*resource, error) {
	u, err := parseURL(r.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("auth: resource %q: %w", r.URL, err)
	case strings.HasSuffix(u.Path, "/"):
		return nil, fmt.Errorf("auth: resource %q ends in a slash", r.URL)
	case len(r.AuthorizationServers) == 0:
		return nil, fmt.Errorf("auth: resource %q has no authorization server", r.URL)
	}
	for _, issuer := range r.AuthorizationServers {
		if _, err := parseURL(issuer); err != nil {
			return nil, fmt.Errorf("auth: authorization server %q: %w", issuer, err)
		}
	}
	out := &resource{scopes: unique(r.Scopes), tools: make(map[string][]string), implies: make(map[string][]string)}
	if err := checkScopes(r.Scopes); err != nil {
		return nil, err
	}
	for tool, scopes := range r.ToolScopes {
		if len(scopes) == 0 {
			return nil, fmt.Errorf("auth: tool %q has an empty list of scopes", tool)
		}
		if err := checkScopes(scopes); err != nil {
			return nil, err
		}
		out.tools[tool] = unique(scopes)
	}
	for broad, narrow := range r.Implies {
		if err := checkScopes(append([]string{broad}, narrow...)); err != nil {
			return nil, err
		}
		out.implies[broad] = closure(r.Implies, broad)
	}
	path := u.EscapedPath()
	last := strings.LastIndexByte(path, '/')
	base, name := "", ""
	if last >= 0 {
		base, name = path[:last], path[last:]
	}
	out.metadataURL = u.Scheme + "://" + u.Host + base + MetadataPath + name
	out.suffixes = []string{"", name, path}
	out.metadata, err = encodeMetadata(r.URL, r.AuthorizationServers, out.scopes)
	return out, err
}

// parseURL parses the URL of a resource or an issuer.
func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, fmt.Errorf("not a URL")
	case u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || strings.ContainsAny(s, `#"\`):
		return nil, fmt.Errorf("not a URL of scheme, host and path alone")
	case !secure(u):
		return nil, fmt.Errorf("not https")
	}
	return u, nil
}

// secure reports whether what u names cannot be read or changed on its way:
// https, or a host that is this machine.
func secure(u *url.URL) bool {
	if u.Scheme == "https" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// offlineAccess asks for refresh tokens, which no request to a resource needs.
const offlineAccess = "offline_access"

// checkScopes holds scopes against RFC 6749, section 3.3.
func checkScopes(scopes []string) error {
	for _, s := range scopes {
		bad := func(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }
		switch {
		case s == "" || strings.ContainsFunc(s, bad):
			return fmt.Errorf("auth: %q is no scope", s)
		case s == offlineAccess:
			return fmt.Errorf("auth: the scope %s is between a client and its authorization server", offlineAccess)
		}
	}
	return nil
}

// unique returns scopes without those that came before.
func unique(scopes []string) []string {
	var out []string
	for _, s := range scopes {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// closure returns all scopes that broad includes, itself among them.
func closure(implies map[string][]string, broad string) []string {
	out := []string{broad}
	for i := 0; i < len(out); i++ {
		out = unique(append(out, implies[out[i]]...))
	}
	return out
}

// forTool returns all that a call of the tool needs.
func (r *resource) forTool(name string) []string {
	own := r.tools[name]
	if len(own) == 0 {
		return r.scopes
	}
	return unique(append(slices.Clone(r.scopes), own...))
}

// grantsAll reports whether each of the scopes is among the granted ones or
// included in one of them.
func (r *resource) grantsAll(granted, scopes []string) bool {
	for _, s := range scopes {
		if !slices.Contains(granted, s) && !slices.ContainsFunc(granted, func(g string) bool { return slices.Contains(r.implies[g], s) }) {
			return false
		}
	}
	return true
}

// insufficient returns the error for a caller who lacks one of the scopes, all
// of which the request needs.
func (r *resource) insufficient(scopes []string) error {
	return &mrtr.AuthorizationError{
		Status: http.StatusForbidden, Reason: ReasonScope,
		Challenge: r.challenge(ReasonScope, "", scopes),
	}
}

// challenge returns a value of WWW-Authenticate.
func (r *resource) challenge(code, description string, scopes []string) string {
	var b strings.Builder
	b.WriteString("Bearer ")
	if code != "" {
		b.WriteString(`error="` + code + `", `)
	}
	if description != "" {
		b.WriteString(`error_description="` + description + `", `)
	}
	b.WriteString(`resource_metadata="` + r.metadataURL + `"`)
	if len(scopes) > 0 {
		b.WriteString(`, scope="` + strings.Join(scopes, " ") + `"`)
	}
	return b.String()
}
