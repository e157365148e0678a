package main

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
)

func TestArguments(t *testing.T) {
	schema := jsontext.Value(`{"type":"object","properties":{
		"s":{"type":"string"},"n":{"type":"number"},"i":{"type":"integer"},"b":{"type":"boolean"},
		"a":{"type":"array"},"o":{"type":"object"},"sn":{"type":["string","null"]},"in":{"type":["integer","null"]},
		"any":{},"enum":{"enum":["x",1]}}}`)
	for _, tt := range []struct {
		object string
		pairs  []string
		want   string // JSON, or part of the error
	}{
		{"", nil, `{}`},
		{`{"s":"x"}`, []string{"s=y", "n=1"}, `{"n":1,"s":"y"}`},
		{"", []string{"s=1"}, `{"s":"1"}`},
		{"", []string{`s="q"`}, `{"s":"\"q\""}`},
		{"", []string{"s="}, `{"s":""}`},
		{"", []string{"s=a=b"}, `{"s":"a=b"}`},
		{"", []string{"n=9007199254740993", "i=-7"}, `{"i":-7,"n":9007199254740993}`},
		{"", []string{"n=1e400"}, `{"n":1e400}`},
		{"", []string{"b=true", `a=[1, 2]`, `o={"k":{}}`}, `{"a":[1,2],"b":true,"o":{"k":{}}}`},
		{"", []string{"sn=null"}, `{"sn":null}`},
		{"", []string{"sn=12"}, `{"sn":"12"}`},
		{"", []string{"in=null"}, `{"in":null}`},
		{"", []string{"any=12", "enum=x", "other=true"}, `{"any":12,"enum":"x","other":true}`},
		{"", []string{"any={no"}, `{"any":"{no"}`},
		{"", []string{"i=1.0"}, "--arg i: must be of type integer"},
		{"", []string{"n=abc"}, "--arg n: must be of type number"},
		{"", []string{"b=yes"}, "--arg b: must be of type boolean"},
		{"", []string{"in=x"}, "--arg in: must be of type integer or null"},
		{"", []string{"s"}, "not of the form k=v"},
		{"", []string{"=1"}, "not of the form k=v"},
		{"null", nil, "not a JSON object"},
		{`{"a":1,"a":2}`, nil, "not a JSON object"},
	} {
		args, err := arguments(tt.object, tt.pairs, schema)
		if tt.want[0] != '{' {
			require.ErrorContains(t, err, tt.want)
			require.ErrorAs(t, err, new(*failure))
			continue
		}
		require.NoError(t, err, "%v", tt.pairs)
		raw, err := json.Marshal(args)
		require.NoError(t, err)
		require.Equal(t, tt.want, string(raw))
	}
}

func TestReadAnswer(t *testing.T) {
	form := func(schema string) client.Question {
		return client.Question{Key: "q", Method: "elicitation/create", Params: jsontext.Value(`{"message":"m","requestedSchema":` + schema + `}`)}
	}
	plain := form(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	acting := form(`{"type":"object","properties":{"action":{"type":"string"}}}`)
	sampling := client.Question{Key: "q", Method: "sampling/createMessage"}
	roots := client.Question{Key: "q", Method: "roots/list"}
	for _, tt := range []struct {
		q          client.Question
		text, want string
	}{
		{plain, `{"name":"a"}`, `{"action":"accept","content":{"name":"a"}}`},
		{plain, `{"action":"decline"}`, `{"action":"decline"}`},
		{acting, `{"action":"decline"}`, `{"action":"accept","content":{"action":"decline"}}`},
		{plain, `accept`, `{"action":"accept"}`},
		{plain, `"decline"`, `{"action":"decline"}`},
		{plain, ` cancel `, `{"action":"cancel"}`},
		{plain, `7`, ""},
		{plain, `{"name"`, ""},
		{sampling, `Paris`, `{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"mrtr"}`},
		{sampling, `"Paris \u0041"`, `{"role":"assistant","content":{"type":"text","text":"Paris A"},"model":"mrtr"}`},
		{sampling, `{"role":"assistant"}`, `{"role":"assistant"}`},
		{roots, `["file:///a",{"uri":"file:///b","name":"B"}]`, `{"roots":[{"uri":"file:///a"},{"uri":"file:///b","name":"B"}]}`},
		{roots, `[]`, `{"roots":[]}`},
		{roots, `{"roots":[]}`, `{"roots":[]}`},
		{roots, `[7]`, ""},
		{roots, `file:///a`, ""},
		{client.Question{Key: "q", Method: "future/ask"}, `{}`, ""},
	} {
		got, err := read(tt.q, tt.text)
		if tt.want == "" {
			require.ErrorAs(t, err, new(*failure))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, tt.want, string(got))
	}
}
