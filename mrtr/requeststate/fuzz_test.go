package requeststate

import (
	"bytes"
	"encoding/base64"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzOpen gives hostile tokens to requests that have a good one. Nothing but
// the good tokens may open, and a refusal may carry nothing.
func FuzzOpen(f *testing.F) {
	vs := readVectors(f)
	frozen := map[string]bool{}
	for i, v := range vs {
		frozen[v.token] = true
		f.Add(v.token, byte(i))
	}
	f.Fuzz(func(t *testing.T, token string, which byte) {
		v := vs[int(which)%len(vs)]
		c, body, err := Open(t.Context(), v.keySet(t), token, v.binding(t), v.options())
		if err == nil {
			require.True(t, frozen[token], "opened what was never sealed")
			return
		}
		require.Zero(t, c)
		require.Nil(t, body)
		var refused *RefusedError
		require.True(t, errors.As(err, &refused))
		require.Contains(t, allReasons, refused.Reason)
	})
}

// FuzzSpelling writes tokens in other ways. What is accepted is the one
// canonical spelling of its bytes.
func FuzzSpelling(f *testing.F) {
	vs := readVectors(f)
	for i, v := range vs {
		for variant := range byte(10) {
			f.Add(v.token, variant, uint16(7*i))
		}
	}
	f.Fuzz(func(t *testing.T, token string, variant byte, at uint16) {
		s := respell(token, variant, int(at))
		h, size, err := ParseHeader(s)
		if err != nil {
			require.ErrorIs(t, err, ErrRefused)
			require.Zero(t, h)
			require.Zero(t, size)
		} else {
			raw, err := base64.RawURLEncoding.DecodeString(s)
			require.NoError(t, err)
			require.Equal(t, base64.RawURLEncoding.EncodeToString(raw), s)
			require.Len(t, raw, size)
		}
		// A frozen token spelled otherwise does not open.
		for _, v := range vs {
			if v.expect == "ok" && v.token == token && s != token {
				_, _, err := Open(t.Context(), v.keySet(t), s, v.binding(t), v.options())
				require.ErrorIs(t, err, ErrRefused)
			}
		}
	})
}

// respell writes a token in another way that some decoder would take for it.
func respell(token string, variant byte, at int) string {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return token
	}
	at %= len(token) + 1
	insert := func(s string) string { return token[:at] + s + token[at:] }
	switch variant % 10 {
	case 1:
		return base64.StdEncoding.EncodeToString(raw)
	case 2:
		return base64.RawStdEncoding.EncodeToString(raw)
	case 3:
		return base64.URLEncoding.EncodeToString(raw)
	case 4:
		return insert("\n")
	case 5:
		return insert("\r\n")
	case 6:
		return insert(" ")
	case 7:
		return insert("=")
	case 8: // other unused bits in the last character
		for c := range 128 {
			b := append([]byte(token)[:max(len(token)-1, 0)], byte(c))
			got, err := base64.RawURLEncoding.DecodeString(string(b))
			if err == nil && string(b) != token && bytes.Equal(got, raw) && c >= at%128 {
				return string(b)
			}
		}
	case 9:
		return insert("\x00")
	}
	return token
}

// FuzzClaims reads claims from any plaintext: what can be read is written the
// same again.
func FuzzClaims(f *testing.F) {
	for _, v := range readVectors(f) {
		if v.expect == "ok" {
			b, err := v.claims.append(nil)
			require.NoError(f, err)
			f.Add(append(b, v.body...))
		}
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		var c Claims
		body, ok := c.parse(bytes.Clone(plain))
		if !ok {
			return
		}
		b, err := c.append(nil)
		require.NoError(t, err)
		require.Equal(t, plain, append(b, body...))
	})
}
