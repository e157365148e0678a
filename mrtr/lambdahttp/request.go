package lambdahttp

import (
	"bytes"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// What a client is told of a request that is refused.
const (
	refusedEvent  = "the event is not an HTTP request"
	refusedMethod = "bad method"
	refusedPath   = "bad path"
	refusedQuery  = "bad query"
	refusedHost   = "bad host"
	refusedHeader = "bad header"
	refusedBody   = "bad body encoding"
)

// request turns the event into a request whose context is ctx with inv filled
// in, or says why it is refused.
func (e *event) request(ctx *invocationContext) (r *http.Request, body []byte, refused string) {
	inv := &ctx.inv
	inv.Kind = e.kind
	inv.RequestID = e.requestID
	inv.AccountID = e.accountID
	inv.Stage = e.stage
	inv.DomainName = e.domainName
	inv.SourceIP = e.sourceIP
	if e.authorizer != "" {
		inv.Authorizer = jsontext.Value(e.authorizer)
	}
	if e.identity != "" {
		inv.Identity = jsontext.Value(e.identity)
	}

	h := &e.header
	if !validName(e.method) {
		return nil, nil, refusedMethod
	}
	u := new(url.URL)
	if !setPath(u, e.path, e.kind, e.stage) {
		return nil, nil, refusedPath
	}
	if !visible(e.query) {
		return nil, nil, refusedQuery
	}
	u.RawQuery = e.query
	if h.bad {
		return nil, nil, refusedHeader
	}
	if h.fields == nil {
		h.fields = make(http.Header)
	}
	host := e.domainName
	if host == "" {
		host = h.fields.Get("Host")
	}
	if !visible(host) {
		return nil, nil, refusedHost
	}
	delete(h.fields, "Host")
	delete(h.fields, "Transfer-Encoding") // the body is whole
	if e.cookie != "" {
		if !validValue(e.cookie) {
			return nil, nil, refusedHeader
		}
		h.fields["Cookie"] = []string{e.cookie}
	}
	body = e.body
	if e.base64 {
		raw, err := base64.StdEncoding.AppendDecode(nil, body)
		if err != nil {
			return nil, nil, refusedBody
		}
		body = raw
	}
	if v, ok := h.fields["Content-Length"]; ok {
		h.fields["Content-Length"] = append(v[:0], strconv.Itoa(len(body)))
	}
	// The request is made on the stack, its copy with a context on the heap.
	tmpl := http.Request{
		Method: e.method, URL: u, RequestURI: u.RequestURI(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h.fields, Host: host,
		Body: newBody(body), ContentLength: int64(len(body)),
	}
	if printable(inv.SourceIP) && inv.SourceIP != "" {
		tmpl.RemoteAddr = net.JoinHostPort(inv.SourceIP, "0")
	}
	return tmpl.WithContext(ctx), body, ""
}

// setPath fills in the URL's path and reports whether it is one.
func setPath(u *url.URL, path string, kind Kind, stage string) bool {
	decoded := kind == KindHTTPAPI
	if decoded && stage != "" && stage != "$default" {
		if rest, ok := strings.CutPrefix(path, "/"+stage); ok && (rest == "" || rest[0] == '/') {
			path = rest
			if path == "" {
				path = "/"
			}
		}
	}
	if path == "" || path[0] != '/' {
		return false
	}
	if decoded {
		u.Path = path
		return printable(path)
	}
	p, err := url.PathUnescape(path)
	if err != nil || !printable(p) {
		return false
	}
	u.Path = p
	if p != path {
		u.RawPath = path // ignored by EscapedPath where it is not an encoding of Path
	}
	return true
}

// requestBody is a body in memory.
type requestBody struct{ bytes.Reader }

func (*requestBody) Close() error { return nil }

func newBody(b []byte) io.ReadCloser {

	if len(b) == 0 {
		return http.NoBody
	}
	r := new(requestBody)
	r.Reset(b)
	return r
}
