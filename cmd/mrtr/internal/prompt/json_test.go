package prompt

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func TestJSON(t *testing.T) {
	const raw = `{"a":[1,2,{"b":{}}],"long":{"message":"What is your name?","list":["one","two","three"]},"n":1.0,"e":[],"s":"a,b:c"}`
	require.Equal(t, `{
  "a": [1, 2, {"b": {}}],
  "long": {
    "message": "What is your name?",
    "list": [
      "one",
      "two",
      "three"
    ]
  },
  "n": 1.0,
  "e": [],
  "s": "a,b:c"
}`, JSON(jsontext.Value(raw), 30))
	require.Equal(t, `{"a": [1, 2, {"b": {}}], "long"`, JSON(jsontext.Value(raw), 1000)[:31])
	for width := range 120 {
		shown := jsontext.Value(JSON(jsontext.Value(raw), width))
		require.NoError(t, shown.Compact())
		require.Equal(t, raw, string(shown))
	}
	require.Equal(t, "no JSON", JSON(jsontext.Value("no JSON"), 80))
}

func TestText(t *testing.T) {
	for _, tt := range []struct{ in, text, line string }{
		{"plain ünïcode 👩‍🚀", "plain ünïcode 👩‍🚀", "plain ünïcode 👩‍🚀"},
		{"a\n\tb", "a\n\tb", `a \u0009b`},
		{"\x1b[31m\r\x07\u009b", `\u001b[31m\u000d\u0007\u009b`, `\u001b[31m \u0007\u009b`},
		{"\u202eevil\u2066", `\u202eevil\u2066`, `\u202eevil\u2066`},
		{"\U000e0041", `\udb40\udc41`, `\udb40\udc41`},
		{"bad \xff", "bad \ufffd", "bad \ufffd"},
	} {
		require.Equal(t, tt.text, Text(tt.in))
		require.Equal(t, tt.line, Line(tt.in))
	}
	// JSON stays the same JSON.
	raw := jsontext.Value(`{"a":"` + "\u202e\u009b" + `"}`)
	shown := jsontext.Value(Text(string(raw)))
	require.NoError(t, raw.Canonicalize())
	require.NoError(t, shown.Canonicalize())
	require.Equal(t, string(raw), string(shown))
	require.NotContains(t, strings.ToLower(Text("\u2028")), "\u2028")
}
