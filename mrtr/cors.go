package mrtr

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
)

// originAllowed guards against DNS rebinding and foreign pages.
func (h *handler) originAllowed(r *http.Request) bool {
	if h.opts.AllowLoopbackOrigins && !loopback(hostOnly(r.Host)) {
		return false
	}
	origins := r.Header["Origin"]
	if len(origins) == 0 {
		return true
	}
	if len(origins) > 1 {
		return false
	}
	if h.origins[origins[0]] {
		return true
	}
	if !h.opts.AllowLoopbackOrigins {
		return false
	}
	u, err := url.Parse(origins[0])
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && loopback(u.Hostname()) && origins[0] == u.Scheme+"://"+u.Host
}

func hostOnly(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// corsHeaders are the request headers that a page may send, in lower case,
// beside those of tools' parameters.
var corsHeaders = []string{
	"accept", "authorization", "content-type",
	strings.ToLower(jsonrpc.HeaderProtocolVersion), strings.ToLower(jsonrpc.HeaderMethod),
	strings.ToLower(jsonrpc.HeaderName), strings.ToLower(jsonrpc.HeaderSessionID),
	"traceparent", "tracestate", "baggage", "last-event-id",
}

// allowOrigin lets the page that sent a request, whose origin is allowed, read
// the response.
func allowOrigin(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Add("Vary", "Origin")
	if origin := r.Header.Get("Origin"); origin != "" {
		header.Set("Access-Control-Allow-Origin", origin)
		header.Set("Access-Control-Expose-Headers", jsonrpc.HeaderSessionID+", WWW-Authenticate, Retry-After")
	}
}

// preflight answers the question that a browser asks before a page's request.
func preflight(w http.ResponseWriter, r *http.Request) {
	allowed, more := corsHeaders[:len(corsHeaders):len(corsHeaders)], 64 // parameters of one tool, at most
	for name := range strings.SplitSeq(strings.ToLower(r.Header.Get("Access-Control-Request-Headers")), ",") {
		name = strings.TrimSpace(name)
		if strings.HasPrefix(name, strings.ToLower(jsonrpc.HeaderParamPrefix)) && isToken(name) && more > 0 {
			allowed, more = append(allowed, name), more-1
		}
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", http.MethodPost)
	header.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	header.Set("Access-Control-Max-Age", "7200")
	header.Add("Vary", "Access-Control-Request-Headers")
	w.WriteHeader(http.StatusNoContent)
}
