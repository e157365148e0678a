package requeststate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNewSecret(t *testing.T) {
	for _, n := range []int{0, 1, 31} {
		s, err := NewSecret(make([]byte, n))
		require.EqualError(t, err, fmt.Sprintf("requeststate: a secret needs 32 bytes or more, got %d", n))
		require.Nil(t, s)
	}
	b := bytes.Repeat([]byte{7}, 32)
	s, err := NewSecret(b)
	require.NoError(t, err)
	before, err := s.expand("x", 32)
	require.NoError(t, err)
	clear(b)
	after, err := s.expand("x", 32)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestSecretNeverPrints(t *testing.T) {
	s, err := NewSecret(bytes.Repeat([]byte{0xa7}, 32))
	require.NoError(t, err)
	keys, err := NewStaticKeys(bytes.Repeat([]byte{0xa7}, 32))
	require.NoError(t, err)
	flow := FlowSecret{0xd1, 0xd2, 0xd3, 0xd4}
	type inside struct {
		A any
		b any
		c Secret
		d *Secret
	}
	values := map[string]any{
		"pointer": s, "value": *s, "seal key": keys.seal, "keys": keys, "keys value": *keys,
		"slice": []*Secret{s}, "map": map[string]Secret{"k": *s}, "nested": inside{s, s, *s, s},
		"flow secret": flow, "flow in claims": Claims{FlowSecret: flow}, "flow in claims pointer": &Claims{FlowSecret: flow},
	}
	// Package fmt answers %p, %T and, outside Errorf, %w without asking the value.
	var formats, own []string
	for _, verb := range "abcdefghijklmnoqrstuvxyzABCDEFGHIJKLMNOPQRSUVWXYZ" + "pTw" {
		for _, flags := range []string{"%", "%+", "%#", "% ", "%010", "%-40.3"} {
			if verb == 'p' || verb == 'T' || verb == 'w' {
				own = append(own, flags+string(verb))
			} else {
				formats = append(formats, flags+string(verb))
			}
		}
	}
	// The bytes as any verb could show them: in hex, decimal, octal, binary, quoted.
	var leaks []string
	for _, secret := range [][]byte{(*s.prk)[:4], flow[:4]} {
		for _, f := range []string{"%x", "% x", "%X", "%q", "%s", "%v", "%d", "%#v", "%o", "%b", "%O", "%c", "%U"} {
			text := fmt.Sprintf(f, secret)
			leaks = append(leaks, string(bytes.Trim([]byte(text), `[]"{}`)))
		}
	}
	for name, v := range values {
		tried := formats
		if !strings.HasPrefix(name, "flow") {
			tried = slices.Concat(formats, own)
		}
		for _, f := range tried {
			out := fmt.Sprintf(f, v)
			for _, leak := range leaks {
				require.NotContains(t, out, leak, "%s under %s", name, f)
			}
		}
	}
	for _, f := range formats {
		require.Equal(t, "requeststate.Secret(hidden)", fmt.Sprintf(f, s), f)
		require.Equal(t, "requeststate.Secret(hidden)", fmt.Sprintf(f, *s), f)
		require.Equal(t, "requeststate.FlowSecret(hidden)", fmt.Sprintf(f, flow), f)
	}
	require.Equal(t, "requeststate.Secret(hidden)", s.String())
	require.NotPanics(t, func() { _ = fmt.Sprint((*Secret)(nil)) })

	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "secret", s, "key", keys.seal)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "secret", s, "key", keys.seal)
	b, err := json.Marshal(keys.seal)
	require.NoError(t, err)
	log.Write(b)
	for _, leak := range leaks {
		require.NotContains(t, log.String(), leak)
	}
}
