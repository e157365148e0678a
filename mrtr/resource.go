package mrtr

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/yosida95/uritemplate/v3"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// Resource describes a resource. URI and Name are required.
type Resource struct {
	URI string
	Name,
	Title,
	Description,
	MIMEType string
	Annotations     *protocol.Annotations
	Size            *int64 // bytes; nil: not said
	Icons           []protocol.Icon
	Meta            protocol.Object
	Cache           Cache
	Revision        string // as for Tool
	AcceptRevisions []string
	Needs           protocol.ClientCapabilities
}

// ResourceTemplate describes resources by the form of their URIs, of at most
// 2048 bytes. URITemplate (RFC 6570) and Name are required.
type ResourceTemplate struct {
	URITemplate string
	Name,
	Title,
	Description,
	MIMEType string
	Annotations     *protocol.Annotations
	Icons           []protocol.Icon
	Meta            protocol.Object
	Cache           Cache
	Complete        map[string]Completer // suggests values, by the template's variables
	Revision        string               // as for Tool
	AcceptRevisions []string
	Needs           protocol.ClientCapabilities
}

// Cache says how long clients may keep what they read. The zero value: not at
// all, and for nobody else.
type Cache struct {
	TTL    time.Duration
	Shared bool // the content is the same for every caller
}

// ErrResourceNotFound is returned by the handler of a template for a URI that
// fits the template but names nothing.
var ErrResourceNotFound = errors.New("mrtr: resource not found")

// AddResource registers a resource. The handler may ask back as a tool does. A
// mistake in res panics, as does a second resource of the same URI.
func AddResource(s *Server, res Resource, handle func(ctx context.Context, c *Call) ([]protocol.ResourceContents, error)) {
	if u, err := url.Parse(res.URI); err != nil || u.Scheme == "" || res.Name == "" {
		panic(fmt.Sprintf("mrtr: resource %q needs an absolute URI and a name", res.URI))
	}
	t := newResource(res.URI, res.Cache, res.Needs, protocol.Resource{
		URI: res.URI, Name: res.Name, Title: res.Title, Description: res.Description, MIMEType: res.MIMEType,
		Annotations: res.Annotations, Size: res.Size, Icons: res.Icons, Meta: res.Meta,
	}, func(ctx context.Context, c *Call, _ string) ([]protocol.ResourceContents, error) {
		return handle(ctx, c)
	})
	if err := t.setRevision(res.Revision, res.AcceptRevisions); err != nil {
		panic(fmt.Sprintf("mrtr: resource %q: %v", res.URI, err))
	}
	s.add(t)
}

// AddResourceTemplate registers resources by the form of their URIs. The
// handler gets the URI that was asked for and the template's variables in it,
// decoded; the elements of a list are joined by commas. Templates are tried in
// the order in which they were registered, after the plain resources, with URIs
// of at most 2048 bytes and 64 separators.
func AddResourceTemplate(s *Server, res ResourceTemplate, handle func(ctx context.Context, c *Call, uri string, vars map[string]string) ([]protocol.ResourceContents, error)) {
	tmpl, err := uritemplate.New(res.URITemplate)
	if err != nil || res.Name == "" {
		panic(fmt.Sprintf("mrtr: resource template %q needs an RFC 6570 template and a name", res.URITemplate))
	}
	names := make(map[string]bool)
	for _, name := range tmpl.Varnames() {
		names[name] = true
	}
	for name := range res.Complete {
		if !names[name] {
			panic(fmt.Sprintf("mrtr: resource template %q has no variable %q to complete", res.URITemplate, name))
		}
	}
	t := newResource(res.URITemplate, res.Cache, res.Needs, protocol.ResourceTemplate{
		URITemplate: res.URITemplate, Name: res.Name, Title: res.Title, Description: res.Description, MIMEType: res.MIMEType,
		Annotations: res.Annotations, Icons: res.Icons, Meta: res.Meta,
	}, func(ctx context.Context, c *Call, uri string) ([]protocol.ResourceContents, error) {
		return handle(ctx, c, uri, c.request.vars)
	})
	t.template, t.completers, t.arguments = tmpl, res.Complete, names
	if err := t.setRevision(res.Revision, res.AcceptRevisions); err != nil {
		panic(fmt.Sprintf("mrtr: resource template %q: %v", res.URITemplate, err))
	}
	s.add(t)
}

