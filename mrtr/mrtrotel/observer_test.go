package mrtrotel_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrotel"
)

// Trace contexts that a client sends.
const (
	traceOne = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	traceTwo = "00-1af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01"
	traceTri = "00-2af7651916cd43dd8448eb211c80319c-d7ad6b7169203331-01"
)

func metaTrace(traceparent string) string { return `,"traceparent":"` + traceparent + `"` }

// TestFlowLinks: rounds 2 and 3 are linked to round 1's span whatever the client
// sends, and to what the client says besides.
func TestFlowLinks(t *testing.T) {
	link := func(key, traceparent string) string { return `,"` + key + `":"` + traceparent + `"` }
	for _, tt := range []struct {
		name    string
		meta    []string
		parents []string // traceparents; empty: a root
		told    []string // links beside the one to round 1's span
	}{
		{"a client without trace context", []string{"", "", ""}, []string{"", "", ""}, nil},
		{"one trace", []string{metaTrace(traceOne), metaTrace(traceOne), metaTrace(traceOne)}, []string{traceOne, traceOne, traceOne}, nil},
		{"a trace a round", []string{metaTrace(traceOne), metaTrace(traceTwo), metaTrace(traceTri)}, []string{traceOne, traceTwo, traceTri}, nil},
		{"with the own link", []string{metaTrace(traceOne), metaTrace(traceTwo) + link(mrtr.MetaTraceLink, traceOne), metaTrace(traceTri) + link(mrtr.MetaTraceLink, traceOne)},
			[]string{traceOne, traceTwo, traceTri}, []string{traceOne}},
		{"with the other link", []string{"", link(mrtr.MetaTraceLinkOther, traceOne), link(mrtr.MetaTraceLinkOther, traceOne)}, []string{"", "", ""}, []string{traceOne}},
		{"with both", []string{"", link(mrtr.MetaTraceLinkOther, traceTwo) + link(mrtr.MetaTraceLink, traceOne), link(mrtr.MetaTraceLink, traceOne) + link(mrtr.MetaTraceLinkOther, traceTwo)},
			[]string{"", "", ""}, []string{traceOne}},
		{"with a link that is none", []string{"", link(mrtr.MetaTraceLink, "00-0-0-01"), `,"` + mrtr.MetaTraceLink + `":[1]`}, []string{"", "", ""}, nil},
		{"a client that stops sending it", []string{metaTrace(traceOne), "", ""}, []string{traceOne, "", ""}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spans := newKit(t, nil).flow(tt.meta...)
			first := traceparent(spans[0].SpanContext())
			flow := attributes(spans[0])["mrtr.flow_id"]
			require.Regexp(t, "^[0-9a-f]{32}$", flow)
			for i, s := range spans {
				require.Equal(t, "tools/call order", s.Name())
				require.Equal(t, trace.SpanKindServer, s.SpanKind())
				require.Equal(t, codes.Unset, s.Status().Code)
				require.False(t, s.EndTime().Before(s.StartTime()))
				if tt.parents[i] == "" {
					require.False(t, s.Parent().IsValid())
				} else {
					require.Equal(t, tt.parents[i], traceparent(s.Parent()))
					require.True(t, s.Parent().IsRemote())
					require.Equal(t, s.Parent().TraceID(), s.SpanContext().TraceID())
				}
				want := []string{first}
				if i == 0 {
					want = nil
				}
				if i > 0 && tt.told != nil {
					want = append(slices.Clone(tt.told), first)
				}
				require.Equal(t, want, links(s))
				require.NotContains(t, text(s), "secret")
				a := attributes(s)
				require.Equal(t, flow, a["mrtr.flow_id"])
				require.Equal(t, string("123"[i]), a["mrtr.round"])
			}
			require.Equal(t, []string{"input_required", "input_required", "complete"},
				[]string{attributes(spans[0])["mrtr.outcome"], attributes(spans[1])["mrtr.outcome"], attributes(spans[2])["mrtr.outcome"]})
		})
	}
}

