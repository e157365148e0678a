package requeststate

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"time"
)

// gridKeys derive secrets as a key service would: one an epoch in ModeDerived,
// one a token in ModeStrict. They seal in one mode and accept both.
type gridKeys struct {
	mode     Mode
	now      time.Time
	length   time.Duration // of an epoch
	lifetime time.Duration // of a token
	keys     [][]byte      // the first seals
	epoch    EpochMinute   // seals under this epoch instead of the current one
}

func (g *gridKeys) fingerprint(key []byte) Fingerprint {
	sum := sha256.Sum256(key)
	return Fingerprint(sum[:])
}

func (g *gridKeys) secret(key []byte, h Header, salt Salt) (*Secret, error) {
	m := hmac.New(sha256.New, key)
	m.Write([]byte{byte(h.Mode)})
	if h.Mode == ModeStrict {
		m.Write([]byte{byte(h.Purpose)})
		m.Write(salt[:])
	} else {
		binary.Write(m, binary.BigEndian, uint32(h.EpochStart))
	}
	return NewSecret(m.Sum(nil))
}

func (g *gridKeys) SealKey(_ context.Context, p Purpose, salt Salt) (SealKey, error) {
	h := Header{Mode: g.mode, Purpose: p, Fingerprint: g.fingerprint(g.keys[0])}
	if g.mode == ModeDerived {
		h.EpochStart = EpochMinute(g.now.Truncate(g.length).Unix() / 60)
		if g.epoch != 0 {
			h.EpochStart = g.epoch
		}
	}
	s, err := g.secret(g.keys[0], h, salt)
	return SealKey{Mode: h.Mode, Fingerprint: h.Fingerprint, EpochStart: h.EpochStart, Secret: s}, err
}

func (g *gridKeys) OpenSecret(_ context.Context, h Header, salt Salt) (*Secret, error) {
	if h.Mode != ModeDerived && h.Mode != ModeStrict {
		return nil, refuse(ReasonMode)
	}
	for _, key := range g.keys {
		if g.fingerprint(key) != h.Fingerprint {
			continue
		}
		start, end := h.EpochStart.Time(), h.EpochStart.Time().Add(g.length)
		switch {
		case h.Mode == ModeStrict && h.EpochStart != 0:
			return nil, refuse(ReasonEpochGrid)
		case h.Mode == ModeStrict:
		case start.Unix()%int64(g.length/time.Second) != 0:
			return nil, refuse(ReasonEpochGrid)
		case !end.After(g.now.Add(-g.lifetime - DefaultSkew)):
			return nil, refuse(ReasonEpochOld)
		case start.After(g.now.Add(DefaultSkew)):
			return nil, refuse(ReasonEpochAhead)
		}
		return g.secret(key, h, salt)
	}
	return nil, refuse(ReasonKey)
}
