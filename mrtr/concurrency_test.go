package mrtr_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

var flowSeed = flag.Uint64("flowseed", 0, "seed of TestConcurrentFlows; 0: a new one")

// paidBook is an order book that pays once for each key.
type paidBook struct {
	mu    sync.Mutex
	calls int
	keys  map[string]string // order and amount, by key
	paid  map[string]int    // cents, by order
	times map[string]int    // payments, by order
}

func (b *paidBook) refund(key, order string, cents int) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	what := fmt.Sprintf("%s %d", order, cents)
	if before, ok := b.keys[key]; ok {
		if before != what {
			return "", errors.New("one key for two refunds")
		}
		return what, nil
	}
	b.keys[key] = what
	b.paid[order] += cents
	b.times[order]++
	return what, nil
}

type (
	refundForm struct {
		Order string `json:"order"`
		Items int    `json:"items" form:"min=0,max=3"`
	}
	priceForm struct {
		Cents int `json:"cents"`
	}
)

// refundTool asks for an order and its items, confirms the sum, and pays it.
func refundTool(b *paidBook) func(*mrtr.Server) {
	return flowTool(func(ctx context.Context, c *mrtr.Call) (string, error) {
		order, err := mrtr.Ask[refundForm](c, "order", "Which order?")
		if err != nil {
			return "", err
		}
		sum := 0
		for i := range order.Items {
			item, err := mrtr.Ask[priceForm](c, fmt.Sprintf("item %d", i), "The price of an item of "+order.Order+"?")
			if err != nil {
				return "", err
			}
			sum += item.Cents
		}
		quote, err := mrtr.Step(ctx, c, "quote", func(context.Context) (int, error) { return 2 * sum, nil })
		if err != nil {
			return "", err
		}
		if err := mrtr.Confirm(c, "confirm", fmt.Sprintf("Refund %d for %s?", quote, order.Order)); err != nil {
			return "", err
		}
		receipt, err := mrtr.Step(ctx, c, "refund", func(context.Context) (string, error) {
			key, err := c.IdempotencyKey("refund")
			if err != nil {
				return "", err
			}
			return b.refund(key, order.Order, quote)
		})
		if err != nil {
			return "", err
		}
		note, err := mrtr.Ask[flowForm](c, "note", "Paid "+receipt+". A note?")
		return receipt + " " + note.Name, err
	})
}

// fleet is a number of instances, each with a handler and keys of its own.
type fleet struct {
	instances [8]http.Handler
	keys      [8]*switchedKeys
	secrets   [][]byte

	mu      sync.Mutex
	sealing int // index into secrets, and the number of rotations

	rounds atomic.Int64
	lost   atomic.Int64
	begun  sync.WaitGroup // flows that have not ended their first round
}

// switchedKeys are keys that can be replaced at any time.
type switchedKeys struct {
	now atomic.Pointer[requeststate.StaticKeys]
}

func (k *switchedKeys) SealKey(ctx context.Context, p requeststate.Purpose, s requeststate.Salt) (requeststate.SealKey, error) {
	return k.now.Load().SealKey(ctx, p, s)
}

func (k *switchedKeys) OpenSecret(ctx context.Context, h requeststate.Header, s requeststate.Salt) (*requeststate.Secret, error) {
	return k.now.Load().OpenSecret(ctx, h, s)
}

const rotateAfter = 900 // rounds

func newFleet(t *testing.T, rng *rand.Rand, register func(*mrtr.Server)) *fleet {
	f := &fleet{}
	for range 40 {
		secret := make([]byte, requeststate.MinSecretSize)
		for i := range secret {
			secret[i] = byte(rng.Uint32())
		}
		f.secrets = append(f.secrets, secret)
	}
	for i := range f.instances {
		srv := mrtr.NewServer(protocol.Implementation{Name: "fleet", Version: "1"}, nil)
		register(srv)
		f.keys[i] = &switchedKeys{}
		f.set(i, 0, 0)
		h, err := srv.Handler(mrtr.HandlerOptions{Keys: f.keys[i], Audience: "fleet", Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		f.instances[i] = h
	}
	return f
}

// set makes instance i seal under one secret and accept those up to another.
func (f *fleet) set(i, seal, accept int) {
	keys, err := requeststate.NewStaticKeys(f.secrets[seal], f.secrets[:accept+1]...)
	if err != nil {
		panic(err)
	}
	f.keys[i].now.Store(keys)
}

// rotate lets every instance accept the next secret and then, one by one, seal
// under it, as a deployment does. Old secrets stay accepted: a round's life has
// not passed when this run is over.
func (f *fleet) rotate() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.instances {
		f.set(i, f.sealing, f.sealing+1)
	}
	f.sealing++
	for i := range f.instances {
		f.set(i, f.sealing, f.sealing)
	}
}

// gateway sends one caller's requests to any instance, and loses one reply in
// 20: then the request is sent again, to any instance, half of the time while
// the first is still under way. Nobody's second round begins before everybody's
// first has ended, so that all flows are under way together.
func (f *fleet) gateway(rng *rand.Rand, caller string) http.Handler {
	sent := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if sent++; sent == 1 {
			defer f.begun.Done()
		} else {
			f.begun.Wait()
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		ctx := mrtr.WithPrincipal(r.Context(), mrtr.Principal{Issuer: "https://issuer.example", Subject: caller})
		serve := func(w http.ResponseWriter, instance int) {
			r := r.Clone(ctx)
			r.Body = io.NopCloser(bytes.NewReader(body))
			f.instances[instance].ServeHTTP(w, r)
			if f.rounds.Add(1)%rotateAfter == 0 {
				f.rotate()
			}
		}
		first, second := rng.IntN(len(f.instances)), rng.IntN(len(f.instances))
		var wg sync.WaitGroup
		switch rng.IntN(40) {
		case 0:
			f.lost.Add(1)
			serve(httptest.NewRecorder(), first)
		case 1:
			f.lost.Add(1)
			wg.Go(func() { serve(httptest.NewRecorder(), first) })
		}
		serve(w, second)
		wg.Wait()
	})
}

