package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

const metadataPath = "/.well-known/oauth-protected-resource"

// checkCaller sends a request without credentials and reads the metadata that
// its refusal points to.
func checkCaller(ctx context.Context, r *report, e *endpoint) {
	const check, metadata = "no credentials", "protected-resource metadata"
	_, header, err := e.rpc(ctx, call{method: protocol.MethodListTools, whose: nobody})
	var refused *refusal
	switch {
	case err != nil && !errors.As(err, &refused):
		r.fail(check, "%v", err)
		return
	case err == nil && e.authenticated():
		r.fail(check, "served: whoever finds the endpoint can call it")
		return
	case err == nil:
		r.skip(check, "neither TOKEN nor AWS=1: the endpoint is open, whoever finds it can call it")
		r.skip(metadata, "the endpoint is open")
		return
	case e.sign != nil:
		r.judge(wantStatus(refused, http.StatusForbidden), check, "HTTP 403")
		r.skip(metadata, "callers sign with AWS credentials")
		return
	}
	if !r.judge(wantStatus(refused, http.StatusUnauthorized), check, "HTTP 401") {
		return
	}
	where, err := challenge(header)
	if err != nil {
		r.fail("WWW-Authenticate", "%v", err)
		return
	}
	switch {
	case where == "" && header.Get("X-Amzn-Remapped-WWW-Authenticate") != "":
		r.pass("WWW-Authenticate", "renamed by the REST API: clients go by the well-known path")
	case where == "":
		r.pass("WWW-Authenticate", "the gateway's own, without resource_metadata: clients go by the well-known path")
	default:
		r.pass("WWW-Authenticate", "Bearer with resource_metadata")
	}
	note, err := e.metadata(ctx, where)
	r.judge(err, metadata, "%s", note)
}

func wantStatus(f *refusal, status int) error {
	if f.status != status {
		return fmt.Errorf("HTTP %d, want %d", f.status, status)
	}
	return nil
}

// challenge returns the resource_metadata of a 401; empty: there is none.
func challenge(header http.Header) (string, error) {
	value := header.Get("WWW-Authenticate")
	switch scheme, rest, _ := strings.Cut(value, " "); {
	case value == "" && header.Get("X-Amzn-Remapped-WWW-Authenticate") == "":
		return "", errors.New("the 401 has none")
	case value == "":
		return "", nil
	case !strings.EqualFold(scheme, "Bearer"):
		return "", errors.New("its scheme is not Bearer")
	default:
		_, after, found := strings.Cut(rest, `resource_metadata="`)
		where, _, closed := strings.Cut(after, `"`)
		if found && !closed {
			return "", errors.New("it cannot be read")
		}
		return where, nil
	}
}

// metadata reads the metadata where a client would: at the URL of the
// challenge, else at the well-known paths. It says what it read.
func (e *endpoint) metadata(ctx context.Context, where string) (string, error) {
	paths := []string{metadataPath + e.url.Path, metadataPath}
	if where != "" {
		u, err := url.Parse(where)
		switch {
		case err != nil || u.Path == "":
			return "", errors.New("resource_metadata is no URL")
		case u.Scheme != e.url.Scheme || u.Host != e.url.Host:
			return "", fmt.Errorf("it is at %q, another origin than the URL of this run; clients use MRTR_OAUTH_RESOURCE, and so should this run", u.Scheme+"://"+u.Host)
		}
		paths = []string{u.Path}
	}
	for _, path := range paths {
		got, err := e.do(ctx, request{method: http.MethodGet, path: path, whose: nobody})
		switch {
		case err != nil:
			return "", err
		case got.status == http.StatusNotFound || got.status == http.StatusForbidden && where == "":
			continue
		case got.status != http.StatusOK:
			return "", fmt.Errorf("HTTP %d at %s", got.status, path)
		}
		return path, e.judgeMetadata(got.body)
	}
	return "", fmt.Errorf("there is none at %s", strings.Join(paths, " and "))
}

