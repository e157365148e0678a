package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
)

const version = "0.1.0"

// parseURL reads the address of an endpoint.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usage("an endpoint is an address such as http://127.0.0.1:8080/mcp", "%q is no address of an endpoint", text)
	}
	if u.User != nil {
		return nil, usage("use --bearer, --aws, or the sign-in", "an address with a password is not taken")
	}
	return u, nil
}

// connect opens a session with the server at u.
func connect(ctx context.Context, s stdio, u *url.URL, h *client.Handlers, access *access) (*mcp.ClientSession, error) {
	t := &mcp.StreamableClientTransport{Endpoint: u.String(), DisableStandaloneSSE: true, HTTPClient: &http.Client{CheckRedirect: sameHost}}
	if err := access.apply(ctx, s, u, t); err != nil {
		return nil, err
	}
	c := client.New(&mcp.Implementation{Name: "mrtr", Version: version}, h, nil)
	session, err := c.Connect(ctx, client.Transport(t), nil)
	if err != nil {
		return nil, connectFailure(err)
	}
	return session, nil
}

// around is what the SDK puts around the reason of a failure.
var around = regexp.MustCompile(`(calling|sending) "[a-z/]+": |rejected by transport: |connection closed: |client is closing: `)

// connectFailure says why there is no session.
func connectFailure(err error) error {
	if _, ok := errors.AsType[*failure](err); ok {
		return err
	}
	f := &failure{code: exitFailed}
	if cause, ok := errors.AsType[*url.Error](err); ok {
		f.err = fmt.Errorf("connecting: %w", cause)
		return f
	}
	text := around.ReplaceAllString(err.Error(), "")
	f.err = fmt.Errorf("connecting: %s", text)
	switch {
	case strings.Contains(text, "signing in: failed to register"):
		f.hint = "the authorization server wants a client that it knows: --client-id"
	case strings.HasSuffix(text, http.StatusText(http.StatusUnauthorized)), strings.HasSuffix(text, http.StatusText(http.StatusForbidden)):
		f.hint = "the endpoint does not take the credentials: --bearer, --aws, or none to sign in"
	case strings.HasSuffix(text, http.StatusText(http.StatusNotFound)), strings.Contains(text, "content type"):
		f.hint = "is that the address of an MCP endpoint? It often ends in /mcp"
	}
	return f
}

// sameHost refuses redirects that lead elsewhere: what is sent is meant for the
// server that was named.
func sameHost(r *http.Request, via []*http.Request) error {
	if from := via[0].URL; r.URL.Host != from.Host || r.URL.Scheme != from.Scheme {
		return fmt.Errorf("the server redirects to %q, another place", r.URL.Host)
	}
	if len(via) >= 10 {
		return fmt.Errorf("too many redirects")
	}
	return nil
}

// maxPages is how many pages a list of tools may have.
const maxPages = 1000

// tools lists the session's tools, page by page.
func tools(ctx context.Context, session *mcp.ClientSession) ([]*mcp.Tool, error) {
	var all []*mcp.Tool
	var p mcp.ListToolsParams
	for range maxPages {
		page, err := session.ListTools(ctx, &p)
		if err != nil {
			return nil, fmt.Errorf("listing the tools: %w", err)
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" {
			return all, nil
		}
		p = mcp.ListToolsParams{Cursor: page.NextCursor}
	}
	return nil, fmt.Errorf("listing the tools: there are more than %d pages", maxPages)
}