func newResource(name string, cache Cache, needs protocol.ClientCapabilities, definition any, handle func(context.Context, *Call, string) ([]protocol.ResourceContents, error)) *target {
	hints := &protocol.CacheHints{TTLMs: max(cache.TTL, 0).Milliseconds(), Scope: protocol.CachePrivate}
	if cache.Shared {
		hints.Scope = protocol.CachePublic
	}
	return &target{
		purpose: requeststate.PurposeResource, method: protocol.MethodReadResource, name: name, needs: needs, definition: definition,
		run: func(ctx context.Context, c *Call, _ jsontext.Value) (reply, error) {
			contents, err := handle(ctx, c, c.name)
			if errors.Is(err, ErrResourceNotFound) {
				return nil, c.request.resourceNotFound(c.name)
			}
			if err != nil {
				return nil, err
			}
			if len(contents) == 0 {
				return nil, internal("no_result", fmt.Errorf("the handler of resource %q returned neither contents nor an error", name))
			}
			return resourceReply{contents, hints}, nil
		},
	}
}

type resourceReply struct {
	contents []protocol.ResourceContents
	cache    *protocol.CacheHints
}

func (p resourceReply) outcome() Outcome { return OutcomeComplete }

func (p resourceReply) encode(r *request) (jsontext.Value, error) {
	res := protocol.ReadResourceResult{ResultType: r.resultType(), Contents: p.contents}
	switch {
	case r.handshake:
	case r.params.InputResponses != nil || r.params.RequestState != nil: // made from a client's answers: for nobody to keep
		res.Cache = &protocol.CacheHints{Scope: protocol.CachePrivate}
	default:
		res.Cache = p.cache
	}
	return r.response(r.encodeResult(res, nil))
}

// readResource runs one round of a resources/read.
func (h *handler) readResource(ctx context.Context, r *request) (jsontext.Value, error) {
	uri, ok := stringOf(r.params.URI)
	if !ok || uri == "" {
		return nil, invalidParams("uri must be a non-empty string")
	}
	t, vars := h.resource(uri)
	if t == nil {
		return nil, r.resourceNotFound(uri)
	}
	r.vars = vars
	return h.round(ctx, r, t, uri, emptyObject)
}

// What is held against templates is bounded: taking a URI apart costs up to the
// square of the separators in it, for each variable.
const (
	maxTemplateURI        = 2048
	maxTemplateSeparators = 64
	templateSeparators    = ",/.;?&="
)

// resource returns what a URI names, nil where it names nothing, and the
// variables of its template.
func (h *handler) resource(uri string) (*target, map[string]string) {
	if t := h.targets[targetKey{requeststate.PurposeResource, uri}]; t != nil && t.template == nil {
		return t, nil
	}
	separators := 0
	for i := range len(uri) {
		if strings.IndexByte(templateSeparators, uri[i]) >= 0 {
			separators++
		}
	}
	if len(uri) > maxTemplateURI || separators > maxTemplateSeparators {
		return nil, nil
	}
	for _, t := range h.templates {
		// The expression takes linear time and lets a few more through.
		if !t.template.Regexp().MatchString(uri) {
			continue
		}
		values := t.template.Match(uri)
		if values == nil {
			continue
		}
		vars := make(map[string]string, len(values))
		for name, v := range values {
			vars[name] = strings.Join(v.V, ",")
		}
		return t, vars
	}
	return nil, nil
}

func (r *request) resourceNotFound(uri string) *failure {
	code := jsonrpc.CodeInvalidParams
	if r.handshake {
		code = protocol.CodeResourceNotFound
	}
	return fail(http.StatusBadRequest, code, "Resource not found").with(protocol.ResourceNotFoundData{URI: uri})
}
