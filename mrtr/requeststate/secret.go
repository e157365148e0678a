package requeststate

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
)

// MinSecretSize is the least number of bytes of entropy a secret may have.
const MinSecretSize = 32

// Secret is the input of a token's key derivation. It keeps only the extracted
// pseudorandom key, never the bytes it was made from. It is immutable and safe
// for concurrent use. The zero value is no secret.
type Secret struct {
	// Two pointers deep: in an unexported field, where package fmt cannot call
	// Format, it follows one under a verb that does not fit, but never two.
	prk **[sha256.Size]byte
}

var _ fmt.Formatter = Secret{}

// NewSecret makes a Secret of at least MinSecretSize bytes. The caller may
// clear b afterwards.
func NewSecret(b []byte) (*Secret, error) {
	if len(b) < MinSecretSize {
		return nil, fmt.Errorf("requeststate: a secret needs %d bytes or more, got %d", MinSecretSize, len(b))
	}
	prk, err := hkdf.Extract(sha256.New, b, nil)
	if err != nil {
		return nil, fmt.Errorf("requeststate: extracting a secret: %w", err)
	}
	p := (*[sha256.Size]byte)(prk)
	return &Secret{prk: &p}, nil
}

// String tells nothing of the secret.
func (s Secret) String() string { return "requeststate.Secret(hidden)" }

// Format hides the secret from every formatting verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// expand returns n bytes for one use, which info names.
func (s *Secret) expand(info string, n int) ([]byte, error) {
	return hkdf.Expand(sha256.New, (*s.prk)[:], info, n)
}
