package requeststate

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStaticKeysRotation(t *testing.T) {
	v := good(t, "good-tool")
	a, b := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 40)
	keys := func(seal []byte, accept ...[]byte) *StaticKeys {
		k, err := NewStaticKeys(seal, accept...)
		require.NoError(t, err)
		return k
	}
	seal := func(k Keys) string {
		token, err := Seal(t.Context(), k, v.purpose, v.claims, v.body, 0)
		require.NoError(t, err)
		return token
	}
	opens := func(k Keys, token string) error {
		_, _, err := Open(t.Context(), k, token, v.binding(t), v.options())
		return err
	}
	// Old only; the new one accepted; the new one seals; old dropped.
	stages := []*StaticKeys{keys(a), keys(a, b), keys(b, a), keys(b)}
	for i, from := range stages {
		token := seal(from)
		for j, to := range stages {
			if i-j >= -1 && i-j <= 1 {
				require.NoError(t, opens(to, token), "from stage %d to %d", i, j)
			}
		}
	}
	require.Equal(t, refuse(ReasonKey), opens(keys(b), seal(keys(a))))
	require.Equal(t, refuse(ReasonKey), opens(keys(a), seal(keys(b, a))))
	require.NoError(t, opens(keys(a, a), seal(keys(a))))
}

func TestStaticKeysErrors(t *testing.T) {
	_, err := NewStaticKeys(make([]byte, 31))
	require.ErrorContains(t, err, "got 31")
	_, err = NewStaticKeys(make([]byte, 32), make([]byte, 8))
	require.ErrorContains(t, err, "got 8")
	_, err = NewStaticKeys(nil)
	require.ErrorContains(t, err, "got 0")

	v := good(t, "good-tool")
	_, err = Seal(t.Context(), &StaticKeys{}, v.purpose, v.claims, v.body, 0)
	require.ErrorIs(t, err, errNoStaticKeys)
	_, _, err = Open(t.Context(), &StaticKeys{}, v.token, v.binding(t), v.options())
	require.ErrorIs(t, err, errNoStaticKeys)
	require.NotErrorIs(t, err, ErrRefused)
}