func (e *endpoint) judgeMetadata(body []byte) error {
	var m struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
		Scopes   []string `json:"scopes_supported"`
	}
	switch err := json.Unmarshal(body, &m); {
	case err != nil:
		return errors.New("it cannot be read")
	case m.Resource != e.url.String():
		return fmt.Errorf("resource is %q, which clients that were given the URL of this run refuse", short(m.Resource))
	case len(m.Servers) == 0:
		return errors.New("authorization_servers is missing")
	case slices.Contains(m.Scopes, "offline_access"):
		return errors.New("scopes_supported has offline_access, which is between client and issuer")
	}
	return nil
}

// short cuts a server's text to what a line holds.
func short(s string) string {
	const most = 80
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// foreignOrigin is of a page that nobody allowed.
const foreignOrigin = "https://smoke.invalid"

// pageHeaders are what pages of MCP clients send.
var pageHeaders = []string{"authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"}

// checkCORS asks as the browsers of two pages do.
func checkCORS(ctx context.Context, r *report, e *endpoint) {
	const refuses, allows = "CORS: a foreign page", "CORS: an allowed page"
	r.judge(e.refusesPage(ctx), refuses, "preflight and call get HTTP 403")
	if e.origin == "" {
		r.skip(allows, "no ORIGIN: pages of none are expected to call")
		return
	}
	r.judge(e.allowsPage(ctx), allows, "preflight and call allow %s", e.origin)
}

func (e *endpoint) preflight(ctx context.Context, origin string) (*reply, error) {
	return e.do(ctx, request{method: http.MethodOptions, whose: nobody, header: map[string]string{
		"Origin": origin, "Access-Control-Request-Method": http.MethodPost, "Access-Control-Request-Headers": strings.Join(pageHeaders, ", "),
	}})
}

func (e *endpoint) refusesPage(ctx context.Context) error {
	got, err := e.preflight(ctx, foreignOrigin)
	switch {
	case err != nil:
		return err
	case got.header.Get("Access-Control-Allow-Origin") != "":
		return fmt.Errorf("the preflight of %s is allowed", foreignOrigin)
	case got.status != http.StatusForbidden:
		return fmt.Errorf("its preflight gets HTTP %d, want 403", got.status)
	}
	var refused *refusal
	switch _, _, err := e.rpc(ctx, call{method: protocol.MethodListTools, origin: foreignOrigin}); {
	case err == nil:
		return errors.New("its call is served")
	case !errors.As(err, &refused):
		return err
	case refused.status != http.StatusForbidden:
		return fmt.Errorf("its call gets HTTP %d, want 403", refused.status)
	}
	return nil
}

func (e *endpoint) allowsPage(ctx context.Context) error {
	got, err := e.preflight(ctx, e.origin)
	if err != nil {
		return err
	}
	header := got.header
	allowed := strings.Split(strings.ToLower(strings.ReplaceAll(header.Get("Access-Control-Allow-Headers"), " ", "")), ",")
	switch {
	case got.status/100 != 2:
		return fmt.Errorf("its preflight gets HTTP %d", got.status)
	case header.Get("Access-Control-Allow-Origin") != e.origin:
		return errors.New("its preflight does not name it in Access-Control-Allow-Origin")
	case !strings.Contains(header.Get("Access-Control-Allow-Methods"), http.MethodPost):
		return errors.New("its preflight does not allow POST")
	}
	for _, name := range pageHeaders {
		if !slices.Contains(allowed, name) {
			return fmt.Errorf("its preflight does not allow the header %s", name)
		}
	}
	_, header, err = e.rpc(ctx, call{method: protocol.MethodListTools, origin: e.origin})
	switch {
	case err != nil:
		return fmt.Errorf("its call: %w", err)
	case header.Get("Access-Control-Allow-Origin") != e.origin:
		return errors.New("its call gets no Access-Control-Allow-Origin, so the page cannot read the reply")
	}
	return nil
}
