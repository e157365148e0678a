package kmskeys

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

const (
	// DefaultRoundTTL is how long a flow's state lives where nothing is said.
	DefaultRoundTTL = 10 * time.Minute

	// MaxRoundTTL is the longest that a flow's state may live.
	MaxRoundTTL = time.Hour

	// DefaultSessionTTL is how long a session id lives where nothing is said.
	DefaultSessionTTL = 24 * time.Hour

	// MaxSessionTTL is the longest that a session id may live.
	MaxSessionTTL = 30 * 24 * time.Hour
)

// API is the part of the AWS SDK's KMS client that Keys uses.
type API interface {
	GenerateMac(context.Context, *kms.GenerateMacInput, ...func(*kms.Options)) (*kms.GenerateMacOutput, error)
}

var _ API = (*kms.Client)(nil)

// Options say which KMS keys are used, and for how long tokens live.
type Options struct {
	// KeyID is the key that seals: a key id, key ARN, alias (alias/NAME) or
	// alias ARN of an HMAC_256 key. Required. Behind an alias the key may
	// change: an instance learns of it with the next epoch, or from a token
	// under a key that it does not know, for which it asks at most once a
	// minute, or once a second while KMS gives no answer.
	KeyID string

	// AcceptKeyIDs are further keys whose tokens are opened: previous and next
	// ones, as key ids or key ARNs. A key that is neither listed nor named by
	// KeyID now is not accepted, even if KeyID's alias named it a moment ago.
	AcceptKeyIDs []string

	// Modes are the accepted ones, ModeDerived and ModeStrict; the first seals.
	// Nil means derived alone.
	Modes []requeststate.Mode

	// Audience names the deployment. Required: another audience has other
	// secrets, even under the same key.
	Audience string

	// RoundTTL is the longest that a flow's state lives, at least what the
	// server seals with. Zero means DefaultRoundTTL.
	RoundTTL time.Duration

	// SessionTTL is the longest that a session id lives. Zero means
	// DefaultSessionTTL.
	SessionTTL time.Duration

	// Skew is how far two servers' clocks may lie apart. Zero means
	// requeststate.DefaultSkew, negative none.
	Skew time.Duration

	// Now is the clock. Nil means time.Now.
	Now func() time.Time

	// Logger is told when an alias moved or an early fetch failed. Nil means
	// nobody is.
	Logger *slog.Logger
}

// Keys are secrets that AWS KMS derives. They are safe for concurrent use.
// Errors are an *Error where KMS gave no secret, an error that wraps the
// context's where that ended first (both wrap requeststate.ErrUnavailable), or
// a *requeststate.RefusedError.
type Keys struct {
	api      API
	key      keyRef
	accepted map[requeststate.Fingerprint]keyRef
	modes    []requeststate.Mode
	audience [sha256.Size]byte
	ttl      [classToken]time.Duration // by class
	skew     time.Duration
	now      func() time.Time
	log      *slog.Logger
	jitter   float64 // of this instance, in [0, 1)
	seq      atomic.Uint64

	attemptLimit time.Duration
	callLimit    time.Duration

	mu         sync.Mutex
	resolved   bool                     // current is known: always, unless key is an alias
	current    requeststate.Fingerprint // of the key that seals
	currentSeq uint64                   // the call that said so
	secrets    map[cached]*requeststate.Secret
	flights    map[slot]*flight
	failed     map[string]*flight   // by the key's name: the last one, if it failed
	prefetch   [classToken]prefetch // by class
	swept      requeststate.EpochMinute
	first      *flight   // Start's
	asked      *flight   // the last one for an unknown fingerprint
	askAgain   time.Time // when there may be another
}

var _ requeststate.Keys = (*Keys)(nil)

// New makes keys. It does not call KMS.
func New(api API, opts Options) (*Keys, error) {
	k := &Keys{
		api:      api,
		accepted: make(map[requeststate.Fingerprint]keyRef, len(opts.AcceptKeyIDs)),
		modes:    slices.Clone(opts.Modes),
		audience: sha256.Sum256([]byte(opts.Audience)),
		skew:     opts.Skew,
		now:      opts.Now,
		log:      opts.Logger,
		jitter:   rand.Float64(),
		secrets:  make(map[cached]*requeststate.Secret),
		flights:  make(map[slot]*flight),
		failed:   make(map[string]*flight),

		attemptLimit: attemptLimit,
		callLimit:    callLimit,
	}
	if api == nil {
		return nil, errors.New("kmskeys: no KMS client")
	}
	if opts.Audience == "" {
		return nil, errors.New("kmskeys: no audience")
	}
	var err error
	if k.key, err = parseKeyRef(opts.KeyID); err != nil {
		return nil, fmt.Errorf("kmskeys: key %q: %w", opts.KeyID, err)
	}
	if !k.key.alias {
		k.current, k.resolved = fingerprintOf(k.key.id), true
	}
	for _, name := range opts.AcceptKeyIDs {
		ref, err := parseKeyRef(name)
		if err != nil {
			return nil, fmt.Errorf("kmskeys: accepted key %q: %w", name, err)
		}
		if ref.alias {
			return nil, fmt.Errorf("kmskeys: accepted key %q: an alias names no certain key: want a key id or key ARN", name)
		}
		k.accepted[fingerprintOf(ref.id)] = ref
	}
	if len(k.modes) == 0 {
		k.modes = []requeststate.Mode{requeststate.ModeDerived}
	}
	for i, m := range k.modes {
		if m != requeststate.ModeDerived && m != requeststate.ModeStrict || slices.Contains(k.modes[:i], m) {
			return nil, fmt.Errorf("kmskeys: mode %v: want derived and strict, each at most once", m)
		}
	}
	if k.ttl[classFlow], err = ttl("round", opts.RoundTTL, DefaultRoundTTL, MaxRoundTTL); err != nil {
		return nil, err
	}
	if k.ttl[classSession], err = ttl("session", opts.SessionTTL, DefaultSessionTTL, MaxSessionTTL); err != nil {
		return nil, err
	}
	if k.skew == 0 {
		k.skew = requeststate.DefaultSkew
	}
	k.skew = max(k.skew, 0)
	if k.now == nil {
		k.now = time.Now
	}
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	return k, nil
}

func ttl(what string, d, byDefault, limit time.Duration) (time.Duration, error) {
	if d == 0 {
		d = byDefault
	}
	if d < 0 || d > limit {
		return 0, fmt.Errorf("kmskeys: %s TTL %v: want more than 0 and at most %v", what, d, limit)
	}
	return d, nil
}

// Start begins fetching the secret that flows are sealed under now, and returns
// at once, so that the rest of a process's start goes on beside the call. In
// strict mode there is nothing to fetch early.
func (k *Keys) Start(ctx context.Context) {
	if k.modes[0] != requeststate.ModeDerived {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.first = k.fetchLocked(ctx, k.key, classFlow, classFlow.epochAt(k.now()))
}

// Wait waits for what Start began, until ctx ends and at most that long. An
// error is worth a log line and no more: the first request that needs the
// secret asks again, or joins the call that is still under way.
func (k *Keys) Wait(ctx context.Context, atMost time.Duration) error {
	k.mu.Lock()
	f := k.first
	k.mu.Unlock()
	if f == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	_, err := f.wait(ctx)
	return err
}
