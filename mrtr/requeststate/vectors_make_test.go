package requeststate

import (
	"bytes"
	"encoding/base64"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A vector that exists is never written again: it is frozen, and a token that
// it holds opens, or is refused, for as long as its version is served.
var update = flag.Bool("update", false, "write the vectors that testdata does not have yet")

// recipe makes one vector out of a good one.
type recipe struct {
	name, from, comment, expect string
	edit                        func(*maker)
}

// maker is a vector in the making.
type maker struct {
	*vector
	t     testing.TB
	keyed Keys // seals; nil: the vector's own keys
}

func (m *maker) raw() []byte {
	b, err := base64.RawURLEncoding.DecodeString(m.token)
	require.NoError(m.t, err)
	return b
}

func (m *maker) setRaw(b []byte) { m.token = base64.RawURLEncoding.EncodeToString(b) }

// flip flips bits of the byte at i, counted from the end where negative.
func (m *maker) flip(i int, bit byte) {
	b := m.raw()
	if i < 0 {
		i += len(b)
	}
	b[i] ^= bit
	m.setRaw(b)
}

func (m *maker) cut(n int) {
	b := m.raw()
	if n < 0 {
		n += len(b)
	}
	m.setRaw(b[:n])
}

// seal seals the vector's claims and body anew.
func (m *maker) seal() {
	if m.keyed == nil {
		m.keyed = m.keySet(m.t)
	}
	var err error
	m.token, err = Seal(m.t.Context(), m.keyed, m.purpose, m.claims, m.body, 1<<20)
	require.NoError(m.t, err)
}

// rebind makes the claims what the vector's request says.
func (m *maker) rebind() {
	b := m.binding(m.t)
	m.claims.Audience, m.claims.Principal, m.claims.Arguments = b.Audience, b.Principal, b.Arguments
	m.claims.Method, m.claims.Target, m.claims.Revision = b.Method, b.Target, ""
	if len(b.Revisions) > 0 {
		m.claims.Revision = b.Revisions[0]
	}
	m.claims.NewFlow()
	m.seal()
}

// sealPlain seals a plaintext made from the claims' bytes.
func (m *maker) sealPlain(edit func([]byte) []byte) {
	plain, err := m.claims.append(nil)
	require.NoError(m.t, err)
	plain = edit(plain)
	front := m.raw()[:frontSize]
	k, err := m.keySet(m.t).OpenSecret(m.t.Context(), parseHeader(front), Salt(front[headerSize:]))
	require.NoError(m.t, err)
	aead, err := tokenAEAD(k, front)
	require.NoError(m.t, err)
	m.setRaw(aead.Seal(bytes.Clone(front), nil, plain, front[:headerSize]))
}

func (m *maker) epochs(mode Mode) {
	m.mode, m.length, m.lifetime = mode, 15*time.Minute, 10*time.Minute
}

func at(clock string) time.Time {
	t, err := time.Parse(time.RFC3339, "2026-08-01T"+clock+"Z")
	if err != nil {
		panic(err)
	}
	return t
}

func firstVector() *vector {
	return &vector{
		now: at("12:05:00"), mode: ModeStatic,
		keys:     [][]byte{[]byte("a key for vectors, not for use 1")},
		purpose:  PurposeTool,
		audience: "mcp.example", principal: []string{"https://issuer.example", "user-1", "client-1"},
		method: "tools/call", target: "book_trip", arguments: `{"city":"Lyon","seats":9007199254740992}`,
		revisions: []string{"3"},
		body:      []byte(`[{"key":"dates"}]`),
		claims: Claims{
			Round: 1, IssuedAt: at("12:00:00"), RoundExpiry: at("12:10:00"), FlowDeadline: at("13:00:00"),
			Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		},
	}
}

const otherKey = "a key for vectors, not for use 2"

var recipes = []recipe{
	// Good ones.
	{"good-tool", "", "a tool's state, every claim present", "ok", func(m *maker) { m.rebind() }},
	{"good-prompt", "", "a prompt's state", "ok", func(m *maker) {
		m.purpose, m.method, m.target = PurposePrompt, "prompts/get", "summary"
		m.rebind()
	}},
	{"good-resource", "", "a resource's state, its target a URI of 2,000 bytes", "ok", func(m *maker) {
		m.purpose, m.method = PurposeResource, "resources/read"
		m.target = "https://files.example/" + strings.Repeat("a/", 989)
		m.rebind()
	}},
	{"good-session", "", "a session id: no target, no arguments, no revision, a day's life", "ok", func(m *maker) {
		m.purpose, m.method, m.target, m.arguments, m.revisions = PurposeSession, "initialize", "", "", nil
		m.claims.RoundExpiry, m.claims.FlowDeadline = at("12:00:00").Add(24*time.Hour), at("12:00:00").Add(24*time.Hour)
		m.claims.Traceparent, m.claims.Round = "", 0
		m.rebind()
	}},
	{"good-anonymous", "", "no principal, neither sealed nor presented", "ok", func(m *maker) { m.principal = nil; m.rebind() }},
	{"good-no-traceparent", "", "no traceparent", "ok", func(m *maker) { m.claims.Traceparent = ""; m.rebind() }},
	{"good-no-revision", "", "no revision, none accepted", "ok", func(m *maker) { m.revisions = nil; m.rebind() }},
	{"good-revision-set", "", "the second of two accepted revisions", "ok", func(m *maker) {
		m.rebind()
		m.revisions = []string{"4", "3"}
	}},
	{"good-empty-body", "", "an empty body", "ok", func(m *maker) { m.body = []byte{}; m.rebind() }},
	{"good-binary-body", "", "a body that is not text", "ok", func(m *maker) { m.body = []byte{0, 0xff, '\n', 0x80}; m.rebind() }},
	{"good-bare", "", "nothing that may be left out", "ok", func(m *maker) {
		m.principal, m.revisions, m.arguments, m.body, m.claims.Traceparent = nil, nil, "", []byte{}, ""
		m.rebind()
	}},
	{"good-last-round", "", "the greatest round number and times", "ok", func(m *maker) {
		m.claims.Round = 1<<16 - 1
		m.claims.RoundExpiry, m.claims.FlowDeadline = time.Unix(1<<32-1, 0).UTC(), time.Unix(1<<32-1, 0).UTC()
		m.rebind()
	}},
	{"good-derived", "", "derived mode, the current epoch", "ok", func(m *maker) { m.epochs(ModeDerived); m.rebind() }},
	{"good-strict", "", "strict mode", "ok", func(m *maker) {
		m.epochs(ModeStrict)
		m.rebind()
	}},
	{"good-arguments-spelled-otherwise", "good-tool", "the same arguments: other order, white space, escapes", "ok", func(m *maker) {
		m.arguments = `{ "seats" : 9007199254740992, "\u0063ity" : "L\u0079on" }`
	}},
	{"good-accepted-key", "good-tool", "sealed under a key that is accepted but does not seal", "ok", func(m *maker) {
		m.keys = [][]byte{[]byte(otherKey), m.keys[0]}
	}},
	{"good-last-second", "good-tool", "the last second before the round's expiry", "ok", func(m *maker) { m.now = at("12:09:59") }},
	{"good-issued-at-skew", "good-tool", "issued exactly the skew ahead", "ok", func(m *maker) { m.now = at("11:59:00") }},
	{"good-exact-size", "good-tool", "exactly as long as the limit", "ok", func(m *maker) { m.maxSize = len(m.token) }},
	{"good-epoch-oldest", "good-derived", "the last second in which this epoch is accepted", "ok", func(m *maker) {
		m.claims.RoundExpiry = at("12:50:00")
		m.seal()
		m.now = at("12:25:59")
	}},
	{"good-epoch-soonest", "good-derived", "an epoch that begins exactly the skew ahead", "ok", func(m *maker) {
		m.claims.IssuedAt, m.claims.RoundExpiry = at("12:15:00"), at("12:25:00")
		m.now = at("12:15:00")
		m.seal()
		m.now = at("12:14:00")
	}},

	// Size and spelling.
	{"too-long", "good-tool", "one byte longer than the limit", "too_long", func(m *maker) { m.maxSize = len(m.token) - 1 }},
	{"padding", "good-tool", "right padding, where none may be", "malformed", func(m *maker) {
		m.token += strings.Repeat("=", -len(m.token)&3)
	}},
	{"newline-end", "good-tool", "a line feed behind the token", "malformed", func(m *maker) { m.token += "\n" }},
	{"newline-inside", "good-tool", "a line feed within the token", "malformed", func(m *maker) { m.token = m.token[:76] + "\n" + m.token[76:] }},
	{"carriage-return", "good-tool", "a carriage return within the token", "malformed", func(m *maker) { m.token = m.token[:76] + "\r" + m.token[76:] }},
	{"space-before", "good-tool", "a space before the token", "malformed", func(m *maker) { m.token = " " + m.token }},
	{"last-character", "good-tool", "unused bits of the last character set", "malformed", func(m *maker) {
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		last := len(m.token) - 1
		i := strings.IndexByte(alphabet, m.token[last])
		m.token = m.token[:last] + alphabet[i|1:][:1]
	}},
	{"standard-alphabet", "good-tool", "the characters + and / for - and _", "malformed", func(m *maker) {
		m.token = strings.NewReplacer("-", "+", "_", "/").Replace(m.token)
	}},
	{"one-character-more", "good-tool", "a length that base64 cannot have", "malformed", func(m *maker) {
		m.token += "AAAA"[:1+(4-len(m.token)&3)&3]
	}},
	{"not-ascii", "good-tool", "a letter outside ASCII", "malformed", func(m *maker) { m.token = m.token[:40] + "é" + m.token[42:] }},
	{"truncated-all", "good-tool", "an empty token", "malformed", func(m *maker) { m.token = "" }},
	{"truncated-version", "good-tool", "cut behind the version", "malformed", func(m *maker) { m.cut(1) }},
	{"truncated-kind", "good-tool", "cut behind the kind", "malformed", func(m *maker) { m.cut(2) }},
	{"truncated-fingerprint", "good-tool", "cut behind the fingerprint", "malformed", func(m *maker) { m.cut(10) }},
	{"truncated-header", "good-tool", "cut behind the header", "malformed", func(m *maker) { m.cut(14) }},
	{"truncated-salt", "good-tool", "cut behind the salt", "malformed", func(m *maker) { m.cut(34) }},
	{"truncated-nonce", "good-tool", "cut behind the nonce", "malformed", func(m *maker) { m.cut(46) }},
	{"truncated-minimum", "good-tool", "one byte shorter than the shortest token", "malformed", func(m *maker) { m.cut(61) }},
	{"truncated-ciphertext", "good-tool", "as short as a token can be", "forged", func(m *maker) { m.cut(62) }},
	{"truncated-tag", "good-tool", "without the tag", "forged", func(m *maker) { m.cut(-16) }},
	{"truncated-byte", "good-tool", "without the last byte", "forged", func(m *maker) { m.cut(-1) }},
	{"trailing-byte", "good-tool", "a zero byte behind the tag", "forged", func(m *maker) { m.setRaw(append(m.raw(), 0)) }},

	// Header.
	{"flip-version", "good-tool", "a flipped bit in the version", "unknown_version", func(m *maker) { m.flip(0, 1) }},
	{"version-2", "good-tool", "version 2", "unknown_version", func(m *maker) { m.flip(0, 3) }},
	{"flip-purpose", "good-tool", "a flipped bit in the purpose: a resource's", "wrong_purpose", func(m *maker) { m.flip(1, 2) }},
	{"purpose-other", "good-tool", "a tool's state presented for a prompt", "wrong_purpose", func(m *maker) { m.purpose = PurposePrompt }},
	{"purpose-session", "good-session", "a session id presented as a tool's state", "wrong_purpose", func(m *maker) { m.purpose = PurposeTool }},
	{"purpose-relabelled", "good-tool", "a tool's state relabelled as a resource's and presented as that", "forged", func(m *maker) {
		m.flip(1, 2)
		m.purpose = PurposeResource
	}},
	{"flip-mode", "good-tool", "a flipped bit in the mode: strict, which static keys do not accept", "unknown_mode", func(m *maker) { m.flip(1, 0x20) }},
	{"mode-0", "good-tool", "mode 0", "unknown_mode", func(m *maker) { m.flip(1, 0x10) }},
	{"mode-4", "good-tool", "mode 4", "unknown_mode", func(m *maker) { m.flip(1, 0x50) }},
	{"mode-static", "good-tool", "static mode, which derived keys do not accept", "unknown_mode", func(m *maker) {
		m.epochs(ModeDerived)
	}},
	{"mode-relabelled", "good-strict", "a strict token relabelled as a derived one of the current epoch", "forged", func(m *maker) {
		b := m.raw()
		h := parseHeader(b)
		h.Mode, h.EpochStart = ModeDerived, EpochMinute(at("12:00:00").Unix()/60)
		copy(b, h.append(nil))
		m.setRaw(b)
	}},
	{"flip-fingerprint", "good-tool", "a flipped bit in the fingerprint", "unknown_key", func(m *maker) { m.flip(2, 1) }},
	{"unknown-key", "good-tool", "sealed under a key that is not accepted", "unknown_key", func(m *maker) { m.keys = [][]byte{[]byte(otherKey)} }},
	{"fingerprint-relabelled", "good-accepted-key", "the fingerprint of another accepted key", "forged", func(m *maker) {
		k, err := NewStaticKeys([]byte(otherKey))
		require.NoError(m.t, err)
		b := m.raw()
		copy(b[2:], k.seal.Fingerprint[:])
		m.setRaw(b)
	}},
	{"flip-epoch-static", "good-tool", "a flipped bit in the epoch start of a mode without epochs", "epoch_off_grid", func(m *maker) { m.flip(13, 1) }},
	{"flip-epoch-derived", "good-derived", "a flipped bit in the epoch start", "epoch_off_grid", func(m *maker) { m.flip(13, 1) }},
	{"flip-epoch-strict", "good-strict", "a flipped bit in the epoch start of strict mode", "epoch_off_grid", func(m *maker) { m.flip(13, 1) }},
	{"epoch-off-grid", "good-derived", "authentic under an epoch that begins off the grid", "epoch_off_grid", func(m *maker) {
		k := m.keySet(m.t).(*gridKeys)
		k.epoch = EpochMinute(at("12:01:00").Unix() / 60)
		m.keyed = k
		m.seal()
	}},
	{"epoch-too-old", "good-epoch-oldest", "an epoch whose tokens have all expired", "epoch_too_old", func(m *maker) { m.now = at("12:26:00") }},
	{"epoch-ahead", "good-epoch-soonest", "an epoch that begins later than the skew allows", "epoch_ahead", func(m *maker) {
		m.claims.IssuedAt = at("12:14:00")
		m.now = at("12:15:00")
		m.seal()
		m.now = at("12:13:59")
	}},
	{"epoch-relabelled", "good-derived", "the epoch before, which is accepted", "forged", func(m *maker) {
		b := m.raw()
		h := parseHeader(b)
		h.EpochStart -= 15
		copy(b, h.append(nil))
		m.setRaw(b)
	}},

	// What is sealed.
	{"flip-salt", "good-tool", "a flipped bit in the salt", "forged", func(m *maker) { m.flip(14, 1) }},
	{"flip-nonce", "good-tool", "a flipped bit in the nonce", "forged", func(m *maker) { m.flip(34, 1) }},
	{"flip-ciphertext", "good-tool", "a flipped bit in the first byte of the ciphertext", "forged", func(m *maker) { m.flip(46, 1) }},
	{"flip-ciphertext-end", "good-tool", "a flipped bit in the last byte of the ciphertext", "forged", func(m *maker) { m.flip(-17, 1) }},
	{"flip-tag", "good-tool", "a flipped bit in the first byte of the tag", "forged", func(m *maker) { m.flip(-16, 1) }},
	{"flip-tag-end", "good-tool", "a flipped bit in the last byte of the tag", "forged", func(m *maker) { m.flip(-1, 0x80) }},

	// Authentic, but not readable.
	{"claims-empty", "good-tool", "authentic, without any claims", "claims", func(m *maker) {
		m.sealPlain(func([]byte) []byte { return nil })
	}},
	{"claims-short", "good-tool", "authentic, the fixed claims one byte short", "claims", func(m *maker) {
		m.sealPlain(func(b []byte) []byte { return b[:fixedClaims-1] })
	}},
	{"claims-no-method", "good-tool", "authentic, cut before the method's length", "claims", func(m *maker) {
		m.sealPlain(func(b []byte) []byte { return b[:fixedClaims] })
	}},
	{"claims-method-length", "good-tool", "authentic, the method longer than what is there", "claims", func(m *maker) {
		m.sealPlain(func(b []byte) []byte { return b[:fixedClaims+1+len(m.claims.Method)-1] })
	}},
	{"claims-no-target", "good-tool", "authentic, one byte of the target's length", "claims", func(m *maker) {
		m.sealPlain(func(b []byte) []byte { return b[:len(b)-len(m.claims.Target)-1] })
	}},
	{"claims-target-length", "good-tool", "authentic, the target longer than what is there", "claims", func(m *maker) {
		m.sealPlain(func(b []byte) []byte { return b[:len(b)-1] })
	}},
	{"claims-principal-flag", "good-tool", "authentic, neither with nor without principal", "claims", func(m *maker) {
		m.sealPlain(func(b []byte) []byte { b[32] = 2; return b })
	}},
	{"claims-principal-flag-zero", "good-anonymous", "authentic, neither with nor without principal, its digest zero", "claims", func(m *maker) {
		m.sealPlain(func(b []byte) []byte { b[32] = 2; return b })
	}},
	{"claims-principal-spurious", "good-tool", "authentic, without principal but with its digest", "claims", func(m *maker) {
		m.sealPlain(func(b []byte) []byte { b[32] = 0; return b })
	}},

	// Another request.
	{"audience", "good-tool", "another deployment", "audience", func(m *maker) { m.audience = "mcp.example.org" }},
	{"principal-subject", "good-tool", "another subject", "principal", func(m *maker) { m.principal[1] = "user-2" }},
	{"principal-issuer", "good-tool", "the same subject of another issuer", "principal", func(m *maker) { m.principal[0] = "https://other.example" }},
	{"principal-client", "good-tool", "the same subject through another client", "principal", func(m *maker) { m.principal[2] = "client-2" }},
	{"principal-absent", "good-tool", "sealed for a caller, presented by none", "principal_absent", func(m *maker) { m.principal = nil }},
	{"principal-gained", "good-anonymous", "sealed for no caller, presented by one", "principal_gained", func(m *maker) {
		m.principal = firstVector().principal
	}},
	{"method", "good-tool", "another method", "method", func(m *maker) { m.method = "prompts/get" }},
	{"target", "good-tool", "another tool", "target", func(m *maker) { m.target = "book_trip2" }},
	{"target-case", "good-tool", "the tool's name in capitals", "target", func(m *maker) { m.target = "BOOK_TRIP" }},
	{"arguments-integer", "good-tool", "an integer above 2^53 that differs by one", "arguments", func(m *maker) {
		m.arguments = `{"city":"Lyon","seats":9007199254740993}`
	}},
	{"arguments-absent", "good-tool", "no arguments", "arguments", func(m *maker) { m.arguments = "" }},
	{"revision-other", "good-tool", "a revision that is not accepted", "revision", func(m *maker) { m.revisions = []string{"4", "5"} }},
	{"revision-none", "good-tool", "a revision where none is accepted", "revision", func(m *maker) { m.revisions = nil }},
	{"revision-absent", "good-no-revision", "no revision where some are accepted", "revision", func(m *maker) { m.revisions = []string{"3"} }},

	// Time.
	{"issued-ahead", "good-tool", "issued a second later than the skew allows", "issued_ahead", func(m *maker) { m.now = at("11:58:59") }},
	{"round-expired", "good-tool", "the round's expiry itself", "round_expired", func(m *maker) { m.now = at("12:10:00") }},
	{"flow-expired", "good-tool", "the flow's deadline itself, the round not expired", "flow_expired", func(m *maker) {
		m.claims.RoundExpiry = at("13:10:00")
		m.seal()
		m.now = at("13:00:00")
	}},
}

// TestMakeVectors holds testdata against the recipes, and with -update writes
// the vectors that are missing.
func TestMakeVectors(t *testing.T) {
	made := map[string]bool{}
	for _, r := range recipes {
		require.False(t, made[r.name], "two recipes for %s", r.name)
		made[r.name] = true
		file := filepath.Join("testdata", r.name+".txt")
		_, err := os.Stat(file)
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
			continue
		}
		require.True(t, *update, "%s is missing: a frozen vector was deleted, or a new one is to be written with -update", file)
		v := firstVector()
		if r.from != "" {
			b, err := os.ReadFile(filepath.Join("testdata", r.from+".txt"))
			require.NoError(t, err)
			v, err = decodeVector(r.from, b)
			require.NoError(t, err)
		}
		v.comment, v.expect = r.comment, r.expect
		r.edit(&maker{vector: v, t: t})
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		require.NoError(t, err)
		_, err = f.Write(v.encode())
		require.NoError(t, errors.Join(err, f.Close()))
	}
	for _, v := range readVectors(t) {
		require.True(t, made[v.name], "no recipe for %s", v.name)
	}
}
