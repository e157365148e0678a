package tools

import (
	"context"
	"fmt"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// OrderBook is where orders are kept and refunded. Its methods are called
// concurrently.
type OrderBook interface {
	// Quote says what refunding an order for a reason would pay back. It is
	// ErrNoOrder where there is no such order, and ErrNothingLeft where all of it
	// has been paid back.
	Quote(ctx context.Context, order string, reason Reason) (Quote, error)

	// Refund pays back what a quote says, once for each key: the key of a refund
	// that was made returns its receipt again and pays nothing. It is ErrChanged
	// where the order does not allow the quote's amount any more.
	Refund(ctx context.Context, key string, q Quote) (Receipt, error)
}

// Reason is why an order is refunded.
type Reason string

// The reasons. The shop pays the shipping back where it is at fault.
const (
	Damaged     Reason = "damaged"
	Late        Reason = "late"
	ChangedMind Reason = "changed_mind"
)

// Quote is what a refund would pay back.
type Quote struct {
	Order  string `json:"order"`
	Item   string `json:"item"`
	Reason Reason `json:"reason"`
	Amount Money  `json:"amount"`
}

// Receipt is a refund that was made.
type Receipt struct {
	Refund string `json:"refund" jsonschema:"number of the refund"`
	Order  string `json:"order" jsonschema:"number of the order"`
	Amount Money  `json:"amount" jsonschema:"what was paid back"`
}

// Money is an amount in cents of its currency.
type Money struct {
	Cents    int64  `json:"cents"`
	Currency string `json:"currency" jsonschema:"ISO 4217 code"`
}

// String returns the amount for people, as in 24.90 EUR.
func (m Money) String() string {
	return fmt.Sprintf("%d.%02d %s", m.Cents/100, m.Cents%100, m.Currency)
}

// What an order book says of a refund that it does not make, in words for the
// client.
var (
	ErrNoOrder     = mrtr.Errorf("There is no such order.")
	ErrNothingLeft = mrtr.Errorf("This order has been refunded in full.")
	ErrChanged     = mrtr.Errorf("The order has changed since the refund was confirmed. Nothing was paid back.")
)
