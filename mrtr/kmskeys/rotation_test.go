package kmskeys

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

func bothModes(t *testing.T, run func(t *testing.T, m []requeststate.Mode)) {
	for _, m := range []requeststate.Mode{derived, strict} {
		t.Run(m.String(), func(t *testing.T) { run(t, []requeststate.Mode{m}) })
	}
}

func TestRotatedBetweenRounds(t *testing.T) {
	bothModes(t, func(t *testing.T, m []requeststate.Mode) {
		w := newWorld(t)
		next := w.CreateKey(kmstest.KeyOptions{})
		token := w.seal(t, w.instance(t, Options{KeyID: w.key.ID, Modes: m}), tool)
		w.Reset()

		for _, old := range []string{w.key.ID, w.key.ARN} {
			k := w.instance(t, Options{KeyID: next.ID, AcceptKeyIDs: []string{old}, Modes: m})
			require.NoError(t, w.open(k, token, tool))
			require.Equal(t, 1, w.took())
			h, _, err := requeststate.ParseHeader(w.seal(t, k, tool))
			require.NoError(t, err)
			require.Equal(t, fingerprintOf(next.ID), h.Fingerprint)
			w.Reset()
		}
		k := w.instance(t, Options{KeyID: next.ID, Modes: m})
		requireReason(t, requeststate.ReasonKey, w.open(k, token, tool))
		require.Zero(t, w.Count())
	})
}

func TestAliasMovedBetweenRounds(t *testing.T) {
	bothModes(t, func(t *testing.T, m []requeststate.Mode) {
		w := newWorld(t)
		old, next := w.key, w.CreateKey(kmstest.KeyOptions{})
		opts := Options{Modes: m, AcceptKeyIDs: []string{old.ID, next.ID}}
		before, alone := w.instance(t, opts), w.instance(t, Options{Modes: m})
		oldToken := w.seal(t, before, tool)
		w.seal(t, alone, tool)
		w.SetAlias(alias, next)
		after := w.instance(t, opts)
		newToken := w.seal(t, after, tool)

		// Both instances that list both keys open both tokens; so does a cold one.
		for _, k := range []*Keys{before, after, w.instance(t, opts)} {
			require.NoError(t, w.open(k, newToken, tool))
			require.NoError(t, w.open(k, oldToken, tool))
		}
		// One that lists nothing learns of the new key from the token, and from
		// then on knows the old one no more.
		w.Reset()
		require.NoError(t, w.open(alone, newToken, tool))
		require.Equal(t, 1, w.took())
		requireReason(t, requeststate.ReasonKey, w.open(alone, oldToken, tool))
		require.Zero(t, w.took(), "it asked a moment ago")
		h, _, err := requeststate.ParseHeader(w.seal(t, alone, tool))
		require.NoError(t, err)
		require.Equal(t, fingerprintOf(next.ID), h.Fingerprint)

		cold := w.instance(t, Options{Modes: m})
		requireReason(t, requeststate.ReasonKey, w.open(cold, oldToken, tool))
	})
}

// An instance whose alias moved without its knowing asks under the alias, hears
// from another key, and goes by what is listed.
func TestAliasMovedUnnoticed(t *testing.T) {
	bothModes(t, func(t *testing.T, m []requeststate.Mode) {
		w := newWorld(t)
		w.add(13 * time.Minute)
		old, next := w.key, w.CreateKey(kmstest.KeyOptions{})
		listed, alone := w.instance(t, Options{Modes: m, AcceptKeyIDs: []string{old.ARN}}), w.instance(t, Options{Modes: m})
		w.seal(t, listed, tool)
		w.seal(t, alone, tool)
		w.add(2 * time.Minute)
		token := w.seal(t, w.instance(t, Options{Modes: m}), tool) // under an epoch that neither has
		w.SetAlias(alias, next)
		require.NoError(t, w.open(listed, token, tool))
		requireReason(t, requeststate.ReasonKey, w.open(alone, token, tool))
	})
}

func TestSealingFollowsTheAlias(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t)
	next := w.CreateKey(kmstest.KeyOptions{})
	k := w.instance(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	fingerprint := func() requeststate.Fingerprint {
		h, _, err := requeststate.ParseHeader(w.seal(t, k, tool))
		require.NoError(t, err)
		return h.Fingerprint
	}
	require.Equal(t, fingerprintOf(w.key.ID), fingerprint())
	w.SetAlias(alias, next)
	require.Equal(t, fingerprintOf(w.key.ID), fingerprint(), "until the epoch ends")
	require.Empty(t, log.String())
	w.add(15 * time.Minute)
	require.Equal(t, fingerprintOf(next.ID), fingerprint())
	require.Contains(t, log.String(), hexOf(fingerprintOf(next.ID)))
	require.NotContains(t, log.String(), next.ID)
}

