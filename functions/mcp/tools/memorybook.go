package tools

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
)

//go:embed orders.json
var sampleOrders []byte

// MemoryBook is an order book in memory: for trying the tool out. Each process
// has its own and forgets it, so refunds of one instance are unknown to the
// next. It is safe for concurrent use.
type MemoryBook struct {
	mu       sync.Mutex
	orders   map[string]*order
	receipts map[string]Receipt // by key
}

type order struct {
	Order    string `json:"order"`
	Item     string `json:"item"`
	Price    int64  `json:"price"`    // cents
	Shipping int64  `json:"shipping"` // cents
	Currency string `json:"currency"`
	Refunded int64  `json:"refunded"` // cents
}

// payable returns what may be paid back for a reason, in cents.
func (o *order) payable(reason Reason) int64 {
	if reason == ChangedMind {
		return o.Price - o.Refunded
	}
	return o.Price + o.Shipping - o.Refunded
}

var _ OrderBook = (*MemoryBook)(nil)

// NewMemoryBook returns a book with the sample orders, A-1001 to A-1004.
func NewMemoryBook() *MemoryBook {
	var orders []*order
	if err := json.Unmarshal(sampleOrders, &orders); err != nil {
		panic(fmt.Sprintf("tools: reading orders.json: %v", err)) // it is part of the program
	}
	b := &MemoryBook{orders: make(map[string]*order, len(orders)), receipts: make(map[string]Receipt)}
	for _, o := range orders {
		b.orders[o.Order] = o
	}
	return b
}

// Quote says what refunding an order would pay back.
func (b *MemoryBook) Quote(_ context.Context, number string, reason Reason) (Quote, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, ok := b.orders[number]
	if !ok {
		return Quote{}, ErrNoOrder
	}
	cents := o.payable(reason)
	if cents <= 0 {
		return Quote{}, ErrNothingLeft
	}
	return Quote{Order: o.Order, Item: o.Item, Reason: reason, Amount: Money{cents, o.Currency}}, nil
}

// Refund pays a quote back, once for each key.
func (b *MemoryBook) Refund(_ context.Context, key string, q Quote) (Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r, ok := b.receipts[key]; ok {
		if r.Order != q.Order || r.Amount != q.Amount {
			return Receipt{}, errors.New("a key was used for two refunds")
		}
		return r, nil
	}
	o, ok := b.orders[q.Order]
	if !ok {
		return Receipt{}, ErrNoOrder
	}
	if q.Amount.Currency != o.Currency || q.Amount.Cents <= 0 || q.Amount.Cents > o.payable(q.Reason) {
		return Receipt{}, ErrChanged
	}
	o.Refunded += q.Amount.Cents
	r := Receipt{Refund: refundNumber(key), Order: o.Order, Amount: q.Amount}
	b.receipts[key] = r
	return r, nil
}

// refundNumber names a refund without telling its key.
func refundNumber(key string) string {
	return fmt.Sprintf("R-%x", sha256.Sum256([]byte(key)))[:12]
}

// Refunded returns what has been paid back for an order, in cents.
func (b *MemoryBook) Refunded(number string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o, ok := b.orders[number]; ok {
		return o.Refunded
	}
	return 0
}
