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

// In strict mode as well: the key in use has a call of its own each, one that
// was rotated out and fails has not.
func TestAcceptedKeyThatFailsInStrictMode(t *testing.T) {
	garbage := func(ctx context.Context, k *Keys, key *kmstest.Key) (errs []error) {
		for n := range byte(20) {
			_, err := k.OpenSecret(ctx, requeststate.Header{Mode: strict, Purpose: tool, Fingerprint: fingerprintOf(key.ID)}, requeststate.Salt{n})
			errs = append(errs, err)
		}
		return errs
	}
	w := newWorld(t)
	old, next := w.key, w.CreateKey(kmstest.KeyOptions{})
	token := w.seal(t, w.instance(t, Options{Modes: []requeststate.Mode{strict}}), tool)
	w.SetAlias(alias, next)
	opts := Options{Modes: []requeststate.Mode{strict}, AcceptKeyIDs: []string{old.ARN}}
	k := w.instance(t, opts)
	good := w.seal(t, k, tool)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range garbage(ended, k, old) {
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, w.open(k, token, tool), "a caller that left says nothing of the key")

	old.SetState(kmstest.Disabled)
	w.Reset()
	for _, err := range garbage(context.Background(), k, old) {
		requireKind(t, KindDisabled, err)
	}
	require.Equal(t, 1, w.took())
	require.NoError(t, w.open(k, good, tool), "the key in use does not mind")
	w.Reset()
	w.add(keyPause - time.Second)
	garbage(context.Background(), k, old)
	require.Zero(t, w.took())
	old.SetState(kmstest.Enabled)
	w.add(time.Second)
	require.NoError(t, w.open(k, token, tool))
	w.Reset()
	garbage(context.Background(), k, old)
	require.Equal(t, 20, w.took(), "no secret is shared")

	// Another instance does not know yet which key seals: it may be the listed one.
	old.SetState(kmstest.Disabled)
	k = w.instance(t, opts)
	garbage(context.Background(), k, old)
	require.Equal(t, 1, w.took())
	old.SetState(kmstest.Enabled)
	w.add(callPause)
	require.NoError(t, w.open(k, token, tool))

	// The key that seals is asked each time.
	next.SetState(kmstest.Disabled)
	k = w.instance(t, Options{KeyID: next.ID, Modes: []requeststate.Mode{strict}})
	w.Reset()
	for _, err := range garbage(context.Background(), k, next) {
		requireKind(t, KindDisabled, err)
	}
	require.Equal(t, 20, w.took())
}

// Failures that stay until somebody mends the key.
func TestLastingFailures(t *testing.T) {
	want := map[Error]bool{
		{Kind: KindDenied, Code: "AccessDeniedException"}: true, {Kind: KindNotFound}: true, {Kind: KindDisabled}: true, {Kind: KindInvalidState}: true, {Kind: KindWrongKey}: true,
		{Kind: KindThrottled}: false, {Kind: KindRejected}: false, {Kind: KindInternal}: false, {Kind: KindUnreachable}: false, {Kind: KindNotSent}: false, {Kind: KindUnexpected}: false,
		{Kind: KindDenied, Code: "ExpiredTokenException"}: false, {Kind: KindDenied, Code: "UnrecognizedClientException"}: false,
		{Kind: KindDenied, Code: "InvalidSignatureException"}: false,
	}
	for e, lasting := range want {
		require.Equal(t, lasting, e.lasting(), e)
	}
}

// KMS turns one call down, and that call was made for a header that anybody can
// write. Honest states under the same key and epoch do not pay for it.
func TestShortDenialIsNoLongOne(t *testing.T) {
	tests := map[string]struct {
		code   string
		listed bool // the key does not seal any more
		pause  time.Duration
	}{
		"denied":                           {"AccessDeniedException", false, callPause},
		"expired credentials":              {"ExpiredTokenException", false, callPause},
		"denied, a listed key":             {"AccessDeniedException", true, keyPause},
		"expired credentials, listed key":  {"ExpiredTokenException", true, callPause},
		"unknown credentials, listed key":  {"UnrecognizedClientException", true, callPause},
		"a bad signature, of a listed key": {"InvalidSignatureException", true, callPause},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.add(13 * time.Minute)
			before, key := classFlow.epochAt(w.now()), w.key
			token := w.seal(t, w.instance(t, Options{}), tool)
			w.add(2 * time.Minute)
			if tt.listed {
				w.SetAlias(alias, w.CreateKey(kmstest.KeyOptions{}))
			}
			k := w.instance(t, Options{AcceptKeyIDs: []string{key.ARN}})
			w.seal(t, k, tool) // in the epoch at hand
			w.Fail(1, 400, tt.code)
			requireKind(t, KindDenied, claim(k, fingerprintOf(key.ID), tool, before))
			w.add(tt.pause - time.Millisecond)
			requireKind(t, KindDenied, w.open(k, token, tool))
			w.add(time.Millisecond)
			require.NoError(t, w.open(k, token, tool))
		})
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
// whichever epoch.
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
	require.NoError(t, claim(k, fingerprintOf(w.key.ID), tool, before))
	require.NoError(t, claim(k, fingerprintOf(w.key.ID), tool, classFlow.epochAt(w.now())), "a state of this epoch")
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
