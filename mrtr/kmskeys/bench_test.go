package kmskeys

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

func warm(t testing.TB) (*Keys, requeststate.Header) {
	w := newWorld(t)
	k, err := New(w.client(), Options{KeyID: alias, Audience: "prod"}) // the real clock
	require.NoError(t, err)
	s, err := k.SealKey(context.Background(), tool, requeststate.Salt{})
	require.NoError(t, err)
	return k, requeststate.Header{Mode: s.Mode, Purpose: tool, Fingerprint: s.Fingerprint, EpochStart: s.EpochStart}
}

func TestWarmPathDoesNotAllocate(t *testing.T) {
	w := newWorld(t)
	k := w.instance(t, Options{})
	s, err := k.SealKey(context.Background(), tool, requeststate.Salt{})
	require.NoError(t, err)
	h := requeststate.Header{Mode: s.Mode, Purpose: tool, Fingerprint: s.Fingerprint, EpochStart: s.EpochStart}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, errSeal := k.SealKey(context.Background(), tool, requeststate.Salt{})
		_, errOpen := k.OpenSecret(context.Background(), h, requeststate.Salt{})
		if errSeal != nil || errOpen != nil {
			panic("a warm instance gave no secret")
		}
	}))
}

func BenchmarkSealKeyWarm(b *testing.B) {
	k, _ := warm(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.SealKey(context.Background(), tool, requeststate.Salt{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenSecretWarm(b *testing.B) {
	k, h := warm(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.OpenSecret(context.Background(), h, requeststate.Salt{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSealKeyCold is an instance's first secret, over HTTP.
func BenchmarkSealKeyCold(b *testing.B) {
	w := newWorld(b)
	api := w.client()
	for b.Loop() {
		k := w.over(b, api, Options{})
		if _, err := k.SealKey(context.Background(), tool, requeststate.Salt{}); err != nil {
			b.Fatal(err)
		}
	}
}
