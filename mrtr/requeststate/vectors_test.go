package requeststate

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// vector is one file of testdata: what a server has and is asked, the token it
// is given, what must come of it, and for a good token what is in it.
type vector struct {
	name     string
	comment  string
	expect   string // "ok" or a Reason
	now      time.Time
	maxSize  int
	mode     Mode
	length   time.Duration // of an epoch; the static mode has none
	lifetime time.Duration
	keys     [][]byte // the first seals

	purpose   Purpose
	audience  string
	principal []string // issuer, subject, client; nil: none
	method    string
	target    string
	arguments string
	revisions []string

	token  string
	claims Claims
	body   []byte
}

func (v *vector) keySet(t testing.TB) Keys {
	if v.mode == ModeStatic {
		k, err := NewStaticKeys(v.keys[0], v.keys[1:]...)
		require.NoError(t, err)
		return k
	}
	return &gridKeys{mode: v.mode, now: v.now, length: v.length, lifetime: v.lifetime, keys: v.keys}
}

func (v *vector) binding(t testing.TB) Binding {
	args, err := ArgumentsDigest([]byte(v.arguments))
	require.NoError(t, err)
	b := Binding{
		Purpose: v.purpose, Audience: AudienceDigest(v.audience), Method: v.method,
		Target: v.target, Arguments: args, Revisions: v.revisions,
	}
	if v.principal != nil {
		p := PrincipalDigest(v.principal[0], v.principal[1], v.principal[2])
		b.Principal = &p
	}
	return b
}

func (v *vector) options() OpenOptions { return OpenOptions{Now: v.now, MaxSize: v.maxSize} }

const section = "\n---\n"

func (v *vector) encode() []byte {
	var b bytes.Buffer
	line := func(name, value string) { b.WriteString(strings.TrimSuffix(name+": "+value, " ") + "\n") }
	line("comment", v.comment)
	line("expect", v.expect)
	line("now", v.now.UTC().Format(time.RFC3339))
	if v.maxSize != 0 {
		line("max-size", strconv.Itoa(v.maxSize))
	}
	line("mode", v.mode.String())
	if v.mode != ModeStatic {
		line("epoch-length", v.length.String())
		line("lifetime", v.lifetime.String())
	}
	for _, k := range v.keys {
		line("key", hex.EncodeToString(k))
	}
	line("purpose", strconv.Itoa(int(v.purpose)))
	line("audience", v.audience)
	if v.principal != nil {
		line("principal", strings.Join(v.principal, " "))
	}
	line("method", v.method)
	line("target", v.target)
	if v.arguments != "" {
		line("arguments", v.arguments)
	}
	for _, r := range v.revisions {
		line("revision", r)
	}
	b.Truncate(b.Len() - 1)
	b.WriteString(section + v.token + section)
	if v.expect != "ok" {
		return b.Bytes()
	}
	c := v.claims
	line("audience", hex.EncodeToString(c.Audience[:]))
	if c.Principal != nil {
		line("principal", hex.EncodeToString(c.Principal[:]))
	}
	line("arguments", hex.EncodeToString(c.Arguments[:]))
	line("flow-id", hex.EncodeToString(c.FlowID[:]))
	line("flow-secret", hex.EncodeToString(c.FlowSecret[:]))
	line("round", strconv.Itoa(int(c.Round)))
	line("issued-at", c.IssuedAt.Format(time.RFC3339))
	line("round-expiry", c.RoundExpiry.Format(time.RFC3339))
	line("flow-deadline", c.FlowDeadline.Format(time.RFC3339))
	line("method", c.Method)
	line("revision", c.Revision)
	line("traceparent", c.Traceparent)
	line("target", c.Target)
	line("body", hex.EncodeToString(v.body))
	return b.Bytes()
}

