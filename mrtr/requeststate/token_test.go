package requeststate

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// keysFunc are keys of two functions; a nil one fails the test that calls it.
type keysFunc struct {
	seal func(Purpose, Salt) (SealKey, error)
	open func(Header, Salt) (*Secret, error)
}

func (k keysFunc) SealKey(_ context.Context, p Purpose, s Salt) (SealKey, error) { return k.seal(p, s) }
func (k keysFunc) OpenSecret(_ context.Context, h Header, s Salt) (*Secret, error) {
	return k.open(h, s)
}

// good returns a vector by its name.
func good(t testing.TB, name string) *vector {
	for _, v := range readVectors(t) {
		if v.name == name {
			return v
		}
	}
	require.Fail(t, "no such vector", name)
	return nil
}

// TestBytes opens a frozen token by SPEC.md alone, with none of the package's
// code but the vector's reader.
func TestBytes(t *testing.T) {
	v := good(t, "good-tool")
	raw, err := base64.RawURLEncoding.DecodeString(v.token)
	require.NoError(t, err)
	mac := func(key []byte, parts ...string) []byte {
		m := hmac.New(sha256.New, key)
		for _, p := range parts {
			m.Write([]byte(p))
		}
		return m.Sum(nil)
	}
	digest := func(parts ...string) []byte {
		s := parts[0] + "\x00"
		for _, p := range parts[1:] {
			s += string(binary.BigEndian.AppendUint64(nil, uint64(len(p)))) + p
		}
		sum := sha256.Sum256([]byte(s))
		return sum[:]
	}
	prk := mac(make([]byte, 32), string(v.keys[0]))

	require.Equal(t, byte(1), raw[0])
	require.Equal(t, byte(0x11), raw[1])
	require.Equal(t, mac(prk, "mrtr static fingerprint v1", "\x01")[:8], raw[2:10])
	require.Equal(t, make([]byte, 4), raw[10:14])

	key := mac(prk, "mrtr requestState v1\x00", string(raw[:34]), "\x01")
	block, err := aes.NewCipher(key)
	require.NoError(t, err)
	gcm, err := cipher.NewGCM(block)
	require.NoError(t, err)
	p, err := gcm.Open(nil, raw[34:46], raw[46:], raw[:14])
	require.NoError(t, err)

	require.Equal(t, digest("mrtr audience v1", v.audience), p[:32])
	require.Equal(t, byte(1), p[32])
	require.Equal(t, digest(append([]string{"mrtr principal v1"}, v.principal...)...), p[33:65])
	args := sha256.Sum256([]byte("mrtr arguments v1\x00" + v.arguments))
	require.Equal(t, args[:], p[65:97])
	require.Equal(t, v.claims.FlowID[:], p[97:113])
	require.Equal(t, v.claims.FlowSecret[:], p[113:129])
	require.Equal(t, uint16(1), binary.BigEndian.Uint16(p[129:]))
	require.Equal(t, v.claims.IssuedAt.Unix(), int64(binary.BigEndian.Uint32(p[131:])))
	require.Equal(t, v.claims.RoundExpiry.Unix(), int64(binary.BigEndian.Uint32(p[135:])))
	require.Equal(t, v.claims.FlowDeadline.Unix(), int64(binary.BigEndian.Uint32(p[139:])))
	require.Equal(t, "\x0atools/call\x013\x37"+v.claims.Traceparent+"\x00\x09book_trip"+string(v.body), string(p[143:]))
}

