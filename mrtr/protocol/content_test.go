package protocol_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

func TestContentWire(t *testing.T) {
	meta := protocol.Object{"b": jsontext.Value("2"), "a": jsontext.Value(`"1"`)}
	notes := &protocol.Annotations{Audience: []protocol.Role{protocol.RoleUser}, Priority: new(0.0)}
	const tail = `"annotations":{"audience":["user"],"priority":0},"_meta":{"a":"1","b":2}}`

	for _, tt := range []struct {
		content protocol.Content
		wire    string
	}{
		{protocol.Text(""), `{"type":"text","text":""}`},
		{&protocol.TextContent{Text: "<é\n>", Annotations: notes, Meta: meta}, `{"type":"text","text":"<é\n>",` + tail},
		{&protocol.ImageContent{Data: []byte{1, 2}, MIMEType: "image/png", Annotations: notes, Meta: meta},
			`{"type":"image","data":"AQI=","mimeType":"image/png",` + tail},
		{&protocol.AudioContent{Data: []byte{}, MIMEType: "audio/wav", Annotations: notes, Meta: meta},
			`{"type":"audio","data":"","mimeType":"audio/wav",` + tail},
		{&protocol.ResourceLink{URI: "file:///a", Name: "a", Title: "A", Description: "d", MIMEType: "text/plain",
			Size: new(int64(0)), Icons: []protocol.Icon{{Src: "data:,"}}, Annotations: nil, Meta: meta},
			`{"type":"resource_link","uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"text/plain",` +
				`"size":0,"icons":[{"src":"data:,"}],"_meta":{"a":"1","b":2}}`},
		{&protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "a:b"}, Annotations: notes, Meta: meta},
			`{"type":"resource","resource":{"uri":"a:b","text":""},` + tail},
		{&protocol.EmbeddedResource{Resource: protocol.ResourceContents{URI: "a:b", MIMEType: "x/y", Blob: []byte{}, Meta: meta}},
			`{"type":"resource","resource":{"uri":"a:b","mimeType":"x/y","blob":"","_meta":{"a":"1","b":2}}}`},
		{&protocol.ToolUseContent{ID: "1", Name: "t", Input: jsontext.Value(`{"n":9007199254740993}`), Meta: meta},
			`{"type":"tool_use","id":"1","name":"t","input":{"n":9007199254740993},"_meta":{"a":"1","b":2}}`},
		{&protocol.ToolResultContent{ToolUseID: "1", Content: protocol.ContentList{protocol.Text("x")},
			StructuredContent: jsontext.Value("null"), IsError: true, Meta: meta},
			`{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"x"}],"structuredContent":null,"isError":true,"_meta":{"a":"1","b":2}}`},
		{&protocol.UnknownContent{Type: "video", Raw: jsontext.Value(`{"frames":[1,2],"type":"video"}`)},
			`{"frames":[1,2],"type":"video"}`},
	} {
		t.Run(tt.content.ContentType(), func(t *testing.T) {
			require.Equal(t, tt.wire, marshal(t, tt.content))
			var back protocol.ContentList
			require.NoError(t, json.Unmarshal([]byte("["+tt.wire+"]"), &back))
			require.Equal(t, protocol.ContentList{tt.content}, back)
		})
	}
}

func TestContentZeroValues(t *testing.T) {
	require.Equal(t, `{"content":[]}`, marshal(t, protocol.CallToolResult{}))
	require.Equal(t, `{"type":"tool_use","id":"","name":"","input":{}}`, marshal(t, &protocol.ToolUseContent{}))
	require.Equal(t, `{"type":"tool_result","toolUseId":"","content":[]}`, marshal(t, &protocol.ToolResultContent{}))
}

func TestContentRefused(t *testing.T) {
	for name, in := range map[string]string{
		"not an array":     `{"type":"text","text":"x"}`,
		"a string":         `["text"]`,
		"null":             `[null]`,
		"no type":          `[{"text":"x"}]`,
		"type null":        `[{"type":null}]`,
		"type a number":    `[{"type":1}]`,
		"name in capitals": `[{"Type":"text","text":"x"}]`,
		"duplicate names":  `[{"type":"text","text":"x","text":"y"}]`,
		"twice in unknown": `[{"type":"video","a":1,"a":2}]`,
		"two types":        `[{"type":"video","type":"text"}]`,
		"text a number":    `[{"type":"text","text":1}]`,
		"not Base64":       `[{"type":"image","data":"*","mimeType":"image/png"}]`,
		"cut off":          `[{"type":"text"`,
		"bad UTF-8":        "[{\"type\":\"video\",\"a\":\"\xff\"}]",
	} {
		t.Run(name, func(t *testing.T) {
			var l protocol.ContentList
			require.Error(t, json.Unmarshal([]byte(in), &l))
		})
	}
}