// fingerprint returns the part of a token that names its key.
func fingerprint(t testing.TB, token string) string {
	b, err := base64.RawURLEncoding.DecodeString(token)
	require.NoError(t, err)
	return string(b[2:10])
}

// TestConcurrentFlows runs 1,000 flows at once over 8 instances. Rounds land
// anywhere, keys rotate, replies are lost, and every flow ends with its own
// answers, its refund made once.
func TestConcurrentFlows(t *testing.T) {
	const flows = 1000
	seed := *flowSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-flowseed=%d", seed)
	book := &paidBook{keys: map[string]string{}, paid: map[string]int{}, times: map[string]int{}}
	f := newFleet(t, rand.New(rand.NewPCG(seed, 0)), refundTool(book))

	f.begun.Add(flows)
	var wg sync.WaitGroup
	var manyKeys, ended atomic.Int64
	want := make([]int, flows)
	for i := range flows {
		rng := rand.New(rand.NewPCG(seed, uint64(i)+1))
		order := fmt.Sprintf("order-%d", i)
		answers := mrtrtest.Answers{"note": flowForm{Name: fmt.Sprintf("note-%d", i)}, "confirm": map[string]bool{"ok": true}}
		items := rng.IntN(4)
		answers["order"] = refundForm{Order: order, Items: items}
		for k := range items {
			cents := 1 + rng.IntN(10_000)
			answers[fmt.Sprintf("item %d", k)] = priceForm{cents}
			want[i] += 2 * cents
		}
		wg.Go(func() {
			played := mrtrtest.Play(t, mrtrtest.Handler(f.gateway(rng, order)), mrtrtest.Call{Name: "tool", Answers: answers})
			receipt := fmt.Sprintf("%s %d", order, want[i])
			if !mayEqual(t, fmt.Sprintf("%s note-%d", receipt, i), played.Text()) || !mayEqual(t, 4+items, len(played.Rounds)) {
				return
			}
			keys := map[string]bool{}
			for n, round := range played.Rounds[:3+items] {
				keys[fingerprint(t, round.State)] = true
				asked := string(round.Asked[0].Params)
				if n > 0 && !strings.Contains(asked, order) {
					t.Errorf("%s was asked %s", order, asked)
				}
				if n == 1+items && !strings.Contains(asked, fmt.Sprintf("Refund %d for %s?", want[i], order)) {
					t.Errorf("%s was to confirm %s", order, asked)
				}
			}
			if len(keys) > 1 {
				manyKeys.Add(1)
			}
			ended.Add(1)
		})
	}
	wg.Wait()
	t.Logf("%d rounds, %d replies lost, %d rotations, %d flows under several keys, %d calls for %d refunds",
		f.rounds.Load(), f.lost.Load(), f.sealing, manyKeys.Load(), book.calls, len(book.keys))

	require.EqualValues(t, flows, ended.Load())
	require.Len(t, book.keys, flows)
	require.Len(t, book.paid, flows)
	for i := range flows {
		order := fmt.Sprintf("order-%d", i)
		require.Equal(t, 1, book.times[order], order)
		require.Equal(t, want[i], book.paid[order], order)
	}
	require.Greater(t, book.calls, flows, "no refund was tried twice: nothing is shown")
	require.GreaterOrEqual(t, f.sealing, 4)
	require.Greater(t, manyKeys.Load(), int64(flows/2))
}

// mayEqual is require.Equal for goroutines: it fails the test and goes on.
func mayEqual(t *testing.T, want, got any) bool {
	if want != got {
		t.Errorf("got %v, want %v", got, want)
	}
	return want == got
}
