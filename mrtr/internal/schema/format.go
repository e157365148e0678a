package schema

import (
	"net/url"
	"strings"
	"time"
)

// checkFormat returns the rule that s violates, empty if s has the format.
// Formats other than those of MCP forms are not checked.
func checkFormat(format, s string) string {
	switch format {
	case "email":
		if !isEmail(s) {
			return ruleEmail
		}
	case "uri":
		if !isURI(s) {
			return ruleURI
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return ruleDate
		}
	case "date-time":
		if !isDateTime(s) {
			return ruleDateTime
		}
	}
	return ""
}

// isEmail accepts the addresses that people have: a dot-atom of RFC 5322, an @,
// a host name of at least one label. No quoted local part, no address literal,
// ASCII only.
func isEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || len(s) > 254 || local == "" || len(local) > 64 {
		return false
	}
	for atom := range strings.SplitSeq(local, ".") {
		if atom == "" {
			return false
		}
		for _, c := range []byte(atom) {
			if !alphanumeric(c) && strings.IndexByte("!#$%&'*+-/=?^_`{|}~", c) < 0 {
				return false
			}
		}
	}
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if !alphanumeric(c) && c != '-' {
				return false
			}
		}
	}
	return true
}

// isURI accepts an absolute URI of RFC 3986: ASCII without spaces, a scheme,
// and something after it.
func isURI(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte("<>\"{}|\\^`", c) >= 0 {
			return false
		}
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme == "" {
		return false
	}
	return u.Host != "" || u.Path != "" || u.Opaque != ""
}

// isDateTime accepts a date-time of RFC 3339 with the capital letters T and Z,
// and without leap seconds: what a time.Time can be read from. The time package
// alone takes a comma for the point and hours of one digit.
func isDateTime(s string) bool {
	if _, err := time.Parse(time.RFC3339, s); err != nil || s[13] != ':' || strings.IndexByte(s, ',') >= 0 {
		return false
	}
	if s[len(s)-1] == 'Z' {
		return true
	}
	zone := s[len(s)-len("07:00"):]
	return zone[:2] <= "23" && zone[3:] <= "59"
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