// lines calls set for each "name: value" of a section.
func lines(s string, set func(name, value string) error) error {
	for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		name, value, ok := strings.Cut(l, ":")
		if !ok {
			return fmt.Errorf("no name in line %q", l)
		}
		if err := set(name, strings.TrimPrefix(value, " ")); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func decodeVector(name string, b []byte) (*vector, error) {
	parts := strings.Split(string(b), section)
	if len(parts) != 3 {
		return nil, fmt.Errorf("%d sections", len(parts))
	}
	v := &vector{name: name, token: parts[1]}
	err := lines(parts[0], func(name, value string) (err error) {
		switch name {
		case "comment":
			v.comment = value
		case "expect":
			v.expect = value
		case "now":
			v.now, err = time.Parse(time.RFC3339, value)
		case "max-size":
			v.maxSize, err = strconv.Atoi(value)
		case "mode":
			for _, m := range []Mode{ModeStatic, ModeDerived, ModeStrict} {
				if m.String() == value {
					v.mode = m
				}
			}
		case "epoch-length":
			v.length, err = time.ParseDuration(value)
		case "lifetime":
			v.lifetime, err = time.ParseDuration(value)
		case "key":
			var k []byte
			k, err = hex.DecodeString(value)
			v.keys = append(v.keys, k)
		case "purpose":
			var n uint64
			n, err = strconv.ParseUint(value, 10, 8)
			v.purpose = Purpose(n)
		case "audience":
			v.audience = value
		case "principal":
			if v.principal = strings.Split(value, " "); len(v.principal) != 3 {
				err = fmt.Errorf("%d parts", len(v.principal))
			}
		case "method":
			v.method = value
		case "target":
			v.target = value
		case "arguments":
			v.arguments = value
		case "revision":
			v.revisions = append(v.revisions, value)
		default:
			err = fmt.Errorf("unknown name")
		}
		return err
	})
	if err != nil || v.expect != "ok" {
		return v, err
	}
	c := &v.claims
	bin := func(dst []byte, value string) error {
		b, err := hex.DecodeString(value)
		if err == nil && copy(dst, b) != len(dst) {
			err = fmt.Errorf("%d bytes", len(b))
		}
		return err
	}
	return v, lines(parts[2], func(name, value string) (err error) {
		switch name {
		case "audience":
			err = bin(c.Audience[:], value)
		case "principal":
			c.Principal = new(Digest)
			err = bin(c.Principal[:], value)
		case "arguments":
			err = bin(c.Arguments[:], value)
		case "flow-id":
			err = bin(c.FlowID[:], value)
		case "flow-secret":
			err = bin(c.FlowSecret[:], value)
		case "round":
			var n uint64
			n, err = strconv.ParseUint(value, 10, 16)
			c.Round = uint16(n)
		case "issued-at":
			c.IssuedAt, err = time.Parse(time.RFC3339, value)
		case "round-expiry":
			c.RoundExpiry, err = time.Parse(time.RFC3339, value)
		case "flow-deadline":
			c.FlowDeadline, err = time.Parse(time.RFC3339, value)
		case "method":
			c.Method = value
		case "revision":
			c.Revision = value
		case "traceparent":
			c.Traceparent = value
		case "target":
			c.Target = value
		case "body":
			v.body, err = hex.DecodeString(value)
		default:
			err = fmt.Errorf("unknown name")
		}
		return err
	})
}

// readVectors returns every vector of testdata. It fails where there are few.
func readVectors(t testing.TB) []*vector {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 35)
	var vs []*vector
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		v, err := decodeVector(strings.TrimSuffix(filepath.Base(file), ".txt"), b)
		require.NoError(t, err, file)
		require.Equal(t, string(b), string(v.encode()), "%s is not as encode writes it", file)
		vs = append(vs, v)
	}
	return vs
}

// countingKeys count how often a secret to open with was asked for.
type countingKeys struct {
	Keys
	opens int
}

func (k *countingKeys) OpenSecret(ctx context.Context, h Header, s Salt) (*Secret, error) {
	k.opens++
	return k.Keys.OpenSecret(ctx, h, s)
}

func TestVectors(t *testing.T) {
	seen := map[string]int{}
	for _, v := range readVectors(t) {
		seen[v.expect]++
		t.Run(v.name, func(t *testing.T) {
			t.Run("Open", func(t *testing.T) { v.testOpen(t) })
			t.Run("ParseHeader", func(t *testing.T) { v.testParseHeader(t) })
			if v.expect == "ok" {
				t.Run("Seal", func(t *testing.T) { v.testSeal(t) })
			}
		})
	}
	for _, r := range allReasons {
		require.Positive(t, seen[string(r)], "no vector is refused as %s", r)
	}
	require.Len(t, seen, len(allReasons)+1, "a vector expects what is no reason")
}

var allReasons = []Reason{
	ReasonTooLong, ReasonMalformed, ReasonVersion, ReasonPurpose, ReasonMode, ReasonKey,
	ReasonEpochGrid, ReasonEpochOld, ReasonEpochAhead, ReasonForged, ReasonClaims,
	ReasonAudience, ReasonPrincipal, ReasonNoPrincipal, ReasonSomePrincipal, ReasonMethod,
	ReasonTarget, ReasonArguments, ReasonRevision, ReasonIssuedAhead, ReasonFlowExpired,
	ReasonRoundExpired,
}

func (v *vector) testOpen(t *testing.T) {
	keys := &countingKeys{Keys: v.keySet(t)}
	c, body, err := Open(t.Context(), keys, v.token, v.binding(t), v.options())
	if v.expect == "ok" {
		require.NoError(t, err)
		require.Equal(t, v.claims, c)
		require.Equal(t, v.body, body)
		return
	}
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	require.ErrorIs(t, err, ErrRefused)
	require.NotErrorIs(t, err, ErrUnavailable)
	require.Equal(t, v.expect, string(refused.Reason))
	require.Equal(t, "requeststate: token refused: "+v.expect, err.Error())
	require.Zero(t, c)
	require.Nil(t, body)
	switch refused.Reason {
	case ReasonTooLong, ReasonMalformed, ReasonVersion, ReasonPurpose:
		require.Zero(t, keys.opens, "keys were asked before %s was seen", v.expect)
	}
}

func (v *vector) testParseHeader(t *testing.T) {
	h, size, err := ParseHeader(v.token)
	switch Reason(v.expect) {
	case ReasonMalformed, ReasonVersion:
		var refused *RefusedError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, v.expect, string(refused.Reason))
		require.Zero(t, h)
		require.Zero(t, size)
		return
	}
	require.NoError(t, err)
	raw, err := encoding.DecodeString(v.token)
	require.NoError(t, err)
	require.Equal(t, len(raw), size)
	require.Equal(t, raw[:headerSize], h.append(nil))
	if v.expect == "ok" {
		require.Equal(t, v.mode, h.Mode)
		require.Equal(t, v.purpose, h.Purpose)
	}
}

func (v *vector) testSeal(t *testing.T) {
	keys := v.keySet(t)
	token, err := Seal(t.Context(), keys, v.purpose, v.claims, v.body, v.maxSize)
	require.NoError(t, err)
	require.Len(t, token, len(v.token))
	require.NotEqual(t, v.token, token)
	c, body, err := Open(t.Context(), keys, token, v.binding(t), v.options())
	require.NoError(t, err)
	require.Equal(t, v.claims, c)
	require.Equal(t, v.body, body)
}
