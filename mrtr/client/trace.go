package client

import (
	"context"
	"maps"
	"strings"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Keys in the _meta of rounds 2 and later that hold round 1's traceparent, so
// that a trace viewer can join the rounds of one operation.
const (
	MetaTraceLink = "io.github.mrtr-lambda/tracelink"
	// MetaTraceLinkOther has a prefix that is reserved for the specification,
	// which defines no such key; other clients use it. See Options.ReservedTraceLink.
	MetaTraceLinkOther = "io.modelcontextprotocol/tracelink"
)

// meta returns the members for the _meta of the next request, in a map of its
// own. It notes round 1's traceparent.
func (f *Flow) meta(ctx context.Context, o *Options) map[string]any {
	m := map[string]any{}
	if o != nil && o.Meta != nil {
		maps.Copy(m, o.Meta(ctx, f.rounds+1))
	}
	if f.rounds == 0 {
		f.traceparent = ""
		if t, ok := m[protocol.MetaTraceparent].(string); ok && isTraceparent(t) {
			f.traceparent = t
		}
		return m
	}
	if f.traceparent == "" {
		return m
	}
	link := func(key string) {
		if _, ok := m[key]; !ok { // the caller's value wins
			m[key] = f.traceparent
		}
	}
	link(MetaTraceLink)
	if o != nil && o.ReservedTraceLink {
		link(MetaTraceLinkOther)
	}
	return m
}

// isTraceparent reports whether s has the form of W3C Trace Context, version 00
// or what later versions keep of it.
func isTraceparent(s string) bool {
	p := strings.SplitN(s, "-", 5)
	if len(p) < 4 || len(p) == 5 && p[0] == "00" || p[0] == "ff" || len(s) > 128 {
		return false
	}
	for i, n := range [...]int{2, 32, 16, 2} {
		if len(p[i]) != n || strings.Trim(p[i], "0123456789abcdef") != "" {
			return false
		}
	}
	return strings.Trim(p[1], "0") != "" && strings.Trim(p[2], "0") != ""
}
