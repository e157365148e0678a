package requeststate

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestArgumentsDigest gives, for each spelling, the bytes that are hashed.
func TestArgumentsDigest(t *testing.T) {
	for _, tt := range []struct{ name, args, canonical string }{
		{"absent", ``, `{}`},
		{"empty object", `{}`, `{}`},
		{"space", " { \t\r\n} ", `{}`},
		{"null", `null`, `null`},
		{"null member", `{"a":null}`, `{"a":null}`},
		{"member order", `{"b":1,"a":2}`, `{"a":2,"b":1}`},
		{"nested member order", `{"b":{"d":1,"c":[{"f":1,"e":2}]},"a":2}`, `{"a":2,"b":{"c":[{"e":2,"f":1}],"d":1}}`},
		{"element order counts", `{"a":[2,1]}`, `{"a":[2,1]}`},
		{"space within", "{ \"a\" :\n[ 1 , 2 ] }", `{"a":[1,2]}`},
		{"space in strings counts", `{"a":" b "}`, `{"a":" b "}`},
		{"escapes", `{"\u0061":"\u00e9\/\u0022\u000a"}`, `{"a":"é/\"\n"}`},
		{"escaped surrogates", `{"a":"\ud83d\ude00"}`, `{"a":"😀"}`},
		{"control characters", `{"a":"\u0001\u001F\u007f\b"}`, "{\"a\":\"\\u0001\\u001f\x7f\\b\"}"},
		{"no normalization", `{"a":"e\u0301"}`, "{\"a\":\"e\u0301\"}"},
		{"order by UTF-16", `{"\ue000":1,"😀":2,"a":3}`, "{\"a\":3,\"😀\":2,\"\ue000\":1}"},
		{"case of names counts", `{"b":1,"B":2}`, `{"B":2,"b":1}`},
		{"integer 2^53", `{"a":9007199254740992}`, `{"a":9007199254740992}`},
		{"integer 2^53+1", `{"a":9007199254740993}`, `{"a":9007199254740993}`},
		{"minus zero", `{"a":-0}`, `{"a":-0}`},
		{"zero", `{"a":0}`, `{"a":0}`},
		{"1.0", `{"a":1.0}`, `{"a":1.0}`},
		{"1", `{"a":1}`, `{"a":1}`},
		{"1e2", `{"a":1e2}`, `{"a":1e2}`},
		{"1E+2", `{"a":1E+2}`, `{"a":1E+2}`},
		{"100", `{"a":100}`, `{"a":100}`},
		{"beyond double", `{"a":1e400,"b":-1e-400}`, `{"a":1e400,"b":-1e-400}`},
		{"60 digits", `{"a":` + strings.Repeat("7", 60) + `}`, `{"a":` + strings.Repeat("7", 60) + `}`},
		{"number as string", `{"a":"1"}`, `{"a":"1"}`},
		{"empty name", `{"":1}`, `{"":1}`},
		{"brackets in strings", `{"a":"` + strings.Repeat(`[{\"`, 300) + `"}`, `{"a":"` + strings.Repeat(`[{\"`, 300) + `"}`},
		{"many, one by one", `[` + strings.Repeat(`[],`, 300) + `{}]`, `[` + strings.Repeat(`[],`, 300) + `{}]`},
		{"as deep as may be", strings.Repeat(`[`, 256) + strings.Repeat(`]`, 256), strings.Repeat(`[`, 256) + strings.Repeat(`]`, 256)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := []byte(tt.args)
			got, err := ArgumentsDigest(args)
			require.NoError(t, err)
			require.Equal(t, Digest(sha256.Sum256([]byte("mrtr arguments v1\x00"+tt.canonical))), got)
			require.Equal(t, tt.args, string(args), "the arguments were changed")
			again, err := ArgumentsDigest([]byte(tt.canonical))
			require.NoError(t, err)
			require.Equal(t, got, again)
		})
	}
}

func TestArgumentsDigestRefuses(t *testing.T) {
	const invalid, deep = "requeststate: arguments are not a JSON value", "requeststate: arguments are nested too deeply"
	for _, tt := range []struct{ name, args, err string }{
		{"space", ` `, invalid},
		{"duplicate names", `{"private":1,"private":2}`, invalid},
		{"duplicate names, one escaped", `{"private":1,"privat\u0065":2}`, invalid},
		{"duplicate names, nested", `{"a":[{"private":1,"private":1}]}`, invalid},
		{"invalid UTF-8", "{\"private\":\"\xff\"}", invalid},
		{"invalid UTF-8 name", "{\"private\xc0\xaf\":1}", invalid},
		{"lone surrogate", `{"private":"\ud800"}`, invalid},
		{"half a surrogate pair", `{"private":"\ud800\u0041"}`, invalid},
		{"two values", `{"private":1}{}`, invalid},
		{"trailing text", `{"private":1}x`, invalid},
		{"cut short", `{"private":`, invalid},
		{"trailing comma", `{"private":1,}`, invalid},
		{"comment", `{"private":1/**/}`, invalid},
		{"byte order mark", "\ufeff{}", invalid},
		{"leading zero", `{"private":01}`, invalid},
		{"plus", `{"private":+1}`, invalid},
		{"not a number", `{"private":NaN}`, invalid},
		{"control character", "{\"private\":\"\n\"}", invalid},
		{"too deep", strings.Repeat(`[`, 257) + strings.Repeat(`]`, 257), deep},
		{"too deep, mixed", strings.Repeat(`{"a":[`, 129) + strings.Repeat(`]}`, 129), deep},
		{"too deep, unclosed", strings.Repeat(`[`, 1<<20), deep},
		{"unbalanced", strings.Repeat(`]`, 1000), invalid},
		{"ends in an escape", `{"private\`, invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := ArgumentsDigest([]byte(tt.args))
			require.EqualError(t, err, tt.err)
			require.Zero(t, d)
		})
	}
}
