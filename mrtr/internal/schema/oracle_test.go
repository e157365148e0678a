package schema

import (
	jsonv1 "encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
)

// secret is part of every string, name and number that the generator puts into
// a value and not into a schema.
const secret = "4242424242"

// A generator makes random schemas and values that have a chance to meet.
type generator struct{ *rand.Rand }

func (g generator) pick(options ...string) string { return options[g.IntN(len(options))] }

func (g generator) name() string { return g.pick("a", "b", "ab", "c~/d") }

func (g generator) scalar() string {
	return g.pick(`null`, `true`, `false`, `0`, `1`, `-1`, `1.0`, `2.5`, `7e1`, `3`, `""`, `"a"`, `"ab"`, `"é"`, `"abc"`)
}

func (g generator) schema(depth int) string {
	if depth == 0 || g.IntN(12) == 0 {
		return g.pick(`true`, `false`, `{}`, `{"type":"string"}`, `{"type":"integer"}`, `{"$ref":"#/$defs/r"}`)
	}
	sub := func() string { return g.schema(depth - 1) }
	list := func() string { return "[" + sub() + "," + sub() + "]" }
	keywords := []func() string{
		func() string {
			return `"type":` + g.pick(`"string"`, `"number"`, `"integer"`, `"object"`, `"array"`, `["null","string"]`, `["object","array"]`)
		},
		func() string { return `"enum":[` + g.scalar() + `,` + g.scalar() + `]` },
		func() string { return `"const":` + g.scalar() },
		func() string { return `"minimum":` + g.pick("0", "1", "2.5") },
		func() string { return `"exclusiveMaximum":` + g.pick("0", "1", "70") },
		func() string { return `"multipleOf":` + g.pick("1", "2", "0.5") },
		func() string { return `"minLength":` + g.pick("0", "1", "2.0") },
		func() string { return `"maxLength":` + g.pick("1", "2") },
		func() string { return `"pattern":` + g.pick(`"^a"`, `"b"`) },
		func() string { return `"properties":{"a":` + sub() + `,"b":` + sub() + `}` },
		func() string { return `"patternProperties":{"^a":` + sub() + `}` },
		func() string { return `"additionalProperties":` + sub() },
		func() string { return `"unevaluatedProperties":` + sub() },
		func() string { return `"propertyNames":` + sub() },
		func() string { return `"required":["` + g.name() + `"]` },
		func() string { return `"minProperties":` + g.pick("1", "2") },
		func() string { return `"maxProperties":` + g.pick("1", "2") },
		func() string { return `"dependentRequired":{"a":["b"]}` },
		func() string { return `"dependentSchemas":{"a":` + sub() + `}` },
		func() string { return `"prefixItems":` + list() },
		func() string { return `"items":` + sub() },
		func() string { return `"contains":` + sub() },
		func() string { return `"minContains":` + g.pick("0", "2") },
		func() string { return `"maxContains":1` },
		func() string { return `"minItems":1` },
		func() string { return `"maxItems":2` },
		func() string { return `"uniqueItems":true` },
		func() string { return `"unevaluatedItems":` + sub() },
		func() string { return `"allOf":` + list() },
		func() string { return `"anyOf":` + list() },
		func() string { return `"oneOf":` + list() },
		func() string { return `"not":` + sub() },
		func() string { return `"if":` + sub() + `,"then":` + sub() + `,"else":` + sub() },
		func() string { return `"$ref":"#/$defs/r"` },
	}
	var parts []string
	for _, i := range g.Perm(len(keywords))[:1+g.IntN(3)] {
		parts = append(parts, keywords[i]())
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (g generator) value(depth int, hidden bool) string {
	kinds := 4
	if depth == 0 {
		kinds = 2
	}
	switch g.IntN(kinds) {
	case 2:
		var items []string
		for range g.IntN(4) {
			items = append(items, g.value(depth-1, hidden))
		}
		return "[" + strings.Join(items, ",") + "]"
	case 3:
		members := map[string]string{}
		for range g.IntN(4) {
			name := g.name()
			if hidden && g.IntN(2) == 0 {
				name = "a" + secret
			}
			members[name] = g.value(depth-1, hidden)
		}
		var parts []string
		for name, v := range members {
			parts = append(parts, fmt.Sprintf("%q:%s", name, v))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	if hidden {
		return g.pick(secret, `"`+secret+`"`, `"a`+secret+`"`, secret+".5", "-"+secret, `1e`+secret)
	}
	return g.scalar()
}

func (g generator) root() string {
	return `{"$defs":{"r":` + g.pick(`{"type":"object","required":["b"]}`, `{"type":["string","null"]}`, `{"items":{"type":"integer"}}`) +
		`},"allOf":[` + g.schema(3) + `]}`
}

// TestOracle compares verdicts with those of the JSON Schema library.
func TestOracle(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := generator{rand.New(rand.NewPCG(seed, 0))}
	valid, invalid := 0, 0
	for range 4000 {
		raw := g.root()
		mine, err := Parse([]byte(raw))
		require.NoError(t, err, raw)
		var s jsonschema.Schema
		require.NoError(t, jsonv1.Unmarshal([]byte(raw), &s))
		theirs, err := s.Resolve(nil)
		require.NoError(t, err)
		for range 10 {
			value := g.value(3, false)
			var v any
			require.NoError(t, jsonv1.Unmarshal([]byte(value), &v))
			want := theirs.Validate(v) == nil
			found := mine.Validate(jsontext.Value(value))
			require.Equal(t, want, found == nil, "seed %d\n%s\n%s\n%s", seed, raw, value, lines(found))
			require.LessOrEqual(t, len(found), maxViolations)
			if want {
				valid++
			} else {
				invalid++
			}
		}
	}
	require.Greater(t, valid, 4000)
	require.Greater(t, invalid, 4000)
}

// TestLeak gives values full of secrets to random schemas.
func TestLeak(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := generator{rand.New(rand.NewPCG(seed, 0))}
	found := 0
	for range 4000 {
		raw := g.root()
		s, err := Parse([]byte(raw))
		require.NoError(t, err)
		for range 10 {
			value := g.value(3, true)
			for _, v := range s.Validate(jsontext.Value(value)) {
				found++
				require.NotContains(t, v.String(), "4242", "seed %d\n%s\n%s", seed, raw, value)
				require.NotEmpty(t, v.Rule)
				require.True(t, jsontext.Pointer(v.Pointer).IsValid())
				require.NotContains(t, v.Rule, `"`)
			}
		}
	}
	require.Greater(t, found, 4000)
}
