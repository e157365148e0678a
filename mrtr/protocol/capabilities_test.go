package protocol_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func TestClientCapabilities(t *testing.T) {
	type supports struct{ form, url, sampling, tools, context, roots bool }
	for _, tt := range []struct {
		in   string
		want supports
	}{
		{`{}`, supports{}},
		{`{"elicitation":null,"sampling":null,"roots":null}`, supports{}},
		{`{"elicitation":{}}`, supports{form: true}},
		{`{"elicitation":{"form":{}}}`, supports{form: true}},
		{`{"elicitation":{"url":{}}}`, supports{url: true}},
		{`{"elicitation":{"form":{},"url":{}}}`, supports{form: true, url: true}},
		{`{"elicitation":{"form":{"x":1}}}`, supports{form: true}},
		{`{"elicitation":{"form":null,"url":{}}}`, supports{url: true}},
		{`{"elicitation":{"voice":{}}}`, supports{form: true}},
		{`{"Elicitation":{}}`, supports{}},
		{`{"sampling":{}}`, supports{sampling: true}},
		{`{"sampling":{"tools":{}}}`, supports{sampling: true, tools: true}},
		{`{"sampling":{"context":{}}}`, supports{sampling: true, context: true}},
		{`{"roots":{}}`, supports{roots: true}},
		{`{"roots":{"listChanged":true}}`, supports{roots: true}},
		{`{"extensions":{"a/b":{}},"experimental":{"c":{}},"tasks":{"list":{}}}`, supports{}},
	} {
		t.Run(tt.in, func(t *testing.T) {
			var c protocol.ClientCapabilities
			require.NoError(t, json.Unmarshal([]byte(tt.in), &c))
			require.Equal(t, tt.want, supports{
				c.SupportsForm(), c.SupportsURL(), c.SupportsSampling(), c.SupportsSamplingTools(),
				c.SupportsSamplingContext(), c.SupportsRoots(),
			})
		})
	}
}

func TestCapabilitiesKeepTheUnknown(t *testing.T) {
	for _, in := range []string{
		`{"elicitation":{"form":{"a":1},"voice":{}},"sampling":{"x":[]},"roots":{"y":1},"tasks":{"list":{}}}`,
		`{"extensions":{"a/b":{"c":[1.0]}},"experimental":{"c":{}}}`,
	} {
		var c protocol.ClientCapabilities
		require.NoError(t, json.Unmarshal([]byte(in), &c))
		require.JSONEq(t, in, marshal(t, c))
	}
	const in = `{"tools":{"x":1},"prompts":{"y":2},"resources":{"subscribe":true,"z":3},"tasks":{}}`
	var s protocol.ServerCapabilities
	require.NoError(t, json.Unmarshal([]byte(in), &s))
	require.JSONEq(t, in, marshal(t, s))
}

func TestCapabilitiesRefused(t *testing.T) {
	for _, in := range []string{
		`{"elicitation":true}`, `{"elicitation":[]}`, `{"elicitation":{"form":true}}`, `{"elicitation":{"url":"yes"}}`,
		`{"sampling":{"tools":[]}}`, `{"roots":1}`, `{"extensions":[]}`, `[]`,
	} {
		var c protocol.ClientCapabilities
		require.Error(t, json.Unmarshal([]byte(in), &c), in)
	}
}
