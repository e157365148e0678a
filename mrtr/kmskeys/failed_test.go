package kmskeys

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// claim presents what anybody can write: a header that names a key and an epoch,
// and a salt.
func claim(k *Keys, f requeststate.Fingerprint, p requeststate.Purpose, start requeststate.EpochMinute) error {
	_, err := k.OpenSecret(context.Background(), requeststate.Header{Mode: derived, Purpose: p, Fingerprint: f, EpochStart: start}, requeststate.Salt{1})
	return err
}

// claimAll does so for every epoch that is open, and returns the errors.
func (w *world) claimAll(k *Keys, f requeststate.Fingerprint) (errs []error) {
	flows, sessions := classFlow.epochAt(w.now()), classSession.epochAt(w.now())
	return append(errs,
		claim(k, f, tool, flows), claim(k, f, requeststate.PurposePrompt, flows), claim(k, f, tool, flows-15),
		claim(k, f, session, sessions), claim(k, f, session, sessions-24*60))
}

// A key that was rotated out and disabled stays accepted. States that name it
// are anybody's to write, and must not have KMS called once each.
func TestAcceptedKeyThatFailsIsAskedOnceAMinute(t *testing.T) {
	tests := map[string]struct {
		fail func(w *world, old *kmstest.Key)
		kind Kind
	}{
		"disabled":         {func(_ *world, old *kmstest.Key) { old.SetState(kmstest.Disabled) }, KindDisabled},
		"pending deletion": {func(_ *world, old *kmstest.Key) { old.SetState(kmstest.PendingDeletion) }, KindInvalidState},
		"denied":           {func(_ *world, old *kmstest.Key) { old.SetState(kmstest.Denied) }, KindDenied},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.add(5 * time.Minute) // the epoch before is still open for a while
			old, next := w.key, w.CreateKey(kmstest.KeyOptions{})
			w.SetAlias(alias, next)
			tt.fail(w, old)
			k := w.instance(t, Options{AcceptKeyIDs: []string{old.ARN}})
			good, sid := w.seal(t, k, tool), w.seal(t, k, session)
			w.Reset()

			for range 50 {
				for _, err := range w.claimAll(k, fingerprintOf(old.ID)) {
					requireKind(t, tt.kind, err)
				}
			}
			require.Equal(t, 1, w.took())
			require.NoError(t, w.open(k, good, tool), "the key in use does not mind")
			require.NoError(t, w.open(k, sid, session))

			w.add(keyPause - time.Second)
			w.claimAll(k, fingerprintOf(old.ID))
			require.Zero(t, w.took())
			w.add(time.Second)
			w.claimAll(k, fingerprintOf(old.ID))
			require.Equal(t, 1, w.took())

			// Mended, it serves all that is sealed under it, a minute later at most.
			old.SetState(kmstest.Enabled)
			w.add(keyPause)
			for _, err := range w.claimAll(k, fingerprintOf(old.ID)) {
				require.NoError(t, err)
			}
			require.Equal(t, 4, w.took(), "four epochs")
		})
	}
}

// Failures that stay until somebody mends the key.
func TestLastingKinds(t *testing.T) {
	want := map[Kind]bool{
		KindDenied: true, KindNotFound: true, KindDisabled: true, KindInvalidState: true, KindWrongKey: true,
		KindThrottled: false, KindRejected: false, KindInternal: false, KindUnreachable: false, KindNotSent: false, KindUnexpected: false,
	}
	for kind, lasting := range want {
		require.Equal(t, lasting, kind.lasting(), kind)
	}
}

func TestOutageIsMetOnceASecond(t *testing.T) {
	w := newWorld(t)
	listed := w.CreateKey(kmstest.KeyOptions{})
	k := w.instance(t, Options{AcceptKeyIDs: []string{listed.ID}})
	w.seal(t, k, tool)
	token := w.seal(t, k, session)
	w.add(15 * time.Minute)
	w.Reset()
	w.SetOutage(true)
	for _, key := range []*kmstest.Key{w.key, listed} {
		for range 20 {
			requireKind(t, KindUnreachable, claim(k, fingerprintOf(key.ID), tool, classFlow.epochAt(w.now())))
		}
		require.Equal(t, 3, w.Count(), "one call, of three attempts")
		if key == w.key {
			_, err := w.trySeal(k, tool)
			requireKind(t, KindUnreachable, err)
			require.Equal(t, 3, w.Count(), "sealing asks for the same")
		}
		w.Reset()
		w.SetOutage(true)
	}
	w.add(callPause)
	_, err := w.trySeal(k, tool)
	requireKind(t, KindUnreachable, err)
	require.Equal(t, 3, w.Count())
	require.NoError(t, w.open(k, token, session), "what it has needs no call")

	w.SetOutage(false)
	w.add(callPause)
	w.seal(t, k, tool)
	require.NoError(t, claim(k, fingerprintOf(listed.ID), tool, classFlow.epochAt(w.now())))
}

