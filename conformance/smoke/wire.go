package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

const (
	version        = "2026-07-28"
	maxRequests    = 500              // of a run
	maxReply       = 8 << 20          // bytes of a body that are read
	requestTimeout = 35 * time.Second // longer than API Gateway waits
)

// signer adds credentials to a request with that body.
type signer func(r *http.Request, body []byte) error

// endpoint is what is judged. It is safe for concurrent use.
type endpoint struct {
	*settings
	client *http.Client
	times  latencies
	sent   atomic.Int64
}

func newEndpoint(s *settings) *endpoint {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		MaxIdleConnsPerHost: s.parallel + 1, IdleConnTimeout: time.Minute,
	}
	return &endpoint{settings: s, client: &http.Client{
		Transport: transport, Timeout: requestTimeout,
		// A redirect would take credentials elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// authenticated reports whether requests carry credentials.
func (e *endpoint) authenticated() bool { return e.token != "" || e.sign != nil }

// whose says with which credentials a request goes.
type whose int

const (
	own     whose = iota // the run's, if there are any
	nobody               // none
	another              // those of OTHER_TOKEN
)

// reply is an HTTP response that has been read.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// request is one to the endpoint's origin.
type request struct {
	method string
	path   string // empty: the endpoint's
	header map[string]string
	body   []byte
	whose  whose
	kind   string // of its latency
}

// do sends a request. An error has no part of request and response but the URL.
func (e *endpoint) do(ctx context.Context, q request) (*reply, error) {
	if e.sent.Add(1) > maxRequests {
		return nil, fmt.Errorf("more than %d requests in one run", maxRequests)
	}
	u := *e.url
	if q.path != "" {
		u = url.URL{Scheme: u.Scheme, Host: u.Host, Path: q.path}
	}
	var start, got, wrote, first time.Time
	var reused bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:              func(c httptrace.GotConnInfo) { got, reused = time.Now(), c.Reused },
		WroteRequest:         func(httptrace.WroteRequestInfo) { wrote = time.Now() },
		GotFirstResponseByte: func() { first = time.Now() },
	})
	r, err := http.NewRequestWithContext(ctx, q.method, u.String(), bytes.NewReader(q.body))
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	switch {
	case q.whose == another:
		r.Header.Set("Authorization", "Bearer "+e.otherToken)
	case q.whose == own && e.token != "":
		r.Header.Set("Authorization", "Bearer "+e.token)
	case q.whose == own && e.sign != nil:
		if err := e.sign(r, q.body); err != nil {
			return nil, err
		}
	}
	start = time.Now()
	res, err := e.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return nil, fmt.Errorf("reading the reply: %w", err)
	}
	if !wrote.IsZero() && first.After(wrote) {
		e.times.add(q.kind, first.Sub(wrote))
	}
	if q.kind != kindOther && !reused {
		e.times.add(kindConnect, got.Sub(start))
	}
	return &reply{res.StatusCode, res.Header, body}, nil
}

// result has the members that any result read here has.
type result struct {
	ResultType string `json:"resultType"`
	Tools      []struct {
		Name string `json:"name"`
	} `json:"tools"`
	NextCursor string `json:"nextCursor"`
	Content    []struct {
		Text string `json:"text"`
	} `json:"content"`
	IsError       bool                      `json:"isError"`
	InputRequests map[string]jsontext.Value `json:"inputRequests"`
	RequestState  string                    `json:"requestState"`
}

// text returns the first text of the result.
func (r *result) text() string {
	if len(r.Content) == 0 {
		return ""
	}
	return r.Content[0].Text
}

// rpcError is a JSON-RPC error as it was spelt.
type rpcError struct {
	Code    int            `json:"code"`
	Message string         `json:"message"`
	Data    jsontext.Value `json:"data"`
}

// refusal is an answer that is no result.
type refusal struct {
	status int
	header http.Header
	rpc    *rpcError // nil: the body is no JSON-RPC response
}

// Error says what came, in words that no server wrote.
func (f *refusal) Error() string {
	s := fmt.Sprintf("HTTP %d", f.status)
	if f.rpc != nil {
		s += fmt.Sprintf(", JSON-RPC error %d", f.rpc.Code)
	}
	switch {
	case f.status == http.StatusUnauthorized:
		s += ": the endpoint wants credentials that it accepts"
	case f.status == http.StatusForbidden && strings.Contains(f.header.Get("WWW-Authenticate"), "insufficient_scope"):
		s += ": the token lacks a scope"
	case f.status == http.StatusTooManyRequests:
		s += ": throttled by the gateway"
	case f.status == http.StatusServiceUnavailable && f.rpc == nil:
		s += ": the gateway found no instance of the function"
	case f.status == http.StatusServiceUnavailable:
		s += ": the key service or the issuer's keys cannot be had"
	}
	return s
}

// call is a JSON-RPC request of the modern era.
type call struct {
	method    string
	tool      string         // tools/call alone
	arguments map[string]any // likewise; nil: {}
	answers   map[string]any
	state     string
	origin    string // of the page that calls; empty: no page
	whose     whose
	kind      string
}

// rpc makes a call. The error is a *refusal where the answer is no result.
func (e *endpoint) rpc(ctx context.Context, c call) (*result, http.Header, error) {
	params := map[string]any{"_meta": map[string]any{
		protocol.MetaProtocolVersion:    version,
		protocol.MetaClientInfo:         map[string]any{"name": "smoke", "version": "1"},
		protocol.MetaClientCapabilities: map[string]any{"elicitation": map[string]any{}, "sampling": map[string]any{}, "roots": map[string]any{}},
	}}
	header := map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": version, "Mcp-Method": c.method,
	}
	if c.tool != "" {
		header["Mcp-Name"] = c.tool
		params["name"], params["arguments"] = c.tool, c.arguments
		if c.arguments == nil {
			params["arguments"] = map[string]any{}
		}
	}
	if c.answers != nil {
		params["inputResponses"] = c.answers
	}
	if c.state != "" {
		params["requestState"] = c.state
	}
	if c.origin != "" {
		header["Origin"] = c.origin
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": c.method, "params": params}, json.Deterministic(true))
	if err != nil {
		return nil, nil, errors.New("the request cannot be encoded")
	}
	got, err := e.do(ctx, request{method: http.MethodPost, header: header, body: body, whose: c.whose, kind: c.kind})
	if err != nil {
		return nil, nil, err
	}
	var response struct {
		Result *result   `json:"result"`
		Error  *rpcError `json:"error"`
	}
	if err := json.Unmarshal(got.body, &response); err != nil || response.Error != nil || got.status != http.StatusOK {
		if got.status == http.StatusOK && response.Error == nil {
			return nil, got.header, errors.New("HTTP 200 with a body that is no JSON-RPC response")
		}
		return nil, got.header, &refusal{got.status, got.header, response.Error}
	}
	if response.Result == nil {
		return nil, got.header, errors.New("HTTP 200 with a response that has no result")
	}
	return response.Result, got.header, nil
}
