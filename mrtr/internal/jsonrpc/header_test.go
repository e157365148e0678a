package jsonrpc_test

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/internal/jsonrpc"
)

func TestHeaderNamesAreCanonical(t *testing.T) {
	for _, name := range []string{
		jsonrpc.HeaderProtocolVersion, jsonrpc.HeaderMethod, jsonrpc.HeaderName, jsonrpc.HeaderSessionID, jsonrpc.HeaderParamPrefix + "Region",
	} {
		require.Equal(t, http.CanonicalHeaderKey(name), name)
	}
}

func TestHeaderValue(t *testing.T) {
	for _, tt := range []struct{ plain, encoded string }{
		{"get_weather", "get_weather"},
		{"", ""},
		{"file:///projects/my app/config.json", "file:///projects/my app/config.json"},
		{"a\tb", "a\tb"},
		{"us-west1", "us-west1"},
		{"Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="},
		{" padded ", "=?base64?IHBhZGRlZCA=?="},
		{"\tx", "=?base64?CXg=?="},
		{"line1\nline2", "=?base64?bGluZTEKbGluZTI=?="},
		{"a\r\nInjected: x", "=?base64?YQ0KSW5qZWN0ZWQ6IHg=?="},
		{"\x7f", "=?base64?fw==?="},
		{"=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="},
		{"=?base64?", "=?base64?"},
		{"?=", "?="},
		{"=?BASE64?YQ==?=", "=?BASE64?YQ==?="},
	} {
		t.Run(tt.plain, func(t *testing.T) {
			require.Equal(t, tt.encoded, jsonrpc.EncodeHeaderValue(tt.plain))
			got, ok := jsonrpc.DecodeHeaderValue(tt.encoded)
			require.True(t, ok)
			require.Equal(t, tt.plain, got)
		})
	}
}

func TestDecodeHeaderValue(t *testing.T) {
	for name, tt := range map[string]struct {
		value, want string
		ok          bool
	}{
		"plain text sent as Base64":     {"=?base64?YQ==?=", "a", true},
		"empty text sent as Base64":     {"=?base64??=", "", true},
		"the marks overlap":             {"=?base64?=", "=?base64?=", true},
		"marks of other case are text":  {"=?Base64?YQ==?=", "=?Base64?YQ==?=", true},
		"marks inside are text":         {"x=?base64?YQ==?=", "x=?base64?YQ==?=", true},
		"padding missing":               {"=?base64?YQ?=", "", false},
		"padding too long":              {"=?base64?YQ===?=", "", false},
		"bits left over":                {"=?base64?YR==?=", "", false},
		"base64url":                     {"=?base64?8J-Zgg==?=", "", false},
		"space inside":                  {"=?base64?YQ ==?=", "", false},
		"tab inside":                    {"=?base64?YQ\t==?=", "", false},
		"newline inside":                {"=?base64?YQ\n==?=", "", false},
		"carriage return inside":        {"=?base64?YQ\r==?=", "", false},
		"not Base64":                    {"=?base64?%%%%?=", "", false},
		"not UTF-8 inside":              {"=?base64?/w==?=", "", false},
		"half a surrogate inside":       {"=?base64?7aCA?=", "", false},
		"UTF-8 outside":                 {"é", "", false},
		"a control character outside":   {"a\x01", "", false},
		"DEL outside":                   {"a\x7f", "", false},
		"a null byte outside":           {"a\x00", "", false},
		"a line feed outside":           {"a\nb", "", false},
		"two sentinels, only one value": {"=?base64?YQ==?==?base64?YQ==?=", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := jsonrpc.DecodeHeaderValue(tt.value)
			require.Equal(t, tt.ok, ok)
			require.Equal(t, tt.want, got)
		})
	}
}

// FuzzHeaderValue: every text survives the way through a header, and what is
// decoded is text.
func FuzzHeaderValue(f *testing.F) {
	for _, seed := range []string{"get_weather", "", " a", "🙂", "=?base64?YQ==?=", "=?base64?=", "a\nb", "=?base64?/w==?=", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if utf8.ValidString(s) {
			encoded := jsonrpc.EncodeHeaderValue(s)
			require.Equal(t, strings.Trim(encoded, " \t"), encoded, "a server trims white space around a value")
			got, ok := jsonrpc.DecodeHeaderValue(encoded)
			require.True(t, ok)
			require.Equal(t, s, got)
		}
		if got, ok := jsonrpc.DecodeHeaderValue(s); ok {
			require.True(t, utf8.ValidString(got))
			if got != s {
				require.Equal(t, s, "=?base64?"+s[9:len(s)-2]+"?=")
			}
		} else {
			require.Empty(t, got)
		}
	})
}
