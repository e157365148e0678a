package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// ErrUnavailable is returned where an issuer's keys are needed and cannot be
// had.
var ErrUnavailable = errors.New("auth: the issuer's keys cannot be fetched")

const (
	// keysAge is how long keys are used before they are fetched again.
	keysAge = time.Hour
	// refreshAfter is how long after one fetch the next may be, where there are
	// keys; retryAfter where there are none.
	refreshAfter = 30 * time.Second
	retryAfter   = time.Second
	// minRSABits is the least size of an RSA key (RFC 7518, section 3.3).
	minRSABits = 2048
)

// keySet holds an issuer's keys. It is safe for concurrent use.
type keySet struct {
	issuer  string
	keysURL string // empty: found through metadata
	fetcher *fetcher
	now     func() time.Time

	mu      sync.Mutex
	keys    []jose.JSONWebKey // nil until they have been fetched once
	fetched time.Time         // when they were
	tried   time.Time         // when the last fetch, good or bad, was over
	failed  error             // what the last fetch came to
	flight  chan struct{}     // closed when the fetch under way is over; nil: none is
}

// find returns the keys that may have made a signature of that key id and
// algorithm, at least one. It fetches them where it must and may, in one flight
// for all who wait.
func (s *keySet) find(ctx context.Context, id, algorithm string) ([]jose.JSONWebKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.match(id, algorithm)
	if len(found) > 0 && !s.due(s.fetched, keysAge) {
		return found, nil
	}
	interval := refreshAfter
	if s.keys == nil {
		interval = retryAfter
	}
	switch {
	case s.flight != nil:
		if err := s.join(ctx); err != nil {
			return nil, err
		}
	case s.due(s.tried, interval):
		s.fetch(ctx)
	}
	if found = s.match(id, algorithm); len(found) > 0 {
		return found, nil
	}
	if s.failed != nil {
		return nil, fmt.Errorf("%w: issuer %q: %w", ErrUnavailable, s.issuer, s.failed)
	}
	return nil, &RefusedError{ReasonKey}
}

// due reports whether d has passed since t. It goes by the wall clock, since a
// frozen process has no other; a clock that was set back makes everything due.
func (s *keySet) due(t time.Time, d time.Duration) bool {
	passed := s.now().Round(0).Sub(t)
	return t.IsZero() || passed < 0 || passed >= d
}

// join waits for the fetch under way. The lock is open meanwhile.
func (s *keySet) join(ctx context.Context) error {
	flight := s.flight
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-flight:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: waiting: %w", ErrUnavailable, ctx.Err())
	}
}

// fetch fetches the keys. The lock is open meanwhile. Since others wait for it,
// it does not end with ctx.
func (s *keySet) fetch(ctx context.Context) {
	flight := make(chan struct{})
	s.flight = flight
	s.mu.Unlock()
	keys, err := []jose.JSONWebKey(nil), errBroken
	defer func() {
		s.mu.Lock()
		s.flight, s.failed, s.tried = nil, err, s.now().Round(0)
		if err == nil {
			s.keys, s.fetched = keys, s.tried
		}
		close(flight)
	}()
	keys, err = s.fetcher.keys(context.WithoutCancel(ctx), s.issuer, s.keysURL)
}

// errBroken is what a fetch comes to that panicked.
var errBroken = errors.New("the fetch broke off")

// match returns the keys with that id, all where id is empty, that are meant
// for signatures of the algorithm.
func (s *keySet) match(id, algorithm string) []jose.JSONWebKey {
	var out []jose.JSONWebKey
	for _, k := range s.keys {
		if (id == "" || k.KeyID == id) && (k.Algorithm == "" || k.Algorithm == algorithm) {
			out = append(out, k)
		}
	}
	return out
}

// usable reports whether a key can check signatures: a public key, of a kind
// and size that is safe, and not meant for encryption.
func usable(k *jose.JSONWebKey) bool {
	if k.Use != "" && k.Use != "sig" {
		return false
	}
	switch key := k.Key.(type) {
	case *rsa.PublicKey:
		return key.N.BitLen() >= minRSABits
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}
