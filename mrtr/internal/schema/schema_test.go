package schema

import (
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func mustParse(t testing.TB, raw string) *Schema {
	t.Helper()
	s, err := Parse([]byte(raw))
	require.NoError(t, err, raw)
	return s
}

// lines renders violations, one a line.
func lines(found []Violation) string {
	var b strings.Builder
	for i, v := range found {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(v.String())
	}
	return b.String()
}

func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat(`{"items":`, maxSchemaDepth+2) + "{}" + strings.Repeat("}", maxSchemaDepth+2)
	wide := `{"anyOf":[` + strings.Repeat(`{},`, maxSubschemas) + `{}]}`
	tests := []struct{ name, raw, want string }{
		{"empty", ``, `schema: the text is not a valid JSON value`},
		{"broken", `{"type":}`, `schema: the text is not a valid JSON value`},
		{"two names", `{"type":"object","type":"string"}`, `schema: the text is not a valid JSON value`},
		{"list", `[]`, `schema: must be a JSON object`},
		{"Boolean", `true`, `schema: must be a JSON object`},
		{"long", `{"$comment":"` + strings.Repeat("x", maxSchemaSize) + `"}`, `schema: longer than 1048576 bytes`},
		{"deep", deep, `nested more than 64 deep`},
		{"deep text", `{"x":` + strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200) + `}`, `schema: the text is nested too deeply`},
		{"wide", wide, `more than 4096 subschemas`},
		{"dialect", `{"$schema":"http://json-schema.org/draft-07/schema#"}`, `at "#/$schema": unknown dialect`},
		{"remote", `{"properties":{"a/b":{"$ref":"https://example.com/s.json"}}}`, `at "#/properties/a~1b/$ref": "https://example.com/s.json" leads out of the schema`},
		{"relative", `{"$ref":"other.json#/x"}`, `at "#/$ref": "other.json#/x" leads out`},
		{"metadata", `{"$ref":"http://169.254.169.254/latest/meta-data"}`, `leads out of the schema; nothing is ever fetched`},
		{"file", `{"$dynamicRef":"file:///etc/passwd"}`, `at "#/$dynamicRef": "file:///etc/passwd" leads out`},
		{"dangling", `{"$ref":"#/$defs/no"}`, `at "#/$ref": "#/$defs/no" leads to no subschema`},
		{"no anchor", `{"$ref":"#no"}`, `"#no" leads to no subschema`},
		{"not a schema", `{"$ref":"#/properties","properties":{}}`, `leads to no subschema`},
		{"escape", `{"$ref":"#/%zz"}`, `is not a URI reference`},
		{"self", `{"$ref":"#"}`, `at "#": references go in a circle`},
		{"circle", `{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, `references go in a circle`},
		{"anchors", `{"$defs":{"a":{"$anchor":"x"},"b":{"$anchor":"x"}}}`, `at "#/$defs/b/$anchor": the anchor "x" is there twice`},
		{"resource", `{"$defs":{"a":{"$id":"https://example.com/a"}}}`, `at "#/$defs/a/$id": a schema of its own`},
		{"type", `{"type":"text"}`, `at "#/type": "text" is not a type`},
		{"no type", `{"type":[]}`, `at "#/type": must name a type`},
		{"types", `{"type":[1]}`, `at "#/type"`},
		{"subschema", `{"properties":{"a":1}}`, `at "#/properties/a": a schema must be an object or a Boolean`},
		{"properties", `{"properties":[]}`, `at "#/properties": must be an object`},
		{"items", `{"items":[{}]}`, `at "#/items": must be a schema; a list of schemas is called prefixItems`},
		{"required", `{"required":"a"}`, `at "#/required": must be a list of strings`},
		{"required of numbers", `{"required":[1]}`, `at "#/required": must be a list of strings`},
		{"minLength", `{"minLength":-1}`, `at "#/minLength": must be a whole number`},
		{"maxItems", `{"maxItems":1.5}`, `at "#/maxItems": must be a whole number`},
		{"minimum", `{"minimum":"1"}`, `at "#/minimum": must be a number`},
		{"multipleOf", `{"multipleOf":0}`, `at "#/multipleOf": must be above 0`},
		{"pattern", `{"pattern":"(?=x)"}`, `at "#/pattern": "(?=x)" is not a regular expression of RE2`},
		{"patterns", `{"patternProperties":{"(":{}}}`, `at "#/patternProperties": "(" is not a regular expression`},
		{"allOf", `{"allOf":[]}`, `at "#/allOf": must be a list of at least one schema`},
		{"enum", `{"enum":"a"}`, `at "#/enum": must be a list`},
		{"uniqueItems", `{"uniqueItems":1}`, `at "#/uniqueItems": must be true or false`},
		{"format", `{"format":1}`, `at "#/format": must be a string`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.raw))
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestParseAccepts(t *testing.T) {
	for _, raw := range []string{
		`{}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.com/tool","type":"object"}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema#"}`,
		`{"$ref":"#/$defs/a~1b%25","$defs":{"a/b%":{"type":"string"}}}`,
		`{"type":"object","properties":{"next":{"$ref":"#"}}}`,
		`{"$defs":{"n":{"$anchor":"n","type":"null"}},"items":{"$ref":"#n"}}`,
		`{"$dynamicAnchor":"n","properties":{"c":{"$dynamicRef":"#n"}}}`,
		`{"x-mcp-header":"Region","unknown":[1,{"$ref":"https://example.com"}]}`,
		`{"enum":[{"$ref":"https://example.com"}],"const":{"type":"nonsense"},"default":{"type":1},"examples":[{"items":[]}]}`,
	} {
		s := mustParse(t, raw)
		require.Equal(t, raw, string(s.Raw()))
	}
	s := mustParse(t, " {\n \"b\" : 1.0 ,\t\"a\" : \"\\u0041\" } ")
	require.Equal(t, `{"b":1.0,"a":"\u0041"}`, string(s.Raw()))
	require.False(t, s.IsObject())
	require.True(t, mustParse(t, `{"type":"object"}`).IsObject())
	require.True(t, mustParse(t, `{"type":["object"]}`).IsObject())
	require.False(t, mustParse(t, `{"type":["object","null"]}`).IsObject())
}

func TestValidate(t *testing.T) {
	tests := []struct{ schema, raw, want string }{
		{`{"type":"string"}`, `"a"`, ``},
		{`{"type":"string"}`, `1`, `the value must be a string`},
		{`{"type":["null","array"]}`, `{}`, `the value must be a list or null`},
		{`{"type":["string","number","boolean"]}`, `null`, `the value must be a string or a number or true or false`},
		{`{"type":"integer"}`, `1.0`, ``},
		{`{"type":"integer"}`, `1e2`, ``},
		{`{"type":"integer"}`, `1.5`, `the value must be an integer`},
		{`{"type":"integer"}`, `1e-1`, `the value must be an integer`},
		{`{"type":"integer"}`, `12345678901234567890123456789`, ``},
		{`{}`, ``, `the value is not a valid JSON value`},
		{`{}`, `{"a":1,"a":2}`, `the value is not a valid JSON value`},
		{`{}`, `"` + "\xff" + `"`, `the value is not a valid JSON value`},
		{`{}`, `1 2`, `the value is not a valid JSON value`},
		{`{}`, " \n{ \"a\" : [ 1 , \"x\\u00e9\" , null ] }\t", ``},
		{`{}`, strings.Repeat("[", 128) + strings.Repeat("]", 128), ``},
		{`{}`, strings.Repeat("[", 129) + strings.Repeat("]", 129), `the value is nested too deeply`},
		{`{}`, "[" + strings.Repeat("1,", maxValues) + "1]", `the value is too large to be checked`},

		// Numbers, as written.
		{`{"const":9007199254740993}`, `9007199254740993`, ``},
		{`{"const":9007199254740993}`, `9007199254740992`, `the value is not the required value`},
		{`{"enum":[18446744073709551616]}`, `18446744073709551617`, `the value is not one of the allowed values`},
		{`{"enum":[18446744073709551616]}`, `1.8446744073709551616e19`, ``},
		{`{"maximum":9007199254740992}`, `9007199254740993`, `the value is too large`},
		{`{"minimum":0.1}`, `0.1000000000000000000000000000000001`, ``},
		{`{"exclusiveMinimum":0.1}`, `0.10`, `the value is too small`},
		{`{"exclusiveMaximum":3}`, `3.0`, `the value is too large`},
		{`{"minimum":-1}`, `-1e999999999999`, `the value is too small`},
		{`{"maximum":1}`, `1e-999999999999`, ``},
		{`{"minimum":0}`, `-0.0`, ``},
		{`{"multipleOf":0.1}`, `0.3`, ``},
		{`{"multipleOf":3}`, `9007199254740992`, `the value is not a multiple of the required step`},
		{`{"multipleOf":0.5}`, `1e400`, `the value is not a multiple of the required step`},

		// Strings.
		{`{"minLength":2}`, `"é"`, `the value is too short`},
		{`{"maxLength":2}`, `"💶💶"`, ``},
		{`{"maxLength":2}`, `"\ud83d\udcb6ab"`, `the value is too long`},
		{`{"pattern":"^a+$"}`, `"ab"`, `the value does not have the required form`},
		{`{"format":"email"}`, `"nonsense"`, ``}, // an annotation here
		{`{"const":"a/\"b"}`, `"a\/\"b"`, ``},

		// Objects and lists.
		{`{"required":["a","b"]}`, `{"b":1}`, `/a is required`},
		{`{"required":["a/b~c"]}`, `{}`, `/a~1b~0c is required`},
		{`{"properties":{"a":{"type":"string"}},"additionalProperties":false}`, `{"a":1,"b":2,"c":3}`,
			"/a must be a string\nthe value has a member that is not allowed"},
		{`{"properties":{"a":false}}`, `{"a":1}`, `/a is not allowed`},
		{`{"properties":{"h":{"additionalProperties":{"type":"string"}}}}`, `{"h":{"k":1}}`, `/h has a member that does not match the schema`},
		{`{"patternProperties":{"^s":{"type":"string"}}}`, `{"sss":1,"t":1}`, `the value has a member that does not match the schema`},
		{`{"properties":{"sa":{}},"patternProperties":{"^s":{"type":"string"}}}`, `{"sa":1}`, `/sa must be a string`},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, `the value has a member with a name that is not allowed`},
		{`{"minProperties":1}`, `{}`, `the value has too few members`},
		{`{"maxProperties":1}`, `{"a":1,"b":1}`, `the value has too many members`},
		{`{"dependentRequired":{"card":["cvc"]}}`, `{"card":1}`, `/cvc is required`},
		{`{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"a":1}`, `/b is required`},
		{`{"items":{"properties":{"n":{"type":"integer"}}}}`, `[{"n":1},{"n":"x"},{"n":null}]`, "/1/n must be an integer\n/2/n must be an integer"},
		{`{"prefixItems":[{"type":"string"}],"items":false}`, `["a",1]`, `/1 is not allowed`},
		{`{"minItems":1}`, `[]`, `the value has too few items`},
		{`{"maxItems":1}`, `[1,2]`, `the value has too many items`},
		{`{"uniqueItems":true}`, `[{"a":1,"b":2},{"b":2.0,"a":1}]`, `the value has equal items`},
		{`{"uniqueItems":true}`, `[1,"1",true,[1],null,"null","true"]`, ``},
		{`{"contains":{"const":1}}`, `[2]`, `the value has too few items of the required kind`},
		{`{"contains":{"const":1},"maxContains":1}`, `[1,1]`, `the value has too many items of the required kind`},

		// Combinations.
		{`{"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, "/a is required\n/b is required"},
		{`{"anyOf":[{"type":"string"},{"type":"object","required":["a"]}]}`, `{}`, `/a is required`},
		{`{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `the value does not match any of the alternatives`},
		{`{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `1`, `the value matches more than one of the alternatives`},
		{`{"oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}`, `"c"`, `the value is not one of the allowed values`},
		{`{"oneOf":[{"const":1},{"const":1.0}]}`, `1`, `the value matches more than one of the alternatives`},
		{`{"enum":[1,2],"const":2}`, `1`, `the value is not the required value`},
		{`{"not":{"type":"string"}}`, `"a"`, `the value matches what is excluded`},
		{`{"if":{"properties":{"k":{"const":1}}},"then":{"required":["a"]},"else":{"required":["b"]}}`, `{"k":2}`, `/b is required`},
		{`{"properties":{"a":{}},"allOf":[{"properties":{"b":{}}}],"unevaluatedProperties":false}`, `{"a":1,"b":1}`, ``},
		{`{"properties":{"a":{}},"allOf":[{"properties":{"b":{}}}],"unevaluatedProperties":false}`, `{"c":1}`, `the value has a member that is not allowed`},
		{`{"prefixItems":[true],"unevaluatedItems":{"type":"string"}}`, `[1,"a",2]`, `/2 must be a string`},
		{`{"type":"object","properties":{"next":{"$ref":"#"},"n":{"type":"integer"}}}`, `{"next":{"next":{"n":"x"}}}`, `/next/next/n must be an integer`},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, lines(mustParse(t, tt.schema).Validate(jsontext.Value(tt.raw))), "%s\n%.200s", tt.schema, tt.raw)
	}
}