// TestLinkToldTwice: a client that names round 1's own span adds no second link.
func TestLinkToldTwice(t *testing.T) {
	k := newKit(t, nil)
	var first string
	observer := mrtrotel.Observer(k.provider, nil)
	k.handler = serve(t, func(ctx context.Context, info *mrtr.RoundInfo) (context.Context, func()) {
		info.Trace.Link = first
		ctx, end := observer(ctx, info)
		if first == "" {
			first = info.Traceparent
		}
		return ctx, end
	})
	spans := k.flow("", "", "")
	require.Nil(t, links(spans[0]))
	require.Equal(t, []string{first}, links(spans[1]))
	require.Equal(t, []string{first}, links(spans[2]))
}

// TestHandlerSpans: spans of a handler are children of the request's.
func TestHandlerSpans(t *testing.T) {
	k := newKit(t, nil)
	k.flow("", "", "")
	ended := k.recorder.Ended()
	require.Len(t, ended, 6)
	for i := 0; i < 6; i += 2 {
		require.Equal(t, "work", ended[i].Name())
		require.Equal(t, ended[i+1].SpanContext().SpanID(), ended[i].Parent().SpanID())
		require.Equal(t, ended[i+1].SpanContext().TraceID(), ended[i].Parent().TraceID())
	}
}

