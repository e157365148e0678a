package kmskeys

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// resolvePause is how long the outcome of asking KMS about an unknown
// fingerprint holds for all unknown ones. A failure holds for callPause.
const resolvePause = time.Minute

// OpenSecret returns the secret that a token was sealed under. Whatever can be
// told without KMS is told without KMS: mode, fingerprint and epoch, in this
// order.
func (k *Keys) OpenSecret(ctx context.Context, h requeststate.Header, salt requeststate.Salt) (*requeststate.Secret, error) {
	// 1. The mode.
	if !slices.Contains(k.modes, h.Mode) {
		return nil, refuse(requeststate.ReasonMode)
	}
	c, ok := classOf(h.Purpose)
	if !ok {
		return nil, refuse(requeststate.ReasonPurpose)
	}
	// 2. The fingerprint, as far as it is known, and the epoch.
	now := k.now()
	reason := k.judgeHeader(h, c, now)
	k.mu.Lock()
	k.tidyLocked(now)
	_, known := k.refLocked(h.Fingerprint)
	resolved := k.resolved
	if known && reason == "" && h.Mode == requeststate.ModeDerived {
		if secret := k.secrets[cached{h.Fingerprint, c, h.EpochStart}]; secret != nil {
			k.prefetchLocked(ctx, c, now)
			k.mu.Unlock()
			return secret, nil
		}
	}
	k.mu.Unlock()
	switch {
	case !known && resolved && (reason != "" || !k.key.alias):
		return nil, refuse(requeststate.ReasonKey)
	case reason != "":
		return nil, refuse(reason)
	}
	// 3. KMS.
	return k.askFor(ctx, h, c, salt, now)
}

// askFor gets the secret of a token that nothing but KMS can tell more of.
func (k *Keys) askFor(ctx context.Context, h requeststate.Header, c class, salt requeststate.Salt, now time.Time) (*requeststate.Secret, error) {
	// 1. The alias was never resolved. In derived mode it takes the call that
	// sealing takes, too; in strict mode the token's own.
	k.mu.Lock()
	if !k.resolved && h.Mode == requeststate.ModeDerived {
		f := k.fetchLocked(ctx, k.key, classFlow, classFlow.epochAt(now))
		k.mu.Unlock()
		a, err := f.wait(ctx)
		if _, listed := k.accepted[h.Fingerprint]; err != nil && !listed {
			return nil, err
		} else if err == nil && a.key != h.Fingerprint && !listed {
			return nil, refuse(requeststate.ReasonKey)
		}
		k.mu.Lock()
	}
	ref, known := k.refLocked(h.Fingerprint)
	if !known && !k.resolved {
		ref, known = k.key, true
	}
	k.mu.Unlock()

	// 2. A key that this instance does not know: perhaps the alias moved.
	if !known {
		return k.askAlias(ctx, h, c, salt, now)
	}

	// 3. The key that the fingerprint names.
	a, err := k.secretUnder(ctx, ref, h, c, salt)
	if err != nil {
		return nil, err
	}
	if a.key == h.Fingerprint {
		return a.secret, nil
	}

	// 4. The alias names another key by now: only a listed one is accepted.
	listed, ok := k.accepted[h.Fingerprint]
	if !ok {
		return nil, refuse(requeststate.ReasonKey)
	}
	a, err = k.secretUnder(ctx, listed, h, c, salt)
	return a.secret, err
}

