package schema

import (
	jsonv1 "encoding/json"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
)

type inner struct {
	A string `json:"a"`
	B int    `json:"b,omitzero"`
}

type Outer struct {
	inner
	Named inner `json:"named"`
	A     bool  `json:"a"` // hides inner's
}

type twice struct {
	First  inner `json:"first"`
	Second inner `json:"second"`
}

type loop struct {
	Next *loop `json:"next,omitempty"`
}

func TestFor(t *testing.T) {
	const innerRaw = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false}`
	tests := []struct {
		of   any
		want string
	}{
		{"", `{"type":"string"}`},
		{true, `{"type":"boolean"}`},
		{int8(0), `{"type":"integer","minimum":-128,"maximum":127}`},
		{uint64(0), `{"type":"integer","minimum":0}`},
		{float32(0), `{"type":"number"}`},
		{new(int), `{"type":"integer"}`},
		{[]string{}, `{"type":"array","items":{"type":"string"}}`},
		{[2]bool{}, `{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2}`},
		{[]*int{}, `{"type":"array","items":{"type":["null","integer"]}}`},
		{[]any{}, `{"type":"array","items":{}}`},
		{[]byte{}, `{"type":"string","contentEncoding":"base64"}`},
		{[4]byte{}, `{"type":"string","contentEncoding":"base64"}`},
		{map[string]int{}, `{"type":"object","additionalProperties":{"type":"integer"}}`},
		{map[uint8]bool{}, `{"type":"object","propertyNames":{"pattern":"^(0|[1-9][0-9]*)$"},"additionalProperties":{"type":"boolean"}}`},
		{map[int]bool{}, `{"type":"object","propertyNames":{"pattern":"^-?(0|[1-9][0-9]*)$"},"additionalProperties":{"type":"boolean"}}`},
		{map[netip.Addr]bool{}, `{"type":"object","additionalProperties":{"type":"boolean"}}`},
		{time.Time{}, `{"type":"string","format":"date-time"}`},
		{netip.Addr{}, `{"type":"string"}`},
		{big.Float{}, `{"type":"string"}`},
		{big.Int{}, `{}`},
		{jsontext.Value{}, `{}`},
		{jsonv1.RawMessage{}, `{}`},
		{struct{}{}, `{"type":"object","properties":{},"additionalProperties":false}`},
		{inner{}, innerRaw},
		{twice{}, `{"type":"object","properties":{"first":` + innerRaw + `,"second":` + innerRaw + `},"required":["first","second"],"additionalProperties":false}`},
		{Outer{}, `{"type":"object","properties":{"b":{"type":"integer"},"named":` + innerRaw + `,"a":{"type":"boolean"}},"required":["named","a"],"additionalProperties":false}`},
		{struct {
			inner `json:"kept"`
		}{}, `{"type":"object","properties":{"kept":` + innerRaw + `},"required":["kept"],"additionalProperties":false}`},
		{struct {
			Text string            `json:"text" jsonschema:"what to say, exactly"`
			Opt  *string           `json:"opt,omitempty" jsonschema:"or nothing"`
			Rest map[string]string `json:",embed"`
		}{}, `{"type":"object","properties":{"text":{"type":"string","description":"what to say, exactly"},` +
			`"opt":{"type":["null","string"],"description":"or nothing"}},"required":["text"],"additionalProperties":{"type":"string"}}`},
		{struct {
			N    int64          `json:"n,string"`
			F    float64        `json:",string"`
			Skip func()         `json:"-"`
			Rest jsontext.Value `json:",embed"`
		}{}, `{"type":"object","properties":{"n":{"type":"string","pattern":"^-?(0|[1-9][0-9]*)$"},"F":{"type":"string"}},"required":["n","F"]}`},
	}
	for _, tt := range tests {
		s, err := For(reflect.TypeOf(tt.of))
		require.NoError(t, err, "%T", tt.of)
		require.Equal(t, tt.want, string(s.Raw()), "%T", tt.of)
	}
}

func TestForCannot(t *testing.T) {
	tests := []struct {
		of   any
		want string
	}{
		{func() {}, "schema: type func() has no JSON form"},
		{struct{ C chan int }{}, "schema: type chan int has no JSON form"},
		{complex(1, 1), "schema: type complex128 has no JSON form"},
		{time.Second, "schema: type time.Duration has no JSON form"},
		{loop{}, "schema: type schema.loop contains itself"},
		{map[float64]int{}, "schema: type float64 cannot be the key of a map"},
		{map[[2]int]int{}, "schema: type [2]int cannot be the key of a map"},
		{struct{ a int }{}, "no exported fields"},
		{struct {
			//lint:ignore SA5008 the mistake is what is tested
			A int `json:"a,omit_empty"`
		}{}, "invalid appearance of `omit_empty`"},
		{struct {
			A time.Time `json:"a,format:unix"`
		}{}, "format"},
		{struct {
			A int `jsonschema:""`
		}{}, "A: empty jsonschema tag"},
		{struct {
			A int `jsonschema:"minimum=1"`
		}{}, "A: a jsonschema tag is a description"},
	}
	for _, tt := range tests {
		_, err := For(reflect.TypeOf(tt.of))
		require.ErrorContains(t, err, tt.want, "%T", tt.of)
		require.Equal(t, 1, strings.Count(err.Error(), "schema: "), err.Error())
	}
}

// plain has fields on whose schemas the JSON Schema library, which reads tags as
// encoding/json does, has no other opinion.
type plain struct {
	S  string           `json:"s" jsonschema:"some text"`
	I  int              `json:"i,omitempty"`
	U  uint16           `json:"u"`
	F  float64          `json:"f,omitzero"`
	B  *bool            `json:"b"`
	M  map[string]int32 `json:"m"`
	A  [3]string        `json:"a"`
	In inner            `json:"in"`
	X  any              `json:"x"`
}

func TestForAgreesWithLibrary(t *testing.T) {
	mine, err := For(reflect.TypeFor[plain]())
	require.NoError(t, err)
	theirs, err := jsonschema.For[plain](nil)
	require.NoError(t, err)
	raw, err := jsonv1.Marshal(theirs)
	require.NoError(t, err)
	want := strings.ReplaceAll(string(raw), `"x":true`, `"x":{}`)
	require.JSONEq(t, want, string(mine.Raw()))
}

// everyKind has what For and the JSON library must agree on.
type everyKind struct {
	S  string            `json:"s"`
	I  int               `json:"i"`
	I8 int8              `json:"i8,omitzero"`
	U  uint64            `json:"u,omitzero"`
	F  float64           `json:"f,omitzero"`
	P  *int              `json:"p,omitempty"`
	L  []inner           `json:"l,omitempty"`
	M  map[string]bool   `json:"m,omitempty"`
	T  time.Time         `json:"t,omitzero"`
	X  jsontext.Value    `json:"x,omitzero"`
	Q  []map[string]*int `json:"q,omitempty"`
	inner
}

func TestForAgreesWithJSON(t *testing.T) {
	s, err := For(reflect.TypeFor[everyKind]())
	require.NoError(t, err)
	n := 7
	for _, v := range []everyKind{
		{},
		{S: "x", I: -1 << 63, I8: -128, U: 1<<64 - 1, F: 1e308, P: &n, L: []inner{{}, {A: "é"}}, M: map[string]bool{"": true},
			T: time.Unix(0, 1).UTC(), X: jsontext.Value(`[1]`), Q: []map[string]*int{{"a": nil, "b": &n}, nil}},
	} {
		raw, err := json.Marshal(v)
		require.NoError(t, err)
		require.Empty(t, s.Validate(raw), string(raw))
	}
}

func FuzzForAgreesWithJSON(f *testing.F) {
	s, err := For(reflect.TypeFor[everyKind]())
	require.NoError(f, err)
	for _, seed := range []string{
		`{"s":"","i":0,"a":""}`,
		`{"s":"x","i":9223372036854775807,"u":18446744073709551615,"f":1e308,"p":null,"a":"a"}`,
		`{"s":"x","i":9223372036854775808,"a":"a"}`,
		`{"s":"x","i":1.0,"a":"a"}`,
		`{"s":"x","i":1,"l":[{"a":"","b":1e3}],"a":""}`,
		`{"s":"x","i":1,"a":"","t":"2026-07-28T02:00:00+01:00","q":[{"a":-0}],"x":{"y":[]}}`,
		`{"s":"x","i":-0,"a":"","t":"2026-07-28T02:00:00,1Z"}`,
		`{"s":"x","i":1,"a":"","f":1e-400}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var v everyKind
		err := json.Unmarshal(raw, &v)
		if s.Validate(raw) == nil {
			require.NoError(t, err)
		}
	})
}

func TestCache(t *testing.T) {
	var c Cache
	var group sync.WaitGroup
	schemas := make([]*Schema, 16)
	forms := make([]*Form, len(schemas))
	for i := range schemas {
		group.Go(func() {
			schemas[i], _ = c.Schema(reflect.TypeFor[contact]())
			forms[i], _ = c.Form(reflect.TypeFor[contact]())
			forms[i].Validate(jsontext.Value(contactAnswer))
			schemas[i].Validate(jsontext.Value(contactAnswer))
		})
	}
	group.Wait()
	require.NotNil(t, schemas[0])
	for i := range schemas {
		require.Same(t, schemas[0], schemas[i])
		require.Same(t, forms[0], forms[i])
	}
	_, err := c.Form(reflect.TypeFor[loop]())
	require.Error(t, err)
	_, again := c.Form(reflect.TypeFor[loop]())
	require.Same(t, err, again)
}
