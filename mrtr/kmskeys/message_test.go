package kmskeys

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

func TestMessagesAreFrozen(t *testing.T) {
	audience := sha256.Sum256([]byte("https://mcp.example.com/prod"))
	const (
		front = "6d7274722d6c616d626461206b657900" + "01" // label, version
		aud   = "20" + "eaea38183d873d2757bbc39bda84840b5456ffb8632807a8b121a648c15e4fb9"
	)
	salt := requeststate.Salt{0: 0xa0, 19: 0xbf}
	tests := map[string]struct {
		got  []byte
		want string
	}{
		"derived flow":    {derivedMessage(audience, classFlow, 29_500_005), front + "02" + "01" + aud + "01c22265" + "0000000f"},
		"derived session": {derivedMessage(audience, classSession, 29_499_840), front + "02" + "02" + aud + "01c221c0" + "000005a0"},
		"strict tool": {strictMessage(audience, requeststate.PurposeTool, salt),
			front + "03" + "03" + aud + "01" + "14" + "a0000000000000000000000000000000000000bf"},
		"strict session": {strictMessage(audience, requeststate.PurposeSession, salt),
			front + "03" + "03" + aud + "04" + "14" + "a0000000000000000000000000000000000000bf"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want, hex.EncodeToString(tt.got))
		})
	}
}

func TestMessagesDiffer(t *testing.T) {
	seen := map[string]bool{}
	n := 0
	add := func(b []byte) { seen[string(b)] = true; n++ }
	for _, name := range []string{"a", "b", ""} {
		audience := sha256.Sum256([]byte(name))
		for _, c := range []class{classFlow, classSession} {
			for _, start := range []requeststate.EpochMinute{0, 15, 1440, 2880, 1<<32 - 1} {
				add(derivedMessage(audience, c, start))
			}
		}
		for p := requeststate.PurposeTool; p <= requeststate.PurposeSession; p++ {
			for _, salt := range []requeststate.Salt{{}, {0: 1}, {19: 1}} {
				add(strictMessage(audience, p, salt))
			}
		}
	}
	require.Len(t, seen, n)
}

func TestEpochGrid(t *testing.T) {
	at := time.Date(2026, 7, 28, 13, 44, 59, 0, time.UTC)
	require.Equal(t, time.Date(2026, 7, 28, 13, 30, 0, 0, time.UTC), classFlow.epochAt(at).Time())
	require.Equal(t, time.Date(2026, 7, 28, 13, 45, 0, 0, time.UTC), classFlow.epochAt(at.Add(time.Second)).Time())
	require.Equal(t, time.Date(2026, 7, 28, 13, 45, 0, 0, time.UTC), classFlow.next(classFlow.epochAt(at)).Time())
	require.Equal(t, time.Date(2026, 7, 28, 0, 0, 0, 0, time.UTC), classSession.epochAt(at).Time())
	require.Equal(t, time.Date(2026, 7, 29, 0, 0, 0, 0, time.UTC), classSession.next(classSession.epochAt(at)).Time())
}

func TestClasses(t *testing.T) {
	want := map[requeststate.Purpose]class{
		requeststate.PurposeTool: classFlow, requeststate.PurposePrompt: classFlow,
		requeststate.PurposeResource: classFlow, requeststate.PurposeSession: classSession,
	}
	for p := range requeststate.Purpose(16) {
		c, ok := classOf(p)
		require.Equal(t, want[p], c, p)
		require.Equal(t, want[p] != 0, ok, p)
	}
}