func TestSealSize(t *testing.T) {
	v := good(t, "good-tool")
	n := len(v.token)
	_, err := Seal(t.Context(), v.keySet(t), v.purpose, v.claims, v.body, n)
	require.NoError(t, err)

	// Without functions: a key that is asked for would panic.
	token, err := Seal(t.Context(), keysFunc{}, v.purpose, v.claims, v.body, n-1)
	require.Empty(t, token)
	var size *SizeError
	require.ErrorAs(t, err, &size)
	require.Equal(t, SizeError{Size: n, Max: n - 1}, *size)
	require.EqualError(t, err, fmt.Sprintf("requeststate: a token of %d bytes exceeds the limit of %d", n, n-1))

	for _, maxSize := range []int{0, -1} {
		_, err = Seal(t.Context(), keysFunc{}, v.purpose, v.claims, make([]byte, DefaultMaxSize), maxSize)
		require.ErrorAs(t, err, &size)
		require.Equal(t, DefaultMaxSize, size.Max)
	}
}

func TestDefaultMaxSize(t *testing.T) {
	v := good(t, "good-tool")
	body := make([]byte, DefaultMaxSize/4*3-minRawSize-v.claims.size())
	token, err := Seal(t.Context(), v.keySet(t), v.purpose, v.claims, body, 0)
	require.NoError(t, err)
	require.Len(t, token, DefaultMaxSize)
	_, got, err := Open(t.Context(), v.keySet(t), token, v.binding(t), v.options())
	require.NoError(t, err)
	require.Equal(t, body, got)

	for _, long := range []string{token + "A", strings.Repeat("!", 5<<20)} {
		_, _, err = Open(t.Context(), keysFunc{}, long, v.binding(t), v.options())
		require.Equal(t, refuse(ReasonTooLong), err)
		_, _, err = ParseHeader(long)
		require.Equal(t, refuse(ReasonTooLong), err)
	}
}

func TestSealRefusesWhatNobodyCouldOpen(t *testing.T) {
	v := good(t, "good-tool")
	for _, p := range []Purpose{0, 5, 16, 17, 255} {
		_, err := Seal(t.Context(), keysFunc{}, p, v.claims, v.body, 0)
		require.EqualError(t, err, fmt.Sprintf("requeststate: sealing for purpose(%d)", p))
	}
	secret, err := NewSecret(v.keys[0])
	require.NoError(t, err)
	for _, m := range []Mode{0, 4, 16, 17, 255} {
		keys := keysFunc{seal: func(Purpose, Salt) (SealKey, error) { return SealKey{Mode: m, Secret: secret}, nil }}
		_, err := Seal(t.Context(), keys, v.purpose, v.claims, v.body, 0)
		require.EqualError(t, err, fmt.Sprintf("requeststate: sealing in mode(%d)", m))
	}
}

func TestKeysErrors(t *testing.T) {
	v := good(t, "good-tool")
	unavailable := fmt.Errorf("asking the key service: %w", ErrUnavailable)
	for _, tt := range []struct {
		name        string
		secret      *Secret
		err         error
		unavailable bool
		refused     bool
	}{
		{"unavailable", nil, unavailable, true, false},
		{"unavailable, and a refusal with it", nil, errors.Join(refuse(ReasonKey), unavailable), true, false},
		{"refused, wrapped", nil, fmt.Errorf("looking up a key: %w", refuse(ReasonKey)), false, true},
		{"cancelled", nil, context.Canceled, false, false},
		{"no secret, no error", nil, nil, false, false},
		{"zero secret", &Secret{}, nil, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			keys := keysFunc{
				seal: func(Purpose, Salt) (SealKey, error) { return SealKey{Mode: ModeStatic, Secret: tt.secret}, tt.err },
				open: func(Header, Salt) (*Secret, error) { return tt.secret, tt.err },
			}
			c, body, err := Open(t.Context(), keys, v.token, v.binding(t), v.options())
			require.Error(t, err)
			require.Zero(t, c)
			require.Nil(t, body)
			require.Equal(t, tt.unavailable, errors.Is(err, ErrUnavailable))
			require.Equal(t, tt.refused, errors.Is(err, ErrRefused))
			if tt.refused {
				require.Equal(t, refuse(ReasonKey), err)
			}
			token, err := Seal(t.Context(), keys, v.purpose, v.claims, v.body, 0)
			require.Error(t, err)
			require.Empty(t, token)
			require.Equal(t, tt.unavailable, errors.Is(err, ErrUnavailable))
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
			}
		})
	}
}

