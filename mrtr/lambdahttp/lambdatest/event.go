package lambdatest

import (
	"encoding/base64"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// Kind is what stands in front of a function.
type Kind string

// The kinds of gateway.
const (
	HTTPAPI     Kind = "http-api"     // payload format 2.0, stage $default
	REST        Kind = "rest-api"     // proxy integration, stage prod
	FunctionURL Kind = "function-url" // payload format 2.0
)

// domains are the hosts that events name.
var domains = map[Kind]string{
	HTTPAPI:     "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com",
	REST:        "f6g7h8i9j0.execute-api.eu-central-1.amazonaws.com",
	FunctionURL: "abcdefghijklmnopqrstuvwxyz012345.lambda-url.eu-central-1.on.aws",
}

// Event returns the event that a gateway of that kind makes of a request whose
// body has been read. It panics on an unknown kind.
func Event(kind Kind, r *http.Request, body []byte) ([]byte, error) {
	if domains[kind] == "" {
		panic("lambdatest: unknown kind of gateway " + string(kind))
	}
	if kind == REST {
		return json.Marshal(restEvent(r, body), json.Deterministic(true))
	}
	return json.Marshal(v2Event(kind, r, body), json.Deterministic(true))
}

type object = map[string]any

func v2Event(kind Kind, r *http.Request, body []byte) object {
	headers := map[string]string{"host": domains[kind]}
	for name, values := range r.Header {
		if name != "Cookie" {
			headers[strings.ToLower(name)] = strings.Join(values, ",")
		}
	}
	forwarded(headers, r)
	path := r.URL.Path // an HTTP API hands it over decoded
	if kind == FunctionURL {
		path = r.URL.EscapedPath()
	}
	ev := object{
		"version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": r.URL.RawQuery, "headers": headers,
		"requestContext": object{
			"accountId": "123456789012", "apiId": apiID(kind), "domainName": domains[kind], "domainPrefix": apiID(kind),
			"requestId": hex(8), "routeKey": "$default", "stage": "$default",
			"time": time.Now().UTC().Format("02/Jan/2006:15:04:05 -0700"), "timeEpoch": time.Now().UnixMilli(),
			"http": object{"method": r.Method, "path": path, "protocol": r.Proto, "sourceIp": sourceIP(r), "userAgent": r.UserAgent()},
		},
	}
	if cookies := r.Header["Cookie"]; len(cookies) > 0 {
		ev["cookies"] = strings.Split(strings.Join(cookies, "; "), "; ")
	}
	if q := r.URL.Query(); len(q) > 0 {
		params := map[string]string{}
		for name, values := range q {
			params[name] = strings.Join(values, ",")
		}
		ev["queryStringParameters"] = params
	}
	putBody(ev, body, textual(r.Header.Get("Content-Type")))
	return ev
}

func restEvent(r *http.Request, body []byte) object {
	headers := map[string]string{"Host": domains[REST]}
	multi := map[string][]string{}
	for name, values := range r.Header {
		headers[name] = values[len(values)-1]
	}
	forwarded(headers, r)
	for name, value := range headers {
		multi[name] = []string{value}
		if values := r.Header[name]; len(values) > 0 {
			multi[name] = values
		}
	}
	ev := object{
		"resource": "/{proxy+}", "path": r.URL.EscapedPath(), "httpMethod": r.Method,
		"headers": headers, "multiValueHeaders": multi,
		"queryStringParameters": nil, "multiValueQueryStringParameters": nil,
		"pathParameters": object{"proxy": strings.TrimPrefix(r.URL.Path, "/")}, "stageVariables": nil, "body": nil,
		"requestContext": object{
			"accountId": "123456789012", "apiId": apiID(REST), "domainName": domains[REST], "domainPrefix": apiID(REST),
			"extendedRequestId": hex(8), "httpMethod": r.Method, "path": "/prod" + r.URL.EscapedPath(), "protocol": r.Proto,
			"requestId": requestID(), "requestTime": time.Now().UTC().Format("02/Jan/2006:15:04:05 -0700"),
			"requestTimeEpoch": time.Now().UnixMilli(), "resourceId": "abc123", "resourcePath": "/{proxy+}", "stage": "prod",
			"identity": object{"sourceIp": sourceIP(r), "userAgent": r.UserAgent(), "accessKey": nil, "accountId": nil,
				"caller": nil, "user": nil, "userArn": nil},
		},
	}
	if q := r.URL.Query(); len(q) > 0 {
		params := map[string]string{}
		for name, values := range q {
			params[name] = values[len(values)-1]
		}
		ev["queryStringParameters"], ev["multiValueQueryStringParameters"] = params, map[string][]string(q)
	}
	putBody(ev, body, true)
	return ev
}

// forwarded adds the headers that gateways add.
func forwarded(headers map[string]string, r *http.Request) {
	name := func(s string) string { return s }
	if _, v2 := headers["host"]; v2 {
		name = strings.ToLower
	}
	headers[name("X-Forwarded-For")] = sourceIP(r)
	headers[name("X-Forwarded-Port")] = "443"
	headers[name("X-Forwarded-Proto")] = "https"
}

// putBody adds a body, in base64 if it is not text.
func putBody(ev object, body []byte, text bool) {
	binary := !text || !utf8.Valid(body)
	ev["isBase64Encoded"] = binary && len(body) > 0
	switch {
	case len(body) == 0:
	case binary:
		ev["body"] = base64.StdEncoding.EncodeToString(body)
	default:
		ev["body"] = string(body)
	}
}

// textual reports whether a gateway takes that content type for text.
func textual(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	switch t {
	case "application/json", "application/javascript", "application/xml":
		return true
	}
	return strings.HasPrefix(t, "text/")
}

func apiID(kind Kind) string {
	id, _, _ := strings.Cut(domains[kind], ".")
	return id
}

func sourceIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "192.0.2.1"
	}
	return host
}