func TestValidateBounds(t *testing.T) {
	t.Run("violations", func(t *testing.T) {
		s := mustParse(t, `{"items":{"type":"string"}}`)
		require.Len(t, s.Validate(jsontext.Value("["+strings.Repeat("1,", 100)+"1]")), maxViolations)
	})
	t.Run("pointer", func(t *testing.T) {
		long := strings.Repeat("n", 100)
		s := mustParse(t, `{"properties":{"`+long+`":{"$ref":"#"}},"type":"object"}`)
		raw := strings.Repeat(`{"`+long+`":`, 5) + "1" + strings.Repeat("}", 5)
		require.Equal(t, []Violation{{"/" + long + "/" + long, ruleMember}}, s.Validate(jsontext.Value(raw)))
	})
	t.Run("explosion", func(t *testing.T) {
		// Each level tries two ways that both look at the level below: 2^100 of
		// them without a limit.
		s := mustParse(t, `{"$ref":"#/$defs/t","$defs":{"t":{"anyOf":[
			{"not":{},"properties":{"l":{"$ref":"#/$defs/t"}}},
			{"not":{"type":"object"},"properties":{"l":{"$ref":"#/$defs/t"}}}]}}}`)
		raw := strings.Repeat(`{"l":`, 100) + "{}" + strings.Repeat("}", 100)
		require.Equal(t, []Violation{{"", ruleEffort}}, s.Validate(jsontext.Value(raw)))
		not := mustParse(t, `{"not":{"$ref":"#/$defs/t"},"$defs":{"t":{"anyOf":[
			{"not":{},"properties":{"l":{"$ref":"#/$defs/t"}}},
			{"not":{"type":"object"},"properties":{"l":{"$ref":"#/$defs/t"}}}]}}}`)
		require.Equal(t, []Violation{{"", ruleEffort}}, not.Validate(jsontext.Value(raw)))
	})
	t.Run("many long numbers", func(t *testing.T) {
		numbers := make([]string, 4000)
		for i := range numbers {
			numbers[i] = strconv.Itoa(i)
		}
		s := mustParse(t, `{"items":{"enum":[`+strings.Join(numbers, ",")+`]}}`)
		raw := "[" + strings.Repeat(strings.Repeat("1", 10_000)+",", 99) + "1]"
		require.Equal(t, []Violation{{"", ruleEffort}}, s.Validate(jsontext.Value(raw)))
	})
	t.Run("large and plain", func(t *testing.T) {
		s := mustParse(t, `{"items":{"type":"integer","minimum":0},"uniqueItems":false}`)
		require.Empty(t, s.Validate(jsontext.Value("["+strings.Repeat("1,", 100_000)+"1]")))
	})
}
