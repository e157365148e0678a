package requeststate

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// SaltSize is the number of random bytes that make every token's key its own.
const SaltSize = 20

// Salt is a token's salt.
type Salt [SaltSize]byte

// Fingerprint names a root key without telling anything of it.
type Fingerprint [8]byte

// Purpose keeps kinds of tokens apart. It is readable in the token's header and
// authenticated with it.
type Purpose uint8

// The purposes. Zero is not one.
const (
	PurposeTool     Purpose = 1 // state of a tools/call
	PurposePrompt   Purpose = 2 // state of a prompts/get
	PurposeResource Purpose = 3 // state of a resources/read
	PurposeSession  Purpose = 4 // an Mcp-Session-Id of a handshake client
)

// String returns the purpose's name as logs show it.
func (p Purpose) String() string {
	switch p {
	case PurposeTool:
		return "tool"
	case PurposePrompt:
		return "prompt"
	case PurposeResource:
		return "resource"
	case PurposeSession:
		return "session"
	}
	return fmt.Sprintf("purpose(%d)", uint8(p))
}

// Mode says how a token's secret is made. It is readable in the header.
type Mode uint8

// The modes. Zero is not one.
const (
	ModeStatic  Mode = 1 // a secret the server was given
	ModeDerived Mode = 2 // one secret an epoch, derived by a key service
	ModeStrict  Mode = 3 // one secret a token, derived by a key service
)

// String returns the mode's name as logs and settings show it.
func (m Mode) String() string {
	switch m {
	case ModeStatic:
		return "static"
	case ModeDerived:
		return "derived"
	case ModeStrict:
		return "strict"
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// Keys is the seam to whatever holds the root keys. Implementations are safe
// for concurrent use.
type Keys interface {
	// SealKey returns what a new token with this purpose and salt is sealed
	// under. An error that wraps ErrUnavailable says that the key service could
	// not be asked.
	SealKey(ctx context.Context, purpose Purpose, salt Salt) (SealKey, error)

	// OpenSecret returns the secret that a token with this header and salt was
	// sealed under. A *RefusedError says that no such token is accepted (mode,
	// fingerprint or epoch); an error that wraps ErrUnavailable says that the
	// key service could not be asked, which says nothing about the token and
	// counts where an error wraps both.
	OpenSecret(ctx context.Context, header Header, salt Salt) (*Secret, error)
}

// SealKey is a secret together with what a header says of it.
type SealKey struct {
	Mode        Mode
	Fingerprint Fingerprint
	EpochStart  EpochMinute
	Secret      *Secret
}

// EpochMinute is the start of a key epoch in whole minutes since the Unix
// epoch. Modes without epochs use zero.
type EpochMinute uint32

// Time returns the instant that m names.
func (m EpochMinute) Time() time.Time { return time.Unix(int64(m)*60, 0).UTC() }

// ErrUnavailable is wrapped by errors that mean: the key service could not be
// asked. It never stands for a bad token.
var ErrUnavailable = errors.New("requeststate: key service unavailable")
