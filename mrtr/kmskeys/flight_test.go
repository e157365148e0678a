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

func TestConcurrentCallersShareOneCall(t *testing.T) {
	w := newWorld(t)
	token := w.seal(t, w.instance(t, Options{}), tool)
	w.Reset()
	g := newGate(w.client())
	k := w.over(t, g, Options{})

	var wg sync.WaitGroup
	errs := make(chan error, 100)
	for i := range 100 {
		wg.Go(func() {
			if i%2 == 0 {
				errs <- w.open(k, token, tool)
				return
			}
			_, err := w.trySeal(k, tool)
			errs <- err
		})
	}
	<-g.entered
	close(g.open)
	wg.Wait()
	for range 100 {
		require.NoError(t, <-errs)
	}
	require.Equal(t, 1, w.Count())
	require.Empty(t, k.flights)
}

func TestCallerLeavesFlightGoesOn(t *testing.T) {
	w := newWorld(t)
	g := newGate(w.client())
	k := w.over(t, g, Options{})

	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan error)
	go func() {
		_, err := k.SealKey(ctx, tool, requeststate.Salt{})
		left <- err
	}()
	<-g.entered
	cancel()
	err := <-left
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, requeststate.ErrUnavailable)
	_, err = k.OpenSecret(ctx, requeststate.Header{Mode: derived, Purpose: tool, EpochStart: classFlow.epochAt(w.now())}, requeststate.Salt{})
	require.ErrorIs(t, err, context.Canceled)

	close(g.open)
	w.seal(t, k, tool)
	require.Equal(t, 1, w.Count())

	// In strict mode the call is the caller's own, and ends with it.
	g = newGate(w.client())
	k = w.over(t, g, Options{Modes: []requeststate.Mode{strict}})
	_, err = k.SealKey(ctx, tool, requeststate.Salt{})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, requeststate.ErrUnavailable)
}

// A process that was frozen during a call comes back to one that is dead.
func TestFrozenFlightIsLeft(t *testing.T) {
	w := newWorld(t)
	frozen, live := newGate(w.client()), w.client()
	k := w.over(t, frozen, Options{})
	k.Start(context.Background())
	<-frozen.entered
	k.mu.Lock()
	k.api = live
	k.mu.Unlock()

	w.add(k.callLimit)
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := k.SealKey(ended, tool, requeststate.Salt{})
	require.ErrorIs(t, err, context.Canceled, "still the same flight")
	w.add(time.Second)
	w.seal(t, k, tool)
	require.Equal(t, 1, w.Count())
	close(frozen.open)
	require.NoError(t, k.Wait(context.Background(), time.Minute))
	w.seal(t, k, tool)
	require.Equal(t, 2, w.Count(), "the frozen one ends on its own")
}

func TestStartAndWait(t *testing.T) {
	w := newWorld(t)
	g := newGate(w.client())
	k := w.over(t, g, Options{})
	require.NoError(t, k.Wait(context.Background(), time.Minute), "nothing was started")

	k.Start(context.Background())
	<-g.entered
	require.ErrorIs(t, k.Wait(context.Background(), 0), context.DeadlineExceeded)
	close(g.open)
	require.NoError(t, k.Wait(context.Background(), time.Minute))
	require.Equal(t, 1, w.Count())
	token := w.seal(t, k, tool)
	require.NoError(t, w.open(k, token, tool))
	require.Equal(t, 1, w.Count())

	// A start that fails is made good by the first request.
	w.key.SetState(kmstest.Disabled)
	k = w.instance(t, Options{})
	k.Start(context.Background())
	requireKind(t, KindDisabled, k.Wait(context.Background(), time.Minute))
	w.key.SetState(kmstest.Enabled)
	require.NoError(t, w.open(k, token, tool))
}

func TestFailedCallIsRetriedASecondLater(t *testing.T) {
	for _, mode := range []requeststate.Mode{derived, strict} {
		w := newWorld(t)
		k := w.instance(t, Options{Modes: []requeststate.Mode{mode}})
		w.Throttle(3)
		_, err := w.trySeal(k, tool)
		requireKind(t, KindThrottled, err)
		require.Equal(t, 3, w.took())
		w.add(callPause)
		token := w.seal(t, k, tool)
		require.Equal(t, 1, w.took())

		k = w.instance(t, Options{Modes: []requeststate.Mode{mode}})
		w.Drop(3)
		requireKind(t, KindUnreachable, w.open(k, token, tool))
		w.add(callPause)
		w.Throttle(1)
		w.Drop(1)
		require.NoError(t, w.open(k, token, tool), "the SDK tries three times")
	}
}

