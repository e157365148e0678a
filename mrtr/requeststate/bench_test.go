package requeststate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkSeal(b *testing.B) {
	v := good(b, "good-tool")
	keys, body := v.keySet(b), make([]byte, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Seal(b.Context(), keys, v.purpose, v.claims, body, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	v := good(b, "good-tool")
	keys, want, opts := v.keySet(b), v.binding(b), v.options()
	token, err := Seal(b.Context(), keys, v.purpose, v.claims, make([]byte, 1000), 0)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Open(b.Context(), keys, token, want, opts); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkArgumentsDigest(b *testing.B) {
	args := []byte(good(b, "good-tool").arguments)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ArgumentsDigest(args); err != nil {
			b.Fatal(err)
		}
	}
}
