package kmskeys

import (
	"context"
	"fmt"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// SealKey returns the secret of the current epoch, or of the one token in
// strict mode.
func (k *Keys) SealKey(ctx context.Context, purpose requeststate.Purpose, salt requeststate.Salt) (requeststate.SealKey, error) {
	c, ok := classOf(purpose)
	if !ok {
		return requeststate.SealKey{}, fmt.Errorf("kmskeys: sealing for %v", purpose)
	}
	mode := k.modes[0]
	now := k.now()
	if mode == requeststate.ModeStrict {
		k.mu.Lock()
		k.tidyLocked(now)
		k.mu.Unlock()
		a, err := k.ask(ctx, k.key, strictMessage(k.audience, purpose, salt))
		if err != nil {
			return requeststate.SealKey{}, err
		}
		return requeststate.SealKey{Mode: mode, Fingerprint: a.key, Secret: a.secret}, nil
	}
	start := c.epochAt(now)

	k.mu.Lock()
	k.tidyLocked(now)
	if secret := k.secrets[cached{k.current, c, start}]; secret != nil {
		sealKey := requeststate.SealKey{Mode: mode, Fingerprint: k.current, EpochStart: start, Secret: secret}
		k.prefetchLocked(ctx, c, now)
		k.mu.Unlock()
		return sealKey, nil
	}
	f := k.fetchLocked(ctx, k.key, c, start)
	k.mu.Unlock()

	// An alias may have moved: what is sealed says the key that answered.
	a, err := f.wait(ctx)
	if err != nil {
		return requeststate.SealKey{}, err
	}
	return requeststate.SealKey{Mode: mode, Fingerprint: a.key, EpochStart: start, Secret: a.secret}, nil
}
