package kmskeys

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

const (
	derived = requeststate.ModeDerived
	strict  = requeststate.ModeStrict
	alias   = "alias/mrtr"
)

// clock is a clock that a test sets.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

// newClock starts at 13:31, one minute into an epoch of flows.
func newClock() *clock { return &clock{t: time.Date(2026, 7, 28, 13, 31, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// world is a fake KMS with a key behind an alias, and a clock.
type world struct {
	*kmstest.Server
	*clock
	key *kmstest.Key
}

func newWorld(t testing.TB) *world {
	w := &world{Server: kmstest.NewServer(kmstest.Options{}), clock: newClock()}
	t.Cleanup(w.Close)
	w.key = w.CreateKey(kmstest.KeyOptions{})
	w.SetAlias(alias, w.key)
	return w
}

// client is the SDK's, without pauses between its attempts.
func (w *world) client() *kms.Client { return clientOf(w.Server) }

func clientOf(s *kmstest.Server) *kms.Client {
	return s.Client(func(o *kms.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
}

// instance is a cold instance of the deployment.
func (w *world) instance(t testing.TB, opts Options) *Keys { return w.over(t, w.client(), opts) }

func (w *world) over(t testing.TB, api API, opts Options) *Keys {
	if opts.KeyID == "" {
		opts.KeyID = alias
	}
	if opts.Audience == "" {
		opts.Audience = "prod"
	}
	opts.Now = w.now
	k, err := New(api, opts)
	require.NoError(t, err)
	// A slow machine is no slow KMS.
	k.attemptLimit, k.callLimit = time.Minute, 3*time.Minute
	return k
}

// took returns how many calls KMS saw since the last time.
func (w *world) took() int {
	n := w.Count()
	w.Reset()
	return n
}

// gate lets a test hold calls back.
type gate struct {
	API
	entered chan struct{} // one for each call
	open    chan struct{} // closed: calls go through
}

func newGate(api API) *gate {
	return &gate{api, make(chan struct{}, 1000), make(chan struct{})}
}

func (g *gate) GenerateMac(ctx context.Context, in *kms.GenerateMacInput, opts ...func(*kms.Options)) (*kms.GenerateMacOutput, error) {
	g.entered <- struct{}{}
	select {
	case <-g.open:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return g.API.GenerateMac(ctx, in, opts...)
}

// apiFunc is an API that is a function.
type apiFunc func(context.Context, *kms.GenerateMacInput, ...func(*kms.Options)) (*kms.GenerateMacOutput, error)

func (f apiFunc) GenerateMac(ctx context.Context, in *kms.GenerateMacInput, opts ...func(*kms.Options)) (*kms.GenerateMacOutput, error) {
	return f(ctx, in, opts...)
}

// binding and claims of a call that every test seals and opens.
func binding(p requeststate.Purpose) requeststate.Binding {
	return requeststate.Binding{Purpose: p, Audience: requeststate.AudienceDigest("prod"), Method: "tools/call", Target: "book_trip"}
}

func (w *world) seal(t testing.TB, k *Keys, p requeststate.Purpose) string {
	t.Helper()
	token, err := w.trySeal(k, p)
	require.NoError(t, err)
	return token
}

func (w *world) trySeal(k *Keys, p requeststate.Purpose) (string, error) {
	b, now := binding(p), w.now()
	c := requeststate.Claims{Audience: b.Audience, Method: b.Method, Target: b.Target, Round: 1,
		IssuedAt: now, RoundExpiry: now.Add(10 * time.Minute), FlowDeadline: now.Add(time.Hour)}
	if p == requeststate.PurposeSession {
		c.RoundExpiry, c.FlowDeadline = now.Add(24*time.Hour), now.Add(24*time.Hour)
	}
	c.NewFlow()
	return requeststate.Seal(context.Background(), k, p, c, []byte("body"), 0)
}

func (w *world) open(k *Keys, token string, p requeststate.Purpose) error {
	_, body, err := requeststate.Open(context.Background(), k, token, binding(p), requeststate.OpenOptions{Now: w.now()})
	if err == nil && string(body) != "body" {
		panic("a token opened to another body")
	}
	return err
}

func requireReason(t testing.TB, want requeststate.Reason, err error) {
	t.Helper()
	var refused *requeststate.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, want, refused.Reason)
	require.NotErrorIs(t, err, requeststate.ErrUnavailable)
}

func requireKind(t testing.TB, want Kind, err error) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, want, e.Kind)
	require.ErrorIs(t, err, requeststate.ErrUnavailable)
	require.NotErrorIs(t, err, requeststate.ErrRefused)
}
