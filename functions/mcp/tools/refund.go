package tools

import (
	"context"
	"fmt"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
)

// Refunds is a desk that refunds orders of its book. Whoever may call its tool
// may refund every order: it is a tool for a shop's staff.
type Refunds struct{ Book OrderBook }

// RefundRequest is the form that the user fills in.
type RefundRequest struct {
	Order  string `json:"order" form:"title=Order number,description=As on the invoice: A-1001,pattern=^A-[0-9]{4}$"`
	Reason Reason `json:"reason" form:"title=Reason,enum=damaged|late|changed_mind,enumTitles=It came damaged|It came late|The customer changed their mind"`
}

// RefundOrder asks which order to refund and why, shows what that would pay
// back, and pays it back after a yes.
func (d Refunds) RefundOrder(ctx context.Context, c *mrtr.Call, _ struct{}) (Receipt, error) {
	req, err := mrtr.Ask[RefundRequest](c, "order", "Which order shall be refunded, and why?")
	if err != nil {
		return Receipt{}, err // not answered yet: this round ends here
	}
	quote, err := mrtr.Step(ctx, c, "quote", func(ctx context.Context) (Quote, error) {
		return d.Book.Quote(ctx, req.Order, req.Reason)
	})
	if err != nil {
		return Receipt{}, err
	}
	question := fmt.Sprintf("Refund %s for order %s (%s)?", quote.Amount, quote.Order, quote.Item)
	if err := mrtr.Confirm(c, "confirm", question); err != nil {
		return Receipt{}, err
	}
	key, err := c.IdempotencyKey("refund")
	if err != nil {
		return Receipt{}, err
	}
	return mrtr.Step(ctx, c, "refund", func(ctx context.Context) (Receipt, error) {
		return d.Book.Refund(ctx, key, quote)
	})
}

// Register adds the desk's tool to s.
func (d Refunds) Register(s *mrtr.Server) {
	mrtr.AddTool(s, mrtr.Tool{
		Name:        "refund_order",
		Title:       "Refund an order",
		Description: "Refunds an order. The user says which one and why, sees the amount, and confirms it.",
	}, d.RefundOrder)
}
