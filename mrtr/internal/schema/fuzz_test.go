package schema

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

var fuzzSchemas = []string{
	`{"type":"object","properties":{"a":{"type":"string","minLength":1,"pattern":"^a"}},"required":["a"],"additionalProperties":false}`,
	`{"$defs":{"n":{"$anchor":"n","type":"object","properties":{"next":{"$ref":"#n"}}}},"$ref":"#/$defs/n"}`,
	`{"anyOf":[{"type":"null"},{"items":{"$ref":"#"}}],"unevaluatedItems":false}`,
	`{"oneOf":[{"const":1,"title":"one"},{"const":"a","title":"a"}]}`,
	`{"if":{"minProperties":2},"then":{"propertyNames":{"maxLength":3}},"else":{"not":{"uniqueItems":true}}}`,
	`{"contains":{"multipleOf":0.1},"maxContains":2,"dependentSchemas":{"x":false},"prefixItems":[true]}`,
	`{"$ref":"https://example.com"}`,
	`{"allOf":[{"$ref":"#"}]}`,
}

func FuzzParse(f *testing.F) {
	for _, s := range fuzzSchemas {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Parse(raw)
		if err != nil {
			return
		}
		again, err := Parse(s.Raw())
		require.NoError(t, err)
		require.Equal(t, s.Raw(), again.Raw())
	})
}

func FuzzValidate(f *testing.F) {
	values := []string{`{"a":"ab"}`, `{"next":{"next":{}}}`, `[[null,[1]],{}]`, `1.0`, `"\u0061"`, `[0.1,0.2,1e5,-0]`, `{"x":1}`, `[1,{"a":[]}`, ``}
	for _, s := range fuzzSchemas {
		for _, v := range values {
			f.Add([]byte(s), []byte(v))
		}
	}
	f.Fuzz(func(t *testing.T, schema, raw []byte) {
		s, err := Parse(schema)
		if err != nil {
			return
		}
		found := s.Validate(raw)
		require.LessOrEqual(t, len(found), maxViolations)
		for _, v := range found {
			require.NotEmpty(t, v.Rule)
			require.LessOrEqual(t, len(v.Pointer), maxPointer)
			require.True(t, jsontext.Pointer(v.Pointer).IsValid())
		}
		require.Equal(t, found, s.Validate(raw))
	})
}
