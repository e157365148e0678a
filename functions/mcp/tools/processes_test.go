package tools_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/functions/mcp/tools"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
)

var refundSeed = flag.Uint64("refundseed", 0, "seed of TestRefundsOverProcesses; 0: a new one")

// refundService is an order book behind HTTP, of one order a flow: A-0000 costs
// 1 cent, A-0001 2 cents, and so on. It pays once for each key.
type refundService struct {
	mu    sync.Mutex
	calls int
	keys  map[string]tools.Receipt
	paid  map[string][]int64 // payments in cents, by order
}

func (s *refundService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/quote" {
		var in tools.RefundRequest
		if json.UnmarshalRead(r.Body, &in) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var n int64
		if _, err := fmt.Sscanf(in.Order, "A-%d", &n); err != nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_ = json.MarshalWrite(w, tools.Quote{Order: in.Order, Item: "Item", Reason: in.Reason, Amount: tools.Money{Cents: n + 1, Currency: "EUR"}})
		return
	}
	var q tools.Quote
	key := r.Header.Get("Idempotency-Key")
	if json.UnmarshalRead(r.Body, &q) != nil || key == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.calls++
	receipt, ok := s.keys[key]
	if !ok {
		receipt = tools.Receipt{Refund: fmt.Sprintf("R-%d", len(s.keys)), Order: q.Order, Amount: q.Amount}
		s.keys[key] = receipt
		s.paid[q.Order] = append(s.paid[q.Order], q.Amount.Cents)
	}
	_ = json.MarshalWrite(w, receipt)
}

// TestRefundsOverProcesses refunds orders through 8 processes of a real binary,
// each round on any of them, while the KMS key is rotated and replies are lost:
// each refund is made once.
func TestRefundsOverProcesses(t *testing.T) {
	t.Parallel()
	const flows, each = 1000, 4
	seed := *refundSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-refundseed=%d", seed)

	binary := filepath.Join(t.TempDir(), "bootstrap")
	require.NoError(t, lambdatest.Build(t.Context(), ".", "./testdata/refunds", binary))
	service := &refundService{keys: map[string]tools.Receipt{}, paid: map[string][]int64{}}
	book := httptest.NewServer(service)
	defer book.Close()
	fake := kmstest.NewServer(kmstest.Options{})
	defer fake.Close()
	key, next := fake.CreateKey(kmstest.KeyOptions{}), fake.CreateKey(kmstest.KeyOptions{})
	start := func(seal, accept *kmstest.Key) http.Handler {
		api, err := lambdatest.Start(t.Context(), lambdatest.Options{Bootstrap: binary, Instances: each, Env: append(fake.Env(),
			"MRTR_KMS_KEY_ID="+seal.ARN, "MRTR_KMS_ACCEPT_KEY_IDS="+accept.ARN, "MRTR_AUDIENCE=refunds", "BOOK_URL="+book.URL)})
		require.NoError(t, err)
		t.Cleanup(func() { api.Close() })
		return api.HTTPHandler(lambdatest.HTTPAPI)
	}
	// Instances of two deployments, as they are side by side while one replaces
	// the other: the later ones seal under the next key.
	deployments := [2]http.Handler{start(key, next), start(next, key)}

	var rounds, lost, ended, crossed atomic.Int64
	gateway := func(rng *rand.Rand) http.Handler {
		last := -1
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			send := func(w http.ResponseWriter) {
				share := min(int(rounds.Add(1))*100/(flows*3), 100) // of the later deployment, in percent
				at := 0
				if rng.IntN(100) < share {
					at = 1
				}
				if last >= 0 && last != at {
					crossed.Add(1)
				}
				last = at
				r := r.Clone(r.Context())
				r.Body = io.NopCloser(bytes.NewReader(body))
				deployments[at].ServeHTTP(w, r)
			}
			if rng.IntN(20) == 0 {
				lost.Add(1)
				send(httptest.NewRecorder())
			}
			send(w)
		})
	}
	var wg sync.WaitGroup
	queue := make(chan int, flows)
	for i := range flows {
		queue <- i
	}
	close(queue)
	for range 2 * each {
		wg.Go(func() {
			for i := range queue {
				order := fmt.Sprintf("A-%04d", i)
				played := mrtrtest.Play(t, mrtrtest.Handler(gateway(rand.New(rand.NewPCG(seed, uint64(i))))), mrtrtest.Call{
					Name: "refund_order",
					Answers: mrtrtest.Answers{
						"order":   tools.RefundRequest{Order: order, Reason: tools.Late},
						"confirm": map[string]any{"ok": true},
					},
					Edit: func(_ int, r *mrtrtest.Request) { r.Header.Set("X-Test-Principal", order) },
				})
				if len(played.Rounds) == 3 && strings.Contains(played.Text(), `"order":"`+order+`","amount":{"cents":`+fmt.Sprint(i+1)+`,`) {
					ended.Add(1)
				} else {
					t.Errorf("%s ended in round %d with %s", order, len(played.Rounds), played.Text())
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d rounds, %d replies lost, %d rounds on another deployment than the one before, %d calls for %d refunds",
		rounds.Load(), lost.Load(), crossed.Load(), service.calls, len(service.keys))

	require.EqualValues(t, flows, ended.Load())
	require.Len(t, service.keys, flows)
	for i := range flows {
		require.Equal(t, []int64{int64(i + 1)}, service.paid[fmt.Sprintf("A-%04d", i)])
	}
	require.Positive(t, lost.Load())
	require.Positive(t, crossed.Load())
}