func TestOutageSparesWarmInstances(t *testing.T) {
	w := newWorld(t)
	warm, cold := w.instance(t, Options{}), w.instance(t, Options{})
	token := w.seal(t, warm, tool)
	w.SetOutage(true)
	require.NoError(t, w.open(warm, token, tool))
	require.NoError(t, w.open(warm, w.seal(t, warm, tool), tool))
	requireKind(t, KindUnreachable, w.open(cold, token, tool))

	w.add(15 * time.Minute)
	_, err := w.trySeal(warm, tool)
	requireKind(t, KindUnreachable, err)
	w.SetOutage(false)
	w.add(callPause)
	w.seal(t, warm, tool)
}

func TestEpochBoundary(t *testing.T) {
	w := newWorld(t)
	w.add(13 * time.Minute) // 13:44
	a := w.instance(t, Options{})
	token := w.seal(t, a, tool)
	require.Equal(t, 1, w.took())
	w.add(2 * time.Minute) // 13:46, the next epoch

	cold := w.instance(t, Options{})
	cold.Start(context.Background())
	require.NoError(t, w.open(cold, token, tool))
	next := w.seal(t, cold, tool)
	require.Equal(t, 2, w.took(), "two epochs met, two calls")

	require.NoError(t, w.open(a, next, tool))
	require.NoError(t, w.open(a, token, tool))
	w.seal(t, a, tool)
	require.Equal(t, 1, w.took(), "one more epoch met")

	// A session id of last night costs its own call, and no more.
	sid := w.seal(t, a, session)
	w.add(11 * time.Hour)
	w.Reset()
	cold = w.instance(t, Options{})
	require.NoError(t, w.open(cold, sid, session))
	w.seal(t, cold, session)
	w.seal(t, cold, tool)
	require.Equal(t, 3, w.took())
}

func TestSecretsAreDroppedInTime(t *testing.T) {
	w := newWorld(t)
	k := w.instance(t, Options{})
	sid := w.seal(t, k, session)
	k.Start(context.Background())
	require.NoError(t, k.Wait(context.Background(), time.Minute))
	for range 200 {
		w.seal(t, k, tool)
		w.add(15 * time.Minute)
		require.LessOrEqual(t, len(k.secrets), 2+3)
	}
	require.Nil(t, k.first, "Start's flight holds a secret, too")

	requireReason(t, requeststate.ReasonEpochOld, w.open(k, sid, session))
	w.seal(t, k, tool)
	for id := range k.secrets {
		require.Empty(t, k.judge(id.class, id.start, w.now()), id)
	}

	// An instance that only opens sweeps as well.
	k = w.instance(t, Options{})
	sid = w.seal(t, k, session)
	w.seal(t, k, tool)
	require.Len(t, k.secrets, 2)
	w.add(time.Hour)
	require.NoError(t, w.open(k, sid, session))
	require.Len(t, k.secrets, 1)
}

// request plays one request: its calls are counted, and what it owes is joined.
func (w *world) request(t *testing.T, k *Keys, purpose requeststate.Purpose) int {
	t.Helper()
	ctx, calls := requeststate.WithCalls(context.Background())
	_, err := k.SealKey(ctx, purpose, requeststate.Salt{})
	require.NoError(t, err)
	calls.Join(context.Background())
	return calls.Count()
}