// TestUnknownModes checks that keys are not asked about a mode that is none.
func TestUnknownModes(t *testing.T) {
	v := good(t, "good-tool")
	for _, m := range []Mode{0, 4, 15} {
		raw, err := encoding.DecodeString(v.token)
		require.NoError(t, err)
		raw[1] = byte(m)<<4 | byte(v.purpose)
		_, _, err = Open(t.Context(), keysFunc{}, encoding.EncodeToString(raw), v.binding(t), v.options())
		require.Equal(t, refuse(ReasonMode), err)
	}
}

// TestEveryTokenHasItsOwnKey checks that keys see the salt that is in the token,
// and that no two tokens share one.
func TestEveryTokenHasItsOwnKey(t *testing.T) {
	v := good(t, "good-tool")
	secret, err := NewSecret(v.keys[0])
	require.NoError(t, err)
	seen := map[Salt]bool{}
	for range 100 {
		var sealed Salt
		keys := keysFunc{
			seal: func(p Purpose, s Salt) (SealKey, error) {
				require.Equal(t, PurposeTool, p)
				sealed = s
				return SealKey{Mode: ModeDerived, Fingerprint: Fingerprint{1, 2}, EpochStart: 77, Secret: secret}, nil
			},
			open: func(h Header, s Salt) (*Secret, error) {
				require.Equal(t, Header{ModeDerived, PurposeTool, Fingerprint{1, 2}, 77}, h)
				require.Equal(t, sealed, s)
				return secret, nil
			},
		}
		token, err := Seal(t.Context(), keys, v.purpose, v.claims, v.body, 0)
		require.NoError(t, err)
		_, _, err = Open(t.Context(), keys, token, v.binding(t), v.options())
		require.NoError(t, err)
		require.False(t, seen[sealed])
		seen[sealed] = true
	}
}

func TestOpenClock(t *testing.T) {
	v := good(t, "good-tool")
	v.claims.IssuedAt = time.Now().Truncate(time.Second)
	v.claims.RoundExpiry = v.claims.IssuedAt.Add(time.Hour)
	v.claims.FlowDeadline = v.claims.RoundExpiry
	token, err := Seal(t.Context(), v.keySet(t), v.purpose, v.claims, v.body, 0)
	require.NoError(t, err)
	_, _, err = Open(t.Context(), v.keySet(t), token, v.binding(t), OpenOptions{})
	require.NoError(t, err, "without options the clock is the real one")

	for _, tt := range []struct {
		skew  time.Duration
		ahead time.Duration
		want  error
	}{
		{0, 60 * time.Second, nil},
		{0, 61 * time.Second, refuse(ReasonIssuedAhead)},
		{5 * time.Second, 5 * time.Second, nil},
		{5 * time.Second, 6 * time.Second, refuse(ReasonIssuedAhead)},
		{-1, 0, nil},
		{-1, time.Second, refuse(ReasonIssuedAhead)},
	} {
		opts := OpenOptions{Now: v.claims.IssuedAt.Add(-tt.ahead), Skew: tt.skew}
		_, _, err := Open(t.Context(), v.keySet(t), token, v.binding(t), opts)
		require.Equal(t, tt.want, err, "%v ahead with a skew of %v", tt.ahead, tt.skew)
	}
}

// TestOpenKeepsNothing checks that what Open returns is the caller's own.
func TestOpenKeepsNothing(t *testing.T) {
	v := good(t, "good-tool")
	for range 2 {
		c, body, err := Open(t.Context(), v.keySet(t), v.token, v.binding(t), v.options())
		require.NoError(t, err)
		require.Equal(t, v.claims, c)
		require.Equal(t, v.body, body)
		require.Len(t, append(body, "more"...), len(v.body)+4)
		clear(body)
		clear(c.Principal[:])
	}
}