// Whatever is wrong with the key that seals, it is tried again every second, for
// the epoch at hand; once that succeeds, for all others as well.
func TestSealingIsTriedEverySecond(t *testing.T) {
	w := newWorld(t)
	w.add(5 * time.Minute)
	k := w.instance(t, Options{KeyID: w.key.ID})
	w.key.SetState(kmstest.Disabled)
	before := classFlow.epochAt(w.now()) - 15
	for i := range 5 {
		_, err := w.trySeal(k, tool)
		requireKind(t, KindDisabled, err)
		requireKind(t, KindDisabled, claim(k, fingerprintOf(w.key.ID), tool, classFlow.epochAt(w.now())))
		requireKind(t, KindDisabled, claim(k, fingerprintOf(w.key.ID), tool, before))
		require.Equal(t, i+1, w.Count())
		w.add(callPause)
	}
	w.key.SetState(kmstest.Enabled)
	requireKind(t, KindDisabled, claim(k, fingerprintOf(w.key.ID), tool, before))
	require.NoError(t, claim(k, fingerprintOf(w.key.ID), tool, classFlow.epochAt(w.now())), "a state of this epoch")
	require.NoError(t, claim(k, fingerprintOf(w.key.ID), tool, before))
	require.Equal(t, 5+2, w.Count())
}

// A call that failed a moment ago did not ask whether the alias moved, so it is
// not everyone's answer for a minute.
func TestUnknownFingerprintBesideAFailure(t *testing.T) {
	w := newWorld(t)
	k := w.instance(t, Options{})
	w.seal(t, k, tool)
	w.add(15 * time.Minute)
	w.Fail(1, 400, "ValidationException")
	_, err := w.trySeal(k, tool)
	requireKind(t, KindRejected, err)
	next := w.CreateKey(kmstest.KeyOptions{})
	w.SetAlias(alias, next)
	requireKind(t, KindRejected, claim(k, fingerprintOf(next.ID), tool, classFlow.epochAt(w.now())))
	w.add(callPause)
	require.NoError(t, claim(k, fingerprintOf(next.ID), tool, classFlow.epochAt(w.now())))
}

// A process that was frozen during a call comes back to one that fails. That
// says nothing of now.
func TestFrozenFailureIsForgotten(t *testing.T) {
	for _, replaced := range []bool{false, true} {
		w := newWorld(t)
		entered, thaw := make(chan struct{}), make(chan struct{})
		live := w.client()
		k := w.over(t, apiFunc(func(context.Context, *kms.GenerateMacInput, ...func(*kms.Options)) (*kms.GenerateMacOutput, error) {
			close(entered)
			<-thaw
			return nil, errors.New("the connection is dead")
		}), Options{})
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := k.SealKey(ended, tool, requeststate.Salt{})
		require.ErrorIs(t, err, context.Canceled)
		<-entered
		k.mu.Lock()
		k.api = live
		var frozen *flight
		for _, frozen = range k.flights {
		}
		k.mu.Unlock()

		w.add(k.callLimit + time.Second)
		if replaced {
			w.seal(t, k, tool)
		}
		close(thaw)
		<-frozen.done
		require.Error(t, frozen.err)
		require.Equal(t, replaced, len(k.failed) == 0)
		w.seal(t, k, tool)
		w.seal(t, k, session)
	}
}

// In strict mode no secret outlives its request, and requests of either mode
// drop what the other left.
func TestStrictKeepsNoSecret(t *testing.T) {
	w := newWorld(t)
	k := w.instance(t, Options{Modes: []requeststate.Mode{strict}})
	w.seal(t, k, tool)
	next := w.CreateKey(kmstest.KeyOptions{})
	w.SetAlias(alias, next)
	token := w.seal(t, w.instance(t, Options{Modes: []requeststate.Mode{strict}}), tool)
	require.NoError(t, w.open(k, token, tool))
	require.True(t, k.asked.landed())
	require.Equal(t, fingerprintOf(next.ID), k.asked.answer.key)
	require.Nil(t, k.asked.answer.secret)

	for name, request := range map[string]func(*Keys, string) error{
		"seal": func(k *Keys, _ string) error { _, err := w.trySeal(k, tool); return err },
		"open": func(k *Keys, token string) error { return w.open(k, token, tool) },
	} {
		t.Run(name, func(t *testing.T) {
			k := w.instance(t, Options{Modes: []requeststate.Mode{strict, derived}})
			token := w.seal(t, k, tool)
			require.NoError(t, w.open(k, w.seal(t, w.instance(t, Options{}), tool), tool))
			require.Len(t, k.secrets, 1)
			w.add(40 * time.Minute)
			// The token's own claims have expired by then; its secret is got all the same.
			if err := request(k, token); err != nil {
				requireReason(t, requeststate.ReasonRoundExpired, err)
			}
			require.Empty(t, k.secrets)
		})
	}
}