// TestBadTraceContext: what is no trace context is dropped, and the call served.
func TestBadTraceContext(t *testing.T) {
	long := strings.Repeat("a", 100_000)
	for name, tt := range map[string]struct {
		meta string
		good bool // the traceparent counts
	}{
		"good":                {metaTrace(traceOne), true},
		"a later version":     {metaTrace("01" + traceOne[2:] + "-more"), true},
		"bad tracestate":      {metaTrace(traceOne) + `,"tracestate":"===,"`, true},
		"long tracestate":     {metaTrace(traceOne) + `,"tracestate":"a=` + long + `"`, true},
		"tracestate a number": {metaTrace(traceOne) + `,"tracestate":1`, true},
		"bad baggage":         {metaTrace(traceOne) + `,"baggage":"secret baggage"`, true},
		"long baggage":        {metaTrace(traceOne) + `,"baggage":"a=` + long + `"`, true},
		"empty":               {metaTrace(""), false},
		"blank":               {metaTrace(" "), false},
		"number":              {`,"traceparent":1`, false},
		"null":                {`,"traceparent":null`, false},
		"object":              {`,"traceparent":{"secret":1}`, false},
		"short":               {metaTrace(traceOne[:54]), false},
		"no flags":            {metaTrace(traceOne[:52]), false},
		"trailing":            {metaTrace(traceOne + "-00"), false},
		"upper case":          {metaTrace(strings.ToUpper(traceOne)), false},
		"version ff":          {metaTrace("ff" + traceOne[2:]), false},
		"zero trace":          {metaTrace("00-00000000000000000000000000000000-b7ad6b7169203331-01"), false},
		"zero span":           {metaTrace("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01"), false},
		"not hex":             {metaTrace("00-0af7651916cd43dd8448eb211c80319z-b7ad6b7169203331-01"), false},
		"long":                {metaTrace(long), false},
		"escaped":             {metaTrace(`\u0030\u0030` + traceOne[2:]), true},
		"tracestate alone":    {`,"tracestate":"a=1"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t, nil)
			w := k.send(request{name: "order", members: arguments, meta: tt.meta})
			require.Equal(t, http.StatusOK, w.Code, w.Body)
			s := k.last()
			require.Equal(t, tt.good, s.Parent().IsValid())
			require.Nil(t, links(s))
			require.NotContains(t, text(s), "secret")
			require.Less(t, len(text(s)), 2000)
		})
	}
}

// TestTracestateAndBaggage: both reach the handler's context, baggage where it
// is asked for.
func TestTracestateAndBaggage(t *testing.T) {
	var state, member string
	k := newKit(t, nil)
	k.handler = serve(t, mrtrotel.Observer(k.provider, &mrtrotel.Options{Baggage: true}), func(ctx context.Context, _ *mrtr.RoundInfo) (context.Context, func()) {
		state, member = trace.SpanContextFromContext(ctx).TraceState().String(), baggage.FromContext(ctx).Member("user").Value()
		return ctx, nil
	})
	for _, tt := range []struct{ meta, state, member string }{
		{metaTrace(traceOne) + `,"tracestate":"a=1,b=2","baggage":"user=ann,x=y"`, "a=1,b=2", "ann"},
		{`,"baggage":"user=ann"`, "", "ann"},
		{`,"baggage":"user=ann,=;"`, "", ""}, // bad in one place is bad
		{"", "", ""},
	} {
		state, member = "?", "?"
		k.send(request{name: "order", members: arguments, meta: tt.meta})
		require.Equal(t, tt.state, state, tt.meta)
		require.Equal(t, tt.member, member, tt.meta)
	}
}

// TestBaggageStaysOut: what a client calls baggage goes no further, unless the
// server wants it and trusts the client's trace. The server's own does.
func TestBaggageStaysOut(t *testing.T) {
	own, err := baggage.Parse("deployment=blue")
	require.NoError(t, err)
	for name, opts := range map[string]*mrtrotel.Options{
		"no options":                  nil,
		"zero value":                  {},
		"new root":                    {NewRoot: true},
		"new root, baggage asked for": {NewRoot: true, Baggage: true},
	} {
		t.Run(name, func(t *testing.T) {
			seen := "?"
			k := newKit(t, nil)
			k.handler = serve(t, mrtrotel.Observer(k.provider, opts), func(ctx context.Context, _ *mrtr.RoundInfo) (context.Context, func()) {
				seen = baggage.FromContext(ctx).String()
				return ctx, nil
			})
			meta := metaTrace(traceOne) + `,"baggage":"role=root,tenant=acme"`
			k.send(request{name: "order", members: arguments, meta: meta})
			require.Empty(t, seen)
			k.send(request{name: "order", members: arguments, meta: meta, ctx: baggage.ContextWithBaggage(t.Context(), own)})
			require.Equal(t, own.String(), seen)
		})
	}
}

// TestAmbient: a span that is in the request's context is the parent where _meta
// names none, and linked where it does.
func TestAmbient(t *testing.T) {
	k := newKit(t, nil)
	ctx, http := k.provider.Tracer("http").Start(t.Context(), "POST /mcp")
	k.send(request{name: "order", members: arguments, ctx: ctx})
	require.Equal(t, http.SpanContext().SpanID(), k.last().Parent().SpanID())
	require.Nil(t, links(k.last()))

	k.send(request{name: "order", members: arguments, meta: metaTrace(traceOne), ctx: ctx})
	require.Equal(t, traceOne, traceparent(k.last().Parent()))
	require.Equal(t, []string{traceparent(http.SpanContext())}, links(k.last()))
}

func TestNewRoot(t *testing.T) {
	k := newKit(t, &mrtrotel.Options{NewRoot: true}, sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.AlwaysSample())))
	unsampled := traceOne[:53] + "00"
	spans := k.flow(metaTrace(unsampled), metaTrace(unsampled), "")
	for i, want := range [][]string{{unsampled}, {unsampled, traceparent(spans[0].SpanContext())}, {traceparent(spans[0].SpanContext())}} {
		require.False(t, spans[i].Parent().IsValid())
		require.True(t, spans[i].SpanContext().IsSampled())
		require.Equal(t, want, links(spans[i]))
	}
}

// TestUnsampled: a span that is not recorded costs nothing and links nothing;
// the client's trace context travels in its place.
func TestUnsampled(t *testing.T) {
	k := newKit(t, nil)
	unsampled := traceOne[:53] + "00"
	w := k.send(request{name: "order", members: arguments, meta: metaTrace(unsampled)})
	require.Equal(t, http.StatusOK, w.Code)
	require.Empty(t, k.recorder.Ended())
}

// TestFirstRoundUntraced: where round 1 has no span, later rounds are linked to
// what its client sent.
func TestFirstRoundUntraced(t *testing.T) {
	k := newKit(t, nil)
	observer, round := mrtrotel.Observer(k.provider, nil), 0
	k.handler = serve(t, func(ctx context.Context, info *mrtr.RoundInfo) (context.Context, func()) {
		if round++; round == 1 {
			ctx, span := k.provider.Tracer("other").Start(ctx, "round 1, for kit.flow")
			return ctx, func() { span.End() }
		}
		return observer(ctx, info)
	})
	spans := k.flow(metaTrace(traceOne), "", "")
	require.Equal(t, []string{traceOne}, links(spans[1]))
	require.Equal(t, []string{traceOne}, links(spans[2]))
}

func TestNoProvider(t *testing.T) {
	require.Panics(t, func() { mrtrotel.Observer(nil, nil) })
}
