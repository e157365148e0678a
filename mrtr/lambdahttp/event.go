package lambdahttp

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind says what sent an event.
type Kind uint8

// The kinds of event.
const (
	KindUnknown     Kind = iota
	KindHTTPAPI          // API Gateway HTTP API, payload format 2.0 or 1.0
	KindREST             // API Gateway REST API, proxy integration
	KindFunctionURL      // Lambda Function URL
)

// String returns the kind as a short lower-case name.
func (k Kind) String() string {
	switch k {
	case KindHTTPAPI:
		return "http-api"
	case KindREST:
		return "rest-api"
	case KindFunctionURL:
		return "function-url"
	}
	return "unknown"
}

// event is an HTTP request as an event tells it, whatever its payload format.
type event struct {
	kind   Kind
	v1     bool // payload format 1.0
	method string
	path   string
	query  string // encoded
	header header
	cookie string // of format 2.0, replaces the header
	body   []byte
	base64 bool

	accountID, requestID, stage, domainName, sourceIP string
	authorizer, identity                              string // JSON; empty when absent or null
}

// members are members of an event as found: JSON where the name says so,
// otherwise text.
type members struct {
	version, headersJSON, bodyJSON       string
	rawPath, rawQuery, cookiesJSON       string // format 2.0
	httpMethod, path, multiJSON          string // format 1.0
	queryJSON, multiQueryJSON            string
	method, httpSourceIP                 string // requestContext.http
	resourceID, resourcePath, identityIP string // requestContext of format 1.0
}

// decode reads an event. Anything that is not one of the known shapes is of
// KindUnknown, and the rest is then meaningless. The event keeps no part of
// payload.
func (e *event) decode(payload []byte) {
	if !jsontext.Value(payload).IsValid() {
		return
	}
	s := scanner{s: string(payload)}
	var m members
	e.scan(&s, &m)
	kind := m.kind(e.domainName)
	switch {
	case kind == KindUnknown || s.bad:
		return
	case m.httpMethod == "":
		e.method, e.path, e.query, e.sourceIP = m.method, m.rawPath, m.rawQuery, m.httpSourceIP
		e.cookie = (&scanner{s: m.cookiesJSON}).join("; ")
		(&scanner{s: m.headersJSON}).fields(&s.bad, false, e.header.add)
	default:
		e.v1 = true
		e.method, e.path, e.sourceIP = m.httpMethod, m.path, m.identityIP
		(&scanner{s: m.multiJSON}).fields(&s.bad, true, e.header.add)
		if e.header.fields == nil {
			(&scanner{s: m.headersJSON}).fields(&s.bad, false, e.header.add)
		}
		var q query
		(&scanner{s: m.multiQueryJSON}).fields(&s.bad, true, q.add)
		if q == nil {
			(&scanner{s: m.queryJSON}).fields(&s.bad, false, q.add)
		}
		e.query = string(q)
	}
	if m.bodyJSON != "" && m.bodyJSON[0] != '"' {
		s.bad = true
	} else if m.bodyJSON != "" {
		e.body, _ = jsontext.AppendUnquote(make([]byte, 0, len(m.bodyJSON)), m.bodyJSON)
	}
	if !s.bad {
		e.kind = kind
	}
}

// kind tells what sent the event.
func (m *members) kind(domain string) Kind {
	switch {
	case m.version == "2.0" && m.method != "" && m.httpMethod == "":
		if strings.Contains(domain, ".lambda-url.") {
			return KindFunctionURL
		}
		return KindHTTPAPI
	case m.httpMethod == "" || m.resourcePath == "":
		return KindUnknown
	case m.version == "1.0" && m.resourceID == "":
		return KindHTTPAPI
	case m.version == "1.0" || m.version == "":
		return KindREST
	}
	return KindUnknown
}

// scan goes over the event once.
func (e *event) scan(s *scanner, m *members) {
	if !s.enter('{') {
		s.bad = true
		return
	}
	for s.more('}') {
		switch s.name() {
		case "version":
			m.version = s.text()
		case "headers":
			m.headersJSON = s.json()
		case "body":
			m.bodyJSON = s.json()
		case "isBase64Encoded":
			e.base64 = s.json() == "true"
		case "rawPath":
			m.rawPath = s.text()
		case "rawQueryString":
			m.rawQuery = s.text()
		case "cookies":
			m.cookiesJSON = s.json()
		case "httpMethod":
			m.httpMethod = s.text()
		case "path":
			m.path = s.text()
		case "multiValueHeaders":
			m.multiJSON = s.json()
		case "queryStringParameters":
			m.queryJSON = s.json()
		case "multiValueQueryStringParameters":
			m.multiQueryJSON = s.json()
		case "requestContext":
			e.scanContext(s, m)
		default:
			s.skip()
		}
	}
}

func (e *event) scanContext(s *scanner, m *members) {
	if !s.enter('{') {
		s.skip()
		return
	}
	for s.more('}') {
		switch s.name() {
		case "accountId":
			e.accountID = s.text()
		case "requestId":
			e.requestID = s.text()
		case "stage":
			e.stage = s.text()
		case "domainName":
			e.domainName = s.text()
		case "resourceId":
			m.resourceID = s.text()
		case "resourcePath":
			m.resourcePath = s.text()
		case "authorizer":
			e.authorizer = s.json()
		case "identity":
			e.identity = s.json()
			(&scanner{s: e.identity}).find("sourceIp", &m.identityIP)
		case "http":
			if !s.enter('{') {
				s.skip()
				continue
			}
			for s.more('}') {
				switch s.name() {
				case "method":
					m.method = s.text()
				case "sourceIp":
					m.httpSourceIP = s.text()
				default:
					s.skip()
				}
			}
		default:
			s.skip()
		}
	}
}

// header collects header fields; bad means that one was not fit for HTTP.
type header struct {
	fields http.Header
	values []string // backing array for one-element slices of fields
	bad    bool
}

func (h *header) add(name, value string) {
	if !validName(name) || !validValue(value) {
		h.bad = true
		return
	}
	const block = 24
	if h.fields == nil {
		h.fields = make(http.Header, block)
	}
	name, value = http.CanonicalHeaderKey(name), strings.Trim(value, " \t")
	if old, ok := h.fields[name]; ok {
		h.fields[name] = append(old, value)
		return
	}
	if len(h.values) == cap(h.values) {
		h.values = make([]string, 0, block)
	}
	n := len(h.values)
	h.values = append(h.values, value)
	h.fields[name] = h.values[n : n+1 : n+1]
}

// query encodes parameters that come decoded.
type query []byte

func (q *query) add(name, value string) {
	if len(*q) > 0 {
		*q = append(*q, '&')
	}
	*q = append(*q, url.QueryEscape(name)...)
	*q = append(*q, '=')
	*q = append(*q, url.QueryEscape(value)...)
}
