package schema

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFormats(t *testing.T) {
	tests := []struct {
		format     string
		good, evil []string
	}{
		{"email",
			[]string{"a@b", "ada.lovelace+tag@mail.example.com", "o'neil@example.co.uk", "x_y-z@1.example"},
			[]string{"", "a", "@b", "a@", "a@b@c", "a b@c", ".a@b", "a.@b", "a..b@c", "a@-b", "a@b-", "a@b..c", "a@b.", `"a b"@c`, "a@[1.2.3.4]",
				"ä@b", "a@ü", "a@b\n", "a@b_c", "<a@b>", strings.Repeat("a", 65) + "@b", "a@" + strings.Repeat("b.", 130) + "c"}},
		{"uri",
			[]string{"https://example.com", "http://a/b?c=d#e", "mailto:a@b", "urn:isbn:0451450523", "file:///x", "https://[::1]:80/"},
			[]string{"", "example.com", "/a", "//host/a", "https:", "https://", "http://a b", "http://a\n", "http://ä", "://x", "1http://x", "http://a/%zz", `http://a\b`, "http://<a>"}},
		{"date",
			[]string{"2026-07-28", "2024-02-29", "0001-01-01"},
			[]string{"", "2026-7-28", "2026-02-29", "2026-13-01", "28.07.2026", "2026-07-28T00:00:00Z", " 2026-07-28", "20260728"}},
		{"date-time",
			[]string{"2026-07-28T12:00:00Z", "2026-07-28T12:00:00.123+02:00"},
			[]string{"", "2026-07-28", "2026-07-28T12:00:00", "2026-07-28 12:00:00Z", "2026-07-28T25:00:00Z", "2026-07-28T12:00:00,5Z", "2026-07-28T2:00:00Z", "2026-07-28T12:00:00+01:60", "2026-07-28t12:00:00z", "2026-07-28T23:59:60Z", "2026-07-28T12:00:00+24:00"}},
		{"unknown", []string{"", "anything"}, nil},
	}
	for _, tt := range tests {
		for _, s := range tt.good {
			require.Empty(t, checkFormat(tt.format, s), "%s %q", tt.format, s)
		}
		for _, s := range tt.evil {
			require.NotEmpty(t, checkFormat(tt.format, s), "%s %q", tt.format, s)
		}
	}
}
