package jsonrpc

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// The HTTP headers of MCP's Streamable HTTP transport, in Go's canonical form.
const (
	HeaderProtocolVersion = "Mcp-Protocol-Version"
	HeaderMethod          = "Mcp-Method"
	HeaderName            = "Mcp-Name"
	HeaderSessionID       = "Mcp-Session-Id"
	HeaderParamPrefix     = "Mcp-Param-"
)

const (
	sentinelPrefix = "=?base64?"
	sentinelSuffix = "?="
)

// DecodeHeaderValue returns what a Mcp-Name or Mcp-Param-* header value stands
// for: itself where it is visible ASCII, space and tab, or what its Base64
// sentinel form ("=?base64?…?=") holds. It reports false for anything else:
// other characters, Base64 that is not standard and padded, or that does not
// hold UTF-8. Source: MCP 2026-07-28, Streamable HTTP, Value Encoding.
func DecodeHeaderValue(v string) (string, bool) {
	for i := 0; i < len(v); i++ {
		if c := v[i]; c != '\t' && (c < ' ' || c > '~') {
			return "", false
		}
	}
	if !strings.HasPrefix(v, sentinelPrefix) || !strings.HasSuffix(v, sentinelSuffix) || len(v) < len(sentinelPrefix)+len(sentinelSuffix) {
		return v, true
	}
	b, err := base64.StdEncoding.Strict().DecodeString(v[len(sentinelPrefix) : len(v)-len(sentinelSuffix)])
	if err != nil || !utf8.Valid(b) {
		return "", false
	}
	return string(b), true
}

// EncodeHeaderValue returns the form of s that DecodeHeaderValue reads back.
func EncodeHeaderValue(s string) string {
	plain := s == strings.Trim(s, " \t") && !(strings.HasPrefix(s, sentinelPrefix) && strings.HasSuffix(s, sentinelSuffix))
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] == '\t' || (s[i] >= ' ' && s[i] <= '~')
	}
	if plain {
		return s
	}
	return sentinelPrefix + base64.StdEncoding.EncodeToString([]byte(s)) + sentinelSuffix
}