func TestNextEpochIsFetchedEarly(t *testing.T) {
	for _, purpose := range []requeststate.Purpose{tool, session} {
		w := newWorld(t)
		k := w.instance(t, Options{})
		c, _ := classOf(purpose)
		length := c.epochLength()
		w.add(c.epochAt(w.now()).Time().Sub(w.now())) // an epoch's start
		require.Equal(t, 1, w.request(t, k, purpose))

		for range 3 {
			k.jitter = 0.5
			start := w.now()
			w.add(length/5*4 - time.Second)
			require.Equal(t, 0, w.request(t, k, purpose))

			w.add(2*time.Second + length/10) // past any instance's time
			_, err := k.SealKey(context.Background(), purpose, requeststate.Salt{})
			require.NoError(t, err)
			require.Empty(t, k.flights, "nobody would wait for it")
			require.Equal(t, 1, w.request(t, k, purpose))
			require.Equal(t, 0, w.request(t, k, purpose))

			w.add(start.Add(length).Sub(w.now()))
			w.SetOutage(true)
			require.Equal(t, 0, w.request(t, k, purpose), "the next epoch begins without a call")
			w.SetOutage(false)
		}
		require.Equal(t, 4, w.Count())
	}
}

func TestEarlyFetchIsSpread(t *testing.T) {
	for _, jitter := range []float64{0, 0.25, 0.999} {
		w := newWorld(t)
		w.add(-time.Minute) // 13:30
		k := w.instance(t, Options{})
		k.jitter = jitter
		w.request(t, k, tool)
		w.add(12*time.Minute + time.Duration(jitter*90*float64(time.Second)) - time.Second)
		require.Equal(t, 0, w.request(t, k, tool))
		w.add(2 * time.Second)
		require.Equal(t, 1, w.request(t, k, tool))
	}
	a, b := newWorld(t).instance(t, Options{}), newWorld(t).instance(t, Options{})
	require.NotEqual(t, a.jitter, b.jitter)
}

func TestEarlyFetchIsNotForEveryone(t *testing.T) {
	w := newWorld(t)
	w.add(12*time.Minute + 30*time.Second) // 13:43:30, in the last fifth
	late := w.instance(t, Options{})
	require.Equal(t, 1, w.request(t, late, tool))
	w.add(time.Minute)
	require.Equal(t, 0, w.request(t, late, tool), "an instance that started late does not fetch early")
	w.add(time.Minute)
	require.Equal(t, 1, w.request(t, late, tool))

	// Nor does a request that called KMS already, nor one after the epoch's end.
	w.add(12*time.Minute + 30*time.Second) // 13:58
	ctx, calls := requeststate.WithCalls(context.Background())
	calls.Add()
	_, err := late.SealKey(ctx, tool, requeststate.Salt{})
	require.NoError(t, err)
	require.Equal(t, 1, calls.Count())
	calls.Join(context.Background())
	token := w.seal(t, late, tool)
	w.add(3 * time.Minute)
	ctx, calls = requeststate.WithCalls(context.Background())
	_, _, err = requeststate.Open(ctx, late, token, binding(tool), requeststate.OpenOptions{Now: w.now()})
	require.NoError(t, err)
	require.Zero(t, calls.Count(), "the epoch that was next has begun: who seals fetches it")
	require.Equal(t, 1, w.request(t, late, tool))
}

func TestEarlyFetchThatFails(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t)
	k := w.instance(t, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	w.request(t, k, tool)
	w.add(12*time.Minute + 30*time.Second)
	w.SetOutage(true)
	require.Equal(t, 1, w.request(t, k, tool), "the request itself does not mind")
	w.add(59 * time.Second)
	require.Equal(t, 0, w.request(t, k, tool), "not every request tries")
	w.SetOutage(false)
	w.add(time.Second)
	require.Equal(t, 1, w.request(t, k, tool))
	w.add(30 * time.Second)
	require.Equal(t, 0, w.request(t, k, tool), "the next epoch has begun")
	require.Contains(t, log.String(), "fetching the next epoch's key failed")
}

func TestJoinEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	k := w.instance(t, Options{})
	w.request(t, k, tool)
	w.add(12*time.Minute + 30*time.Second)
	g := newGate(k.api)
	k.api = g
	ctx, calls := requeststate.WithCalls(context.Background())
	_, err := k.SealKey(ctx, tool, requeststate.Salt{})
	require.NoError(t, err)
	<-g.entered
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	calls.Join(ended)
	close(g.open)

	var none *requeststate.Calls
	none.Add()
	none.Owe(nil)
	none.Join(context.Background())
	require.Zero(t, none.Count())
	require.Nil(t, requeststate.CallsFrom(context.Background()))
	require.Same(t, calls, requeststate.CallsFrom(ctx))
}
