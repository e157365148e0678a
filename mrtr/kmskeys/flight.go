package kmskeys

import (
	"context"
	"errors"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// flight is one call to KMS that any number of callers wait for. It has its
// own deadline and outlives the caller that started it.
type flight struct {
	done    chan struct{}
	started time.Time // by Keys.now

	// Set before done is closed.
	answer answer
	err    error
}

// slot names an epoch's secret by the key that is asked for it.
type slot struct {
	ref   string
	class class
	start requeststate.EpochMinute
}

// cached names an epoch's secret by the key that gave it.
type cached struct {
	key   requeststate.Fingerprint
	class class
	start requeststate.EpochMinute
}

// wait returns the flight's outcome, or leaves when ctx ends.
func (f *flight) wait(ctx context.Context) (answer, error) {
	select {
	case <-f.done:
		return f.answer, f.err
	default:
	}
	select {
	case <-f.done:
		return f.answer, f.err
	case <-ctx.Done():
		return answer{}, leaving(ctx)
	}
}

// landed reports whether there is a flight and it is over.
func (f *flight) landed() bool {
	if f == nil {
		return false
	}
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// launch starts a flight. finish, where there is one, runs before anyone who
// waits is told.
func (k *Keys) launch(ctx context.Context, ref keyRef, message []byte, finish func(*flight)) *flight {
	f := &flight{done: make(chan struct{}), started: k.now()}
	go func() {
		defer close(f.done)
		f.answer, f.err = k.ask(context.WithoutCancel(ctx), ref, message)
		if finish != nil {
			finish(f)
		}
	}()
	return f
}

// How long a failure to get a secret from a key is the answer for all that ask
// the same key. Without it, whoever writes the fingerprint of a key that fails in
// front of random bytes would have KMS called once a request. The key that seals
// is asked again after callPause whatever the failure was and for whichever epoch:
// until it answers nothing is served, and a header that anybody can write may have
// been what met the failure. So is every key while it is not known which one seals.
const (
	keyPause  = time.Minute // after a lasting failure
	callPause = time.Second // after any other one
)

// failureLocked returns the flight whose failure is the key's answer, nil where
// KMS may be asked. Flights that began long ago, in a process that was frozen
// since then, answer for nothing.
func (k *Keys) failureLocked(ref string, now time.Time) *flight {
	f := k.failed[ref]
	if f == nil {
		return nil
	}
	pause := callPause
	if e, ok := errors.AsType[*Error](f.err); ok && e.lasting() && ref != k.key.name && k.resolved {
		pause = keyPause
	}
	if now.Sub(f.started) >= pause {
		return nil
	}
	return f
}

// fetchLocked returns the flight that fetches an epoch's secret, and starts it
// unless it is under way, or the key failed a moment ago: then it is that one.
func (k *Keys) fetchLocked(ctx context.Context, ref keyRef, c class, start requeststate.EpochMinute) *flight {
	s := slot{ref.name, c, start}
	// A process can be frozen in the middle of a flight. Whoever comes after
	// does not wait for that one.
	now := k.now()
	if f := k.flights[s]; f != nil && now.Sub(f.started) <= k.callLimit {
		return f
	}
	if f := k.failureLocked(ref.name, now); f != nil {
		return f
	}
	f := k.launch(ctx, ref, derivedMessage(k.audience, c, start), func(f *flight) {
		if f.err != nil && k.now().Before(start.Time()) {
			k.log.Warn("fetching the next epoch's key failed", "error", f.err)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		left := k.flights[s] != f // for another one
		if !left {
			delete(k.flights, s)
		}
		switch {
		case f.err == nil:
			delete(k.failed, ref.name)
			k.keepLocked(cached{f.answer.key, c, start}, f.answer.secret, ref.name == k.key.name)
		case !left && f != k.first: // the first request makes Start's failure good
			k.failed[ref.name] = f
		}
	})
	k.flights[s] = f
	return f
}

// keepLocked stores an epoch's secret. When it is one to seal under, it sets
// the time from which the next epoch's is fetched: within the first half of the
// epoch's last fifth, later on some instances than on others. An instance that
// met the epoch only then waits for the next one instead.
func (k *Keys) keepLocked(id cached, secret *requeststate.Secret, seals bool) {
	now := k.now()
	k.sweepLocked(now)
	k.secrets[id] = secret
	p := &k.prefetch[id.class]
	if !seals || id.start < p.start {
		return
	}
	length := id.class.epochLength()
	lastFifth := id.start.Time().Add(length / 5 * 4)
	if now.Before(lastFifth) {
		*p = prefetch{start: id.start, due: lastFifth.Add(time.Duration(k.jitter * float64(length/10)))}
	} else if id.start > p.start {
		*p = prefetch{start: id.start}
	}
}

// tidyLocked sweeps once an epoch. Every request does it, in whichever mode, or
// an instance that sees one mode alone would keep the other's secrets.
func (k *Keys) tidyLocked(now time.Time) {
	if k.swept != classFlow.epochAt(now) {
		k.sweepLocked(now)
	}
}

// sweepLocked drops the secrets that no token can need any more, and the
// flights that still hold one.
func (k *Keys) sweepLocked(now time.Time) {
	k.swept = classFlow.epochAt(now)
	if k.first.landed() {
		k.first = nil
	}
	if !now.Before(k.askAgain) && k.asked.landed() {
		k.asked = nil
	}
	for id := range k.secrets {
		if k.judge(id.class, id.start, now) == requeststate.ReasonEpochOld {
			delete(k.secrets, id)
		}
	}
}

// prefetch says when the next epoch of a class is fetched.
type prefetch struct {
	start requeststate.EpochMinute // the epoch it was set in
	due   time.Time                // zero: never
}

// prefetchPause is how long nobody tries again after an early fetch began.
const prefetchPause = time.Minute

// prefetchLocked starts fetching the next epoch's secret when it is time, for a
// request that has made no call and that will wait for it before it replies.
func (k *Keys) prefetchLocked(ctx context.Context, c class, now time.Time) {
	p := &k.prefetch[c]
	if p.due.IsZero() || now.Before(p.due) {
		return
	}
	next := c.next(p.start)
	if !now.Before(next.Time()) {
		p.due = time.Time{}
		return
	}
	calls := requeststate.CallsFrom(ctx)
	if calls == nil || calls.Count() > 0 {
		return
	}
	p.due = now.Add(prefetchPause)
	calls.Owe(k.fetchLocked(ctx, k.key, c, next).done)
}