func TestUnknownFingerprintAsksOnceAMinute(t *testing.T) {
	bothModes(t, func(t *testing.T, m []requeststate.Mode) {
		w := newWorld(t)
		k := w.instance(t, Options{Modes: m})
		w.seal(t, k, tool)
		w.Reset()
		unknown := func(n byte) error {
			h := requeststate.Header{Mode: m[0], Purpose: tool, Fingerprint: requeststate.Fingerprint{n}}
			if m[0] == derived {
				h.EpochStart = classFlow.epochAt(w.now())
			}
			_, err := k.OpenSecret(context.Background(), h, requeststate.Salt{})
			return err
		}
		for n := range byte(50) {
			requireReason(t, requeststate.ReasonKey, unknown(n))
		}
		require.Equal(t, 1, w.took())
		w.add(59 * time.Second)
		requireReason(t, requeststate.ReasonKey, unknown(0))
		require.Zero(t, w.took())
		w.add(time.Second)
		requireReason(t, requeststate.ReasonKey, unknown(0))
		requireReason(t, requeststate.ReasonKey, unknown(1))
		require.Equal(t, 1, w.took())

		// A failure is no answer about a token, nor about the alias: it holds for
		// a second.
		w.add(time.Minute)
		w.key.SetState(kmstest.Disabled)
		requireKind(t, KindDisabled, unknown(0))
		requireKind(t, KindDisabled, unknown(1))
		require.Equal(t, 1, w.took())
		w.add(callPause - time.Millisecond)
		requireKind(t, KindDisabled, unknown(2))
		require.Zero(t, w.took())
		w.key.SetState(kmstest.Enabled)
		w.add(time.Millisecond)
		requireReason(t, requeststate.ReasonKey, unknown(0))
		require.Equal(t, 1, w.took())

		// The call's outcome holds a secret, which goes like all others.
		require.NotNil(t, k.asked)
		w.add(15 * time.Minute)
		k.mu.Lock()
		k.sweepLocked(w.now())
		k.mu.Unlock()
		require.Nil(t, k.asked)
	})
}

// The call for a made-up fingerprint fails, and the alias has moved: states under
// the new key are refused service for a second, not a minute.
func TestFailureHidesAMoveForASecond(t *testing.T) {
	bothModes(t, func(t *testing.T, m []requeststate.Mode) {
		w := newWorld(t)
		k := w.instance(t, Options{Modes: m})
		w.seal(t, k, tool)
		w.SetAlias(alias, w.CreateKey(kmstest.KeyOptions{}))
		token := w.seal(t, w.instance(t, Options{Modes: m}), tool)
		h := requeststate.Header{Mode: m[0], Purpose: tool, Fingerprint: requeststate.Fingerprint{9}}
		if m[0] == derived {
			h.EpochStart = classFlow.epochAt(w.now())
		}
		w.SetOutage(true)
		_, err := k.OpenSecret(context.Background(), h, requeststate.Salt{})
		requireKind(t, KindUnreachable, err)
		w.SetOutage(false)
		requireKind(t, KindUnreachable, w.open(k, token, tool))
		w.add(callPause)
		require.NoError(t, w.open(k, token, tool))
	})
}

func TestUnknownFingerprintOnAColdInstance(t *testing.T) {
	w := newWorld(t)
	g := newGate(w.client())
	k := w.over(t, g, Options{})
	k.Start(context.Background())
	_, err := k.OpenSecret(context.Background(), requeststate.Header{Mode: derived, Purpose: tool,
		EpochStart: classFlow.epochAt(w.now()) - 30}, requeststate.Salt{})
	requireReason(t, requeststate.ReasonEpochOld, err)
	close(g.open)
	_, err = k.OpenSecret(context.Background(), requeststate.Header{Mode: derived, Purpose: tool,
		EpochStart: classFlow.epochAt(w.now())}, requeststate.Salt{})
	requireReason(t, requeststate.ReasonKey, err)
	require.Equal(t, 1, w.took(), "Start's own")
}

// Many requests with tokens under a key that nobody told this instance of: one
// call finds out, and in derived mode serves them all.
func TestManyLearnOfAMoveAtOnce(t *testing.T) {
	bothModes(t, func(t *testing.T, m []requeststate.Mode) {
		w := newWorld(t)
		k := w.instance(t, Options{Modes: m})
		w.seal(t, k, tool)
		w.SetAlias(alias, w.CreateKey(kmstest.KeyOptions{}))
		token := w.seal(t, w.instance(t, Options{Modes: m}), tool)
		w.Reset()
		g := newGate(k.api)
		k.api = g
		var wg sync.WaitGroup
		errs := make(chan error, 100)
		for range 100 {
			wg.Go(func() { errs <- w.open(k, token, tool) })
		}
		<-g.entered
		close(g.open)
		wg.Wait()
		for range 100 {
			require.NoError(t, <-errs)
		}
		want := map[requeststate.Mode]int{derived: 1, strict: 100}[m[0]]
		require.Equal(t, want, w.took())
	})
}

// The alias's key fails, and the token's is another that is listed.
func TestListedKeyDoesNotNeedTheAlias(t *testing.T) {
	w := newWorld(t)
	token := w.seal(t, w.instance(t, Options{}), tool)
	next := w.CreateKey(kmstest.KeyOptions{})
	next.SetState(kmstest.PendingDeletion)
	w.SetAlias(alias, next)
	require.NoError(t, w.open(w.instance(t, Options{AcceptKeyIDs: []string{w.key.ID}}), token, tool))
	requireKind(t, KindInvalidState, w.open(w.instance(t, Options{}), token, tool))
}

// What an alias names is what the call that began last says, not the one that
// ended last.
func TestSlowAnswerDoesNotUndoAMove(t *testing.T) {
	w := newWorld(t)
	k := w.instance(t, Options{})
	early, late := k.seq.Add(1), k.seq.Add(1)
	k.noteCurrent(requeststate.Fingerprint{2}, late)
	k.noteCurrent(requeststate.Fingerprint{1}, early)
	require.Equal(t, requeststate.Fingerprint{2}, k.current)
}
