package requeststate

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClaimsLimits(t *testing.T) {
	last := time.Unix(1<<32-1, 0)
	for _, tt := range []struct {
		name string
		edit func(*Claims)
		err  string
	}{
		{"method of 255", func(c *Claims) { c.Method = strings.Repeat("m", 255) }, ""},
		{"method of 256", func(c *Claims) { c.Method = strings.Repeat("m", 256) }, "a claim is too long: method 256,"},
		{"revision of 255", func(c *Claims) { c.Revision = strings.Repeat("m", 255) }, ""},
		{"revision of 256", func(c *Claims) { c.Revision = strings.Repeat("m", 256) }, "revision 256,"},
		{"traceparent of 255", func(c *Claims) { c.Traceparent = strings.Repeat("m", 255) }, ""},
		{"traceparent of 256", func(c *Claims) { c.Traceparent = strings.Repeat("m", 256) }, "traceparent 256,"},
		{"target of 65535", func(c *Claims) { c.Target = strings.Repeat("m", 65535) }, ""},
		{"target of 65536", func(c *Claims) { c.Target = strings.Repeat("m", 65536) }, "target 65536 bytes"},
		{"epoch", func(c *Claims) { c.IssuedAt = time.Unix(0, 0) }, ""},
		{"before the epoch", func(c *Claims) { c.IssuedAt = time.Unix(-1, 0) }, "a time is out of range: 1969-12-31T23:59:59Z"},
		{"last issued-at", func(c *Claims) { c.IssuedAt = last }, ""},
		{"last round expiry", func(c *Claims) { c.RoundExpiry = last }, ""},
		{"last flow deadline", func(c *Claims) { c.FlowDeadline = last }, ""},
		{"late issued-at", func(c *Claims) { c.IssuedAt = last.Add(time.Second) }, "2106-02-07T06:28:16Z"},
		{"late round expiry", func(c *Claims) { c.RoundExpiry = last.Add(time.Second) }, "2106-02-07T06:28:16Z"},
		{"late flow deadline", func(c *Claims) { c.FlowDeadline = last.Add(time.Second) }, "2106-02-07T06:28:16Z"},
		{"no time", func(c *Claims) { c.FlowDeadline = time.Time{} }, "0001-01-01T00:00:00Z"},
		{"odd bytes", func(c *Claims) { c.Method, c.Target = "\x00\xff", "\xff\x00" }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := good(t, "good-tool")
			c := v.claims
			tt.edit(&c)
			token, err := Seal(t.Context(), v.keySet(t), PurposeTool, c, nil, 0)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				require.Empty(t, token)
				return
			}
			require.NoError(t, err)
			b, err := c.append(nil)
			require.NoError(t, err)
			require.Len(t, b, c.size())
			var got Claims
			body, ok := got.parse(b)
			require.True(t, ok)
			require.Empty(t, body)
			c.IssuedAt, c.RoundExpiry, c.FlowDeadline = c.IssuedAt.UTC(), c.RoundExpiry.UTC(), c.FlowDeadline.UTC()
			require.Equal(t, c, got)
		})
	}
}

// TestClaimsTimes checks that parts of a second are dropped, never rounded up.
func TestClaimsTimes(t *testing.T) {
	c := good(t, "good-tool").claims
	c.RoundExpiry = c.RoundExpiry.Add(999 * time.Millisecond)
	b, err := c.append(nil)
	require.NoError(t, err)
	var got Claims
	_, ok := got.parse(b)
	require.True(t, ok)
	require.Equal(t, c.RoundExpiry.Truncate(time.Second), got.RoundExpiry)
}

func TestNewFlow(t *testing.T) {
	var a, b Claims
	a.NewFlow()
	b.NewFlow()
	require.NotZero(t, a.FlowID)
	require.NotZero(t, a.FlowSecret)
	require.NotEqual(t, a.FlowID, b.FlowID)
	require.NotEqual(t, a.FlowSecret, b.FlowSecret)
	require.NotEqual(t, a.FlowID[:], a.FlowSecret[:])
}

// TestDigestsAreInjective checks that no two of these name the same.
func TestDigestsAreInjective(t *testing.T) {
	digests := []Digest{
		AudienceDigest(""), AudienceDigest("a"), AudienceDigest("a\x00"), AudienceDigest("A"),
		PrincipalDigest("", "", ""), PrincipalDigest("a", "", ""), PrincipalDigest("", "a", ""), PrincipalDigest("", "", "a"),
		PrincipalDigest("ab", "c", ""), PrincipalDigest("a", "bc", ""), PrincipalDigest("a", "b", "c"),
		PrincipalDigest("a\x00", "b", "c"), PrincipalDigest("a", "\x00b", "c"),
	}
	seen := map[Digest]int{}
	for i, d := range digests {
		j, ok := seen[d]
		require.False(t, ok, "%d and %d", i, j)
		seen[d] = i
	}
}

func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"tool": PurposeTool.String(), "prompt": PurposePrompt.String(), "resource": PurposeResource.String(),
		"session": PurposeSession.String(), "purpose(9)": Purpose(9).String(),
		"static": ModeStatic.String(), "derived": ModeDerived.String(), "strict": ModeStrict.String(), "mode(0)": Mode(0).String(),
		"2026-08-01T12:00:00Z": EpochMinute(29759760).Time().Format(time.RFC3339),
	} {
		require.Equal(t, want, got)
	}
}
