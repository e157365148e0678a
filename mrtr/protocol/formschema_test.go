package protocol_test

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func TestFormSchema(t *testing.T) {
	params := &protocol.ElicitFormParams{
		Message: "Who are you?",
		RequestedSchema: protocol.FormSchema{
			Properties: protocol.Properties{
				{"zip", &protocol.StringSchema{Title: "Zip", MinLength: new(0), MaxLength: new(10)}},
				{"age", &protocol.NumberSchema{Integer: true, Minimum: new(0.0), Maximum: new(150.0)}},
				{"mail", &protocol.StringSchema{Description: "Yours", Format: protocol.FormatEmail, Default: new("")}},
				{"ok", &protocol.BooleanSchema{Default: new(false)}},
				{"size", &protocol.SingleSelectEnumSchema{Options: []protocol.EnumOption{{Const: "S"}, {Const: "M"}}, Default: new("S")}},
				{"hue", &protocol.SingleSelectEnumSchema{Options: []protocol.EnumOption{{"#F00", "Red"}, {Const: "#000"}}}},
				{"old", &protocol.SingleSelectEnumSchema{Options: []protocol.EnumOption{{"a", "A"}, {Const: "b"}}, Legacy: true}},
				{"tags", &protocol.MultiSelectEnumSchema{Options: []protocol.EnumOption{{Const: "x"}}, MinItems: new(0), Default: []string{}}},
				{"hues", &protocol.MultiSelectEnumSchema{Options: []protocol.EnumOption{{"#F00", "Red"}}, MaxItems: new(1)}},
			},
			Required: []string{"zip", "age"},
		},
	}
	const wire = `{"mode":"form","message":"Who are you?","requestedSchema":{"type":"object","properties":{` +
		`"zip":{"type":"string","title":"Zip","minLength":0,"maxLength":10},` +
		`"age":{"type":"integer","minimum":0,"maximum":150},` +
		`"mail":{"type":"string","description":"Yours","format":"email","default":""},` +
		`"ok":{"type":"boolean","default":false},` +
		`"size":{"type":"string","enum":["S","M"],"default":"S"},` +
		`"hue":{"type":"string","oneOf":[{"const":"#F00","title":"Red"},{"const":"#000","title":"#000"}]},` +
		`"old":{"type":"string","enum":["a","b"],"enumNames":["A","b"]},` +
		`"tags":{"type":"array","minItems":0,"items":{"type":"string","enum":["x"]},"default":[]},` +
		`"hues":{"type":"array","maxItems":1,"items":{"anyOf":[{"const":"#F00","title":"Red"}]}}},` +
		`"required":["zip","age"]}}`
	require.Equal(t, wire, marshal(t, params))

	var back protocol.ElicitFormParams
	require.NoError(t, json.Unmarshal([]byte(wire), &back))
	require.Equal(t, wire, marshal(t, &back))
	require.IsType(t, &protocol.MultiSelectEnumSchema{}, back.RequestedSchema.Properties[8].Schema)
}

func TestPropertiesKeepTheirOrder(t *testing.T) {
	const in = `{"z":{"type":"string"},"a":{"type":"boolean"},"m":{"type":"number"},"b":{"type":"integer"}}`
	var p protocol.Properties
	require.NoError(t, json.Unmarshal([]byte(in), &p))
	require.Equal(t, protocol.Properties{
		{"z", &protocol.StringSchema{}},
		{"a", &protocol.BooleanSchema{}},
		{"m", &protocol.NumberSchema{}},
		{"b", &protocol.NumberSchema{Integer: true}},
	}, p)
	require.Equal(t, in, marshal(t, p))
}

func TestUnknownSchemaSurvives(t *testing.T) {
	for _, in := range []string{
		`{"f":{"type":"object","properties":{}}}`,
		`{"f":{"type":["string","null"]}}`,
		`{"f":{"type":"array","items":{"type":"string"}}}`,
		`{"f":{"type":"array","items":true}}`,
		`{"f":{"$ref":"#/x"}}`,
		`{"f":true}`,
		`{"f":null}`,
	} {
		var p protocol.Properties
		require.NoError(t, json.Unmarshal([]byte(in), &p), in)
		require.IsType(t, &protocol.UnknownSchema{}, p[0].Schema)
		require.Equal(t, in, marshal(t, p))
	}
}

func TestKeysAreUnique(t *testing.T) {
	_, err := json.Marshal(protocol.Properties{{"a", &protocol.StringSchema{}}, {"a", &protocol.StringSchema{}}})
	require.Error(t, err)
	_, err = json.Marshal(protocol.InputRequests{{Key: "a", Method: "m"}, {Key: "a", Method: "m"}})
	require.Error(t, err)

	require.Error(t, json.Unmarshal([]byte(`{"a":{"type":"string"},"a":{"type":"string"}}`), new(protocol.Properties)))
	require.Error(t, json.Unmarshal([]byte(`{"a":{"method":"m"},"a":{"method":"m"}}`), new(protocol.InputRequests)))
	require.Error(t, json.Unmarshal([]byte(`{"a":1,"\u0061":2}`), new(protocol.InputResponses)))
}

func TestElicitURLParams(t *testing.T) {
	require.Equal(t, `{"mode":"url","message":"m","url":"https://a.example"}`,
		marshal(t, protocol.ElicitURLParams{Message: "m", URL: "https://a.example"}))
	require.Equal(t, `{"elicitations":[{"mode":"url","message":"m","url":"https://a.example","elicitationId":"1"}]}`,
		marshal(t, protocol.URLElicitationRequiredData{Elicitations: []protocol.ElicitURLParams{
			{Message: "m", URL: "https://a.example", ElicitationID: "1"},
		}}))
}

// FuzzFormSchema holds what FuzzContent does, for forms.
func FuzzFormSchema(f *testing.F) {
	for _, seed := range []string{
		`{"type":"object","properties":{"a":{"type":"string","enum":["x"],"enumNames":["X","Y"]}},"required":["a"]}`,
		`{"properties":{"a":{"type":"string","oneOf":[{"const":"","title":""}]},"b":{"type":"array","items":{"anyOf":[]}}}}`,
		`{"$schema":"s","properties":{"n":{"type":"number","minimum":-0.0,"default":1e308},"x":[]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var s protocol.FormSchema
		if json.Unmarshal(in, &s) != nil {
			return
		}
		once, err := json.Marshal(&s)
		require.NoError(t, err)
		var again protocol.FormSchema
		require.NoError(t, json.Unmarshal(once, &again))
		twice, err := json.Marshal(&again)
		require.NoError(t, err)
		require.True(t, bytes.Equal(once, twice), "%s\n%s", once, twice)
	})
}
