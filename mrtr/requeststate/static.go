package requeststate

import (
	"context"
	"errors"
)

// StaticKeys are keys whose secrets the server was given: for tests and local
// runs. The first secret seals, all are accepted. The zero value holds none and
// returns errors. StaticKeys are safe for concurrent use.
type StaticKeys struct {
	seal   SealKey
	accept map[Fingerprint]*Secret
}

var _ Keys = (*StaticKeys)(nil)

var errNoStaticKeys = errors.New("requeststate: StaticKeys made without NewStaticKeys")

// NewStaticKeys makes keys of secrets of at least MinSecretSize bytes each.
func NewStaticKeys(seal []byte, accept ...[]byte) (*StaticKeys, error) {
	k := &StaticKeys{accept: make(map[Fingerprint]*Secret, 1+len(accept))}
	for i, b := range append([][]byte{seal}, accept...) {
		s, err := NewSecret(b)
		if err != nil {
			return nil, err
		}
		f, err := s.expand("mrtr static fingerprint v1", len(Fingerprint{}))
		if err != nil {
			return nil, err
		}
		if i == 0 {
			k.seal = SealKey{Mode: ModeStatic, Fingerprint: Fingerprint(f), Secret: s}
		}
		k.accept[Fingerprint(f)] = s
	}
	return k, nil
}

// SealKey returns the first secret.
func (k *StaticKeys) SealKey(context.Context, Purpose, Salt) (SealKey, error) {
	if k.seal.Secret == nil {
		return SealKey{}, errNoStaticKeys
	}
	return k.seal, nil
}

// OpenSecret returns the secret that the header's fingerprint names.
func (k *StaticKeys) OpenSecret(_ context.Context, h Header, _ Salt) (*Secret, error) {
	if k.seal.Secret == nil {
		return nil, errNoStaticKeys
	}
	if h.Mode != ModeStatic {
		return nil, refuse(ReasonMode)
	}
	s, ok := k.accept[h.Fingerprint]
	if !ok {
		return nil, refuse(ReasonKey)
	}
	if h.EpochStart != 0 {
		return nil, refuse(ReasonEpochGrid)
	}
	return s, nil
}
