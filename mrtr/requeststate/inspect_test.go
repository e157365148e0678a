package requeststate

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInspectVectors: an inspection refuses what no key or no version of the
// format explains, and reads what is refused for its request or its time alone.
func TestInspectVectors(t *testing.T) {
	always := map[Reason]bool{
		ReasonMalformed: true, ReasonVersion: true, ReasonMode: true, ReasonKey: true,
		ReasonEpochGrid: true, ReasonEpochOld: true, ReasonEpochAhead: true, ReasonForged: true, ReasonClaims: true,
	}
	read := 0
	for _, v := range readVectors(t) {
		t.Run(v.name, func(t *testing.T) {
			h, c, body, err := Inspect(context.Background(), v.keySet(t), v.token)
			var refused *RefusedError
			switch reason := Reason(v.expect); {
			case v.expect == "ok":
				require.NoError(t, err)
				require.Equal(t, v.claims, c)
				require.Equal(t, string(v.body), string(body))
				require.Equal(t, v.purpose, h.Purpose)
			case always[reason]:
				require.ErrorAs(t, err, &refused)
				require.Equal(t, reason, refused.Reason)
				require.Zero(t, c)
				require.Nil(t, body)
				return
			case reason == ReasonPurpose || reason == ReasonTooLong:
				// Another purpose is no reason, unless the purpose was changed; nor is
				// a limit below the default.
				if err != nil {
					require.ErrorAs(t, err, &refused)
					require.Contains(t, []Reason{ReasonPurpose, ReasonForged, ReasonTooLong}, refused.Reason)
					return
				}
			default:
				require.NoError(t, err)
				require.NotZero(t, c)
			}
			read++
		})
	}
	require.Greater(t, read, 20)
}

func TestInspectReturnsTheHeaderOfWhatItCannotRead(t *testing.T) {
	v := good(t, "good-tool")
	other, err := NewStaticKeys([]byte(strings.Repeat("k", MinSecretSize)))
	require.NoError(t, err)
	h, _, _, err := Inspect(context.Background(), other, v.token)
	require.ErrorIs(t, err, ErrRefused)
	want, _, err := ParseHeader(v.token)
	require.NoError(t, err)
	require.Equal(t, want, h)
}