func TestUnknownContentSurvives(t *testing.T) {
	const video = `{"type":"video","url":"v:1","deep":{"n":[1.0,9007199254740993]}}`
	t.Run("in a tool's result", func(t *testing.T) {
		const in = `{"resultType":"complete","content":[{"type":"text","text":"a"},` + video + `],"x-extra":{"n":1}}`
		var r protocol.CallToolResult
		require.NoError(t, json.Unmarshal([]byte(in), &r))
		require.Equal(t, in, marshal(t, r))
		require.Equal(t, &protocol.UnknownContent{Type: "video", Raw: jsontext.Value(video)}, r.Content[1])
		require.JSONEq(t, `{"x-extra":{"n":1}}`, string(r.Other))
	})
	t.Run("in a prompt", func(t *testing.T) {
		const in = `{"role":"user","content":` + video + `}`
		var m protocol.PromptMessage
		require.NoError(t, json.Unmarshal([]byte(in), &m))
		require.Equal(t, in, marshal(t, m))
	})
	t.Run("in a sampled message", func(t *testing.T) {
		const in = `{"role":"user","content":` + video + `}`
		var m protocol.SamplingMessage
		require.NoError(t, json.Unmarshal([]byte(in), &m))
		require.Equal(t, in, marshal(t, m))
	})
	t.Run("it does not share the input's bytes", func(t *testing.T) {
		in := []byte("[" + video + "]")
		var l protocol.ContentList
		require.NoError(t, json.Unmarshal(in, &l))
		clear(in)
		require.Equal(t, "["+video+"]", marshal(t, l))
	})
}

func TestToolResultsDoNotNest(t *testing.T) {
	const inner = `{"type":"tool_result","toolUseId":"2","content":[]}`
	const in = `[{"type":"tool_result","toolUseId":"1","content":[` + inner + `]}]`
	var l protocol.ContentList
	require.NoError(t, json.Unmarshal([]byte(in), &l))
	require.Equal(t, &protocol.UnknownContent{Type: "tool_result", Raw: jsontext.Value(inner)}, l[0].(*protocol.ToolResultContent).Content[0])
	require.Equal(t, in, marshal(t, l))
}

func TestSamplingContent(t *testing.T) {
	const text = `{"type":"text","text":"x"}`
	for _, tt := range []struct{ name, in, out string }{
		{"one block", text, text},
		{"an array of one", "[" + text + "]", text},
		{"an array of two", "[" + text + "," + text + "]", "[" + text + "," + text + "]"},
		{"an empty array", "[]", "[]"},
		{"null", "null", "[]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c protocol.SamplingContent
			require.NoError(t, json.Unmarshal([]byte(tt.in), &c))
			require.Equal(t, tt.out, marshal(t, c))
		})
	}
	for _, in := range []string{`"x"`, "1", "true", "{}", "[[]]"} {
		var c protocol.SamplingContent
		require.Error(t, json.Unmarshal([]byte(in), &c), in)
	}
}

func TestPromptMessageContent(t *testing.T) {
	var m protocol.PromptMessage
	require.Error(t, json.Unmarshal([]byte(`{"role":"user","content":[]}`), &m))
	require.NoError(t, json.Unmarshal([]byte(`{"role":"user","content":null}`), &m))
	require.Nil(t, m.Content)
}

// FuzzContent holds that decoding never panics and that what it accepts is
// written in a form that decodes to itself.
func FuzzContent(f *testing.F) {
	for _, seed := range []string{
		`{"type":"text","text":"x","annotations":{"audience":["user"],"priority":0.5},"_meta":{"a":1}}`,
		`{"type":"image","data":"AQI=","mimeType":"image/png"}`,
		`{"type":"audio","data":"","mimeType":"audio/wav"}`,
		`{"type":"resource_link","uri":"file:///a","name":"a","size":1,"icons":[{"src":"data:,"}]}`,
		`{"type":"resource","resource":{"uri":"a:b","blob":"AQI="}}`,
		`{"type":"tool_use","id":"1","name":"t","input":{"n":1e400}}`,
		`[{"type":"tool_result","toolUseId":"1","content":[{"type":"tool_result"}],"isError":false}]`,
		`[{"type":"video","type\u0000":1},null]`,
		`[{"type":"text"`,
		strings.Repeat(`{"type":"tool_result","content":[`, 9) + strings.Repeat("]}", 9),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var c protocol.SamplingContent
		if json.Unmarshal(in, &c) != nil {
			return
		}
		once, err := json.Marshal(c)
		require.NoError(t, err)
		var again protocol.SamplingContent
		require.NoError(t, json.Unmarshal(once, &again))
		twice, err := json.Marshal(again)
		require.NoError(t, err)
		require.True(t, bytes.Equal(once, twice), "%s\n%s", once, twice)
	})
}

func BenchmarkCallToolResult(b *testing.B) {
	r := &protocol.CallToolResult{
		ResultType:        protocol.ResultComplete,
		Content:           protocol.ContentList{protocol.Text("Temperature: 22.5 degrees, partly cloudy")},
		StructuredContent: jsontext.Value(`{"temperature":22.5,"conditions":"Partly cloudy"}`),
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := json.Marshal(r); err != nil {
			b.Fatal(err)
		}
	}
}