// askAlias asks which key the alias names now, with the message of the token at
// hand, so that the call also gives its secret. It does so once in resolvePause,
// or in callPause after a failure: until then the outcome is everyone's.
func (k *Keys) askAlias(ctx context.Context, h requeststate.Header, c class, salt requeststate.Salt, now time.Time) (*requeststate.Secret, error) {
	k.mu.Lock()
	f, own := k.asked, false
	var secret *requeststate.Secret
	if f.landed() && f.err != nil {
		k.askAgain = f.started.Add(callPause)
	}
	if f == nil || !now.Before(k.askAgain) {
		own = true
		if h.Mode == requeststate.ModeStrict {
			// The others need to know the key alone. The secret stays with this
			// caller, and is not in memory for as long as the flight is.
			f = k.launch(ctx, k.key, strictMessage(k.audience, h.Purpose, salt), func(f *flight) {
				secret, f.answer.secret = f.answer.secret, nil
			})
		} else {
			f = k.fetchLocked(ctx, k.key, c, h.EpochStart)
		}
		// A failure of a moment ago was no question of whether the alias moved.
		if f != k.failed[k.key.name] {
			k.asked, k.askAgain = f, now.Add(resolvePause)
		}
	}
	k.mu.Unlock()
	a, err := f.wait(ctx)
	switch {
	case err != nil:
		return nil, err
	case a.key != h.Fingerprint:
		return nil, refuse(requeststate.ReasonKey)
	case own && h.Mode == requeststate.ModeStrict:
		return secret, nil
	case own:
		return a.secret, nil
	}
	// Another token's call found out: this one's secret takes its own.
	a, err = k.secretUnder(ctx, k.key, h, c, salt)
	if err == nil && a.key != h.Fingerprint {
		return nil, refuse(requeststate.ReasonKey)
	}
	return a.secret, err
}

// secretUnder gets a token's secret from one key: from memory or a shared call
// in derived mode, by a call of its own in strict mode.
func (k *Keys) secretUnder(ctx context.Context, ref keyRef, h requeststate.Header, c class, salt requeststate.Salt) (answer, error) {
	if h.Mode == requeststate.ModeStrict {
		return k.strictSecret(ctx, ref, strictMessage(k.audience, h.Purpose, salt))
	}
	k.mu.Lock()
	if secret := k.secrets[cached{h.Fingerprint, c, h.EpochStart}]; secret != nil {
		k.mu.Unlock()
		return answer{h.Fingerprint, secret}, nil
	}
	f := k.fetchLocked(ctx, ref, c, h.EpochStart)
	k.mu.Unlock()
	return f.wait(ctx)
}

// strictSecret makes one token's call. A listed key that failed a moment ago is
// not asked: its failure is the answer. What a caller that leaves is told is no
// failure of the key's.
func (k *Keys) strictSecret(ctx context.Context, ref keyRef, message []byte) (answer, error) {
	if ref.name == k.key.name {
		return k.ask(ctx, ref, message)
	}
	f := &flight{done: make(chan struct{}), started: k.now()}
	k.mu.Lock()
	if failure := k.failureLocked(ref.name, f.started); failure != nil {
		k.mu.Unlock()
		return answer{}, failure.err
	}
	k.mu.Unlock()
	a, err := k.ask(ctx, ref, message)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err == nil {
		delete(k.failed, ref.name)
	} else if _, ok := errors.AsType[*Error](err); ok {
		f.err = err
		close(f.done)
		k.failed[ref.name] = f
	}
	return a, err
}

// refLocked returns what KMS is asked for when a token names this key.
func (k *Keys) refLocked(f requeststate.Fingerprint) (keyRef, bool) {
	if k.resolved && f == k.current {
		return k.key, true
	}
	ref, ok := k.accepted[f]
	return ref, ok
}

// judgeHeader returns why a header's epoch is not accepted, or "".
func (k *Keys) judgeHeader(h requeststate.Header, c class, now time.Time) requeststate.Reason {
	if h.Mode == requeststate.ModeStrict {
		if h.EpochStart != 0 {
			return requeststate.ReasonEpochGrid
		}
		return ""
	}
	return k.judge(c, h.EpochStart, now)
}

// judge returns why an epoch is not accepted, or "": it starts on the grid, and
// a token sealed in it can be alive, whichever way the clocks differ.
func (k *Keys) judge(c class, start requeststate.EpochMinute, now time.Time) requeststate.Reason {
	length := c.epochLength()
	switch from := start.Time(); {
	case int64(start)%int64(length/time.Minute) != 0:
		return requeststate.ReasonEpochGrid
	case from.After(now.Add(k.skew)):
		return requeststate.ReasonEpochAhead
	case !from.Add(length).After(now.Add(-k.ttl[c] - k.skew)):
		return requeststate.ReasonEpochOld
	}
	return ""
}

func refuse(r requeststate.Reason) error { return &requeststate.RefusedError{Reason: r} }
