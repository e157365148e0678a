package mrtr

import (
	"fmt"
	"math/big"
	"net/textproto"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
)

// paramHeader is a tool parameter that clients mirror into an HTTP header, by
// the schema's x-mcp-header (MCP 2026-07-28, Streamable HTTP, Custom Headers
// from Tool Parameters).
type paramHeader struct {
	header string   // Mcp-Param-…, in canonical form
	path   []string // property names from the root of the arguments
}

const headerKeyword = "x-mcp-header"

// paramHeaders returns the annotated parameters of an input schema. The error
// names what breaks the rules for such annotations.
func paramHeaders(raw jsontext.Value) ([]paramHeader, error) {
	if !strings.Contains(string(raw), headerKeyword) {
		return nil, nil
	}
	var found []paramHeader
	reached := 0
	var walk func(raw jsontext.Value, path []string) error
	walk = func(raw jsontext.Value, path []string) error {
		var s struct {
			Header     jsontext.Value `json:"x-mcp-header"`
			Type       jsontext.Value `json:"type"`
			Properties jsontext.Value `json:"properties"`
		}
		if raw.Kind() != '{' || unmarshal(raw, &s) != nil {
			return nil
		}
		if s.Header != nil {
			reached++
			suffix, ok := stringOf(s.Header)
			if !ok || !isToken(suffix) || len(path) == 0 {
				return fmt.Errorf("%s at %q must be a header name, on a property", headerKeyword, strings.Join(path, "/"))
			}
			switch t, _ := stringOf(s.Type); t {
			case "string", "integer", "boolean":
			default:
				return fmt.Errorf("%s at %q: only a string, an integer or a boolean can be a header", headerKeyword, strings.Join(path, "/"))
			}
			name := textproto.CanonicalMIMEHeaderKey(jsonrpc.HeaderParamPrefix + suffix)
			for _, other := range found {
				if strings.EqualFold(other.header, name) {
					return fmt.Errorf("%s %q is used twice", headerKeyword, suffix)
				}
			}
			found = append(found, paramHeader{header: name, path: append([]string(nil), path...)})
		}
		return eachMember(s.Properties, func(name string, sub jsontext.Value) error {
			return walk(sub, append(path, name))
		})
	}
	if err := walk(raw, nil); err != nil {
		return nil, err
	}
	if all := countKeyword(raw); all != reached {
		return nil, fmt.Errorf("%s is allowed only on properties that are reached through properties alone", headerKeyword)
	}
	return found, nil
}

// eachMember calls f for the members of an object in their order; anything else
// has none.
func eachMember(raw jsontext.Value, f func(string, jsontext.Value) error) error {
	if raw.Kind() != '{' {
		return nil
	}
	return jsonrpc.Walk(raw, func(name []byte, v jsontext.Value) error { return f(string(name), v) })
}

// countKeyword counts the members named x-mcp-header anywhere in a schema but
// in the values of const, enum, default and examples, and as a property's name.
func countKeyword(raw jsontext.Value) int {
	n := 0
	var walk func(v jsontext.Value, names bool)
	walk = func(v jsontext.Value, names bool) {
		switch v.Kind() {
		case '{':
			eachMember(v, func(name string, sub jsontext.Value) error {
				switch {
				case names:
					walk(sub, false)
				case name == headerKeyword:
					n++
				case name == "const" || name == "enum" || name == "default" || name == "examples":
				default:
					walk(sub, name == "properties" || name == "patternProperties" || name == "$defs" || name == "dependentSchemas")
				}
				return nil
			})
		case '[':
			var items []jsontext.Value
			if unmarshal(v, &items) == nil {
				for _, item := range items {
					walk(item, false)
				}
			}
		}
	}
	walk(raw, false)
	return n
}

// checkParamHeaders holds the headers of a call against its arguments.
func (r *request) checkParamHeaders(headers []paramHeader, args jsontext.Value) error {
	for _, p := range headers {
		value := at(args, p.path)
		sent := r.http.Header[p.header]
		if value.Kind() == 0 || value.Kind() == 'n' {
			if len(sent) > 0 {
				return headerMismatch(p.header + " has no counterpart in the arguments")
			}
			continue
		}
		if len(sent) == 0 {
			return headerMismatch(p.header + " is missing")
		}
		got, ok := jsonrpc.DecodeHeaderValue(sent[0])
		if !ok || len(sent) > 1 || !mirrors(got, value) {
			return headerMismatch(p.header + " does not match the arguments")
		}
	}
	return nil
}

// at returns the value at a path of property names; nil where there is none.
func at(v jsontext.Value, path []string) jsontext.Value {
	for _, name := range path {
		var next jsontext.Value
		eachMember(v, func(key string, sub jsontext.Value) error {
			if key == name {
				next = sub
			}
			return nil
		})
		v = next
	}
	return v
}

// mirrors reports whether a header's value stands for an argument: numbers are
// compared as numbers, within the integers that a double holds.
func mirrors(got string, value jsontext.Value) bool {
	switch value.Kind() {
	case '"':
		want, ok := stringOf(value)
		return ok && got == want
	case 't', 'f':
		return got == string(value)
	case '0':
		return sameInteger(got, string(value))
	}
	return false
}

// sameInteger reports whether two JSON numbers are one integer that a double
// holds: 42, 42.0 and 4.2e1 are.
func sameInteger(a, b string) bool {
	const longest = 40 // what a number that small can need, written oddly
	if len(a) > longest || len(b) > longest || !jsontext.Value(a).IsValid() {
		return false
	}
	for _, s := range [...]string{a, b} {
		if _, e, ok := strings.Cut(strings.ToLower(s), "e"); ok && len(e) > 3 {
			return false
		}
	}
	x, okA := new(big.Rat).SetString(a)
	y, okB := new(big.Rat).SetString(b)
	safe := new(big.Int).SetInt64(1<<53 - 1)
	return okA && okB && x.IsInt() && x.Cmp(y) == 0 && x.Num().CmpAbs(safe) <= 0
}

// isToken reports whether s is a token of RFC 9110, as header names are.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
