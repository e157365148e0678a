package requeststate

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"time"
)

const (
	// Version is the first byte of every token.
	Version = 0x01

	// DefaultMaxSize is the length in bytes beyond which a token is neither
	// made nor read, where nothing else is said.
	DefaultMaxSize = 128 << 10

	// DefaultSkew is how far two servers' clocks may lie apart.
	DefaultSkew = 60 * time.Second

	headerSize  = 1 + 1 + 8 + 4
	frontSize   = headerSize + SaltSize
	gcmOverhead = 12 + 16 // nonce, tag
	minRawSize  = frontSize + gcmOverhead
	info        = "mrtr requestState v1\x00"
)

// SizeError is returned by Seal when a token would exceed the limit.
type SizeError struct {
	Size, Max int // bytes of the encoded token
}

// Error returns both sizes.
func (e *SizeError) Error() string {
	return fmt.Sprintf("requeststate: a token of %d bytes exceeds the limit of %d", e.Size, e.Max)
}

// Seal returns a token with these claims and this body. maxSize limits the
// token's length in bytes; zero means DefaultMaxSize. Errors are a *SizeError,
// a claim that cannot be represented, or what keys returned.
func Seal(ctx context.Context, keys Keys, purpose Purpose, c Claims, body []byte, maxSize int) (string, error) {
	token, err := AppendSeal(ctx, nil, keys, purpose, c, body, maxSize)
	return string(token), err
}

// AppendSeal is Seal that appends the token to dst. With an error it returns
// nil.
func AppendSeal(ctx context.Context, dst []byte, keys Keys, purpose Purpose, c Claims, body []byte, maxSize int) ([]byte, error) {
	if maxSize <= 0 {
		maxSize = DefaultMaxSize
	}
	if purpose < PurposeTool || purpose > PurposeSession {
		return nil, fmt.Errorf("requeststate: sealing for %v", purpose)
	}
	// 1. The size is known before any key is asked for.
	rawSize := minRawSize + c.size() + len(body)
	if n := encoding.EncodedLen(rawSize); n > maxSize {
		return nil, &SizeError{Size: n, Max: maxSize}
	}
	// 2. Claims and body, behind room for header and salt.
	raw, err := c.append(make([]byte, frontSize, rawSize))
	if err != nil {
		return nil, err
	}
	raw = append(raw, body...)
	front, plaintext := raw[:frontSize], raw[frontSize:]
	// 3. A salt, and the secret for it.
	rand.Read(front[headerSize:])
	k, err := keys.SealKey(ctx, purpose, Salt(front[headerSize:]))
	if err != nil {
		return nil, fmt.Errorf("requeststate: sealing: %w", err)
	}
	if k.Mode < ModeStatic || k.Mode > ModeStrict {
		return nil, fmt.Errorf("requeststate: sealing in %v", k.Mode)
	}
	// 4. The header, which the key and the tag both cover.
	h := Header{Mode: k.Mode, Purpose: purpose, Fingerprint: k.Fingerprint, EpochStart: k.EpochStart}
	h.append(front[:0])
	// 5. A key for this token alone.
	aead, err := tokenAEAD(k.Secret, front)
	if err != nil {
		return nil, fmt.Errorf("requeststate: sealing: %w", err)
	}
	// 6. Nonce, ciphertext and tag in the place of the plaintext.
	raw = aead.Seal(front, nil, plaintext, front[:headerSize])
	return encoding.AppendEncode(dst, raw), nil
}

// OpenOptions say how Open judges time and size. The zero value has defaults.
type OpenOptions struct {
	Now     time.Time     // zero: time.Now
	Skew    time.Duration // zero: DefaultSkew; negative: none
	MaxSize int           // bytes of the token; zero: DefaultMaxSize
}

// Open returns the claims and body of a token that Seal made under the same
// keys, for the same request, and that has not expired. Otherwise it returns
// neither: a *RefusedError where that is known of the token; an error that wraps
// ErrUnavailable where the key service could not be asked; what else keys
// returned.
func Open(ctx context.Context, keys Keys, token string, want Binding, opts OpenOptions) (Claims, []byte, error) {
	if opts.Now.IsZero() {
		opts.Now = time.Now()
	}
	// 1. Size, spelling, header: no key is asked for yet.
	raw, err := decode(token, opts.MaxSize)
	if err != nil {
		return Claims{}, nil, err
	}
	h := parseHeader(raw)
	if h.Purpose != want.Purpose {
		return Claims{}, nil, refuse(ReasonPurpose)
	}
	if h.Mode < ModeStatic || h.Mode > ModeStrict {
		return Claims{}, nil, refuse(ReasonMode)
	}
	// 2. The secret and the tag.
	plaintext, err := decrypt(ctx, keys, h, raw)
	if err != nil {
		return Claims{}, nil, err
	}
	// 3. The claims, against the request and the clock.
	var c Claims
	body, ok := c.parse(plaintext)
	if !ok {
		return Claims{}, nil, refuse(ReasonClaims)
	}
	if reason := c.check(want, opts); reason != "" {
		return Claims{}, nil, refuse(reason)
	}
	return c, body, nil
}

// decrypt returns the plaintext of a token that these keys sealed. It takes the
// ciphertext's place in raw.
func decrypt(ctx context.Context, keys Keys, h Header, raw []byte) ([]byte, error) {
	// 1. The secret. The driver judges mode, fingerprint and epoch before it
	// asks anybody.
	secret, err := keys.OpenSecret(ctx, h, Salt(raw[headerSize:]))
	if err != nil {
		refused, ok := errors.AsType[*RefusedError](err)
		switch {
		case !ok:
			return nil, fmt.Errorf("requeststate: opening: %w", err)
		case errors.Is(err, ErrUnavailable): // then nothing is known of the token
			return nil, fmt.Errorf("requeststate: opening: %w: %v", ErrUnavailable, err)
		}
		return nil, refused
	}
	// 2. The tag.
	aead, err := tokenAEAD(secret, raw[:frontSize])
	if err != nil {
		return nil, fmt.Errorf("requeststate: opening: %w", err)
	}
	sealed := raw[frontSize:]
	plaintext, err := aead.Open(sealed[:0], nil, sealed, raw[:headerSize])
	if err != nil {
		return nil, refuse(ReasonForged)
	}
	return plaintext, nil
}

// tokenAEAD makes the AEAD of the one token that begins with front: its header
// and salt.
func tokenAEAD(s *Secret, front []byte) (cipher.AEAD, error) {
	if s == nil || s.prk == nil {
		return nil, errors.New("keys returned no secret")
	}
	key, err := s.expand(info+string(front), 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
