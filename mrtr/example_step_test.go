package mrtr_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
)

// The rate is fetched in the first round. The second one reads it from the log.
func ExampleStep() {
	rate := 1.08
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "change"}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		r, err := mrtr.Step(ctx, c, "rate", func(context.Context) (float64, error) {
			fmt.Println("fetching the rate")
			return rate, nil
		})
		if err != nil {
			return nil, err
		}
		amount, err := mrtr.Ask[struct {
			Euros float64 `json:"euros"`
		}](c, "amount", fmt.Sprintf("The rate is %.2f. How many euros?", r))
		if err != nil {
			return nil, err
		}
		return mrtr.Textf("%.2f dollars", amount.Euros*r), nil
	})
	play(srv, mrtrtest.Call{
		Name:    "change",
		Answers: mrtrtest.Answers{"amount": map[string]any{"euros": 100}},
		Edit:    func(int, *mrtrtest.Request) { rate += 0.1 },
	})
	// Output:
	// fetching the rate
	// round 1: The rate is 1.18. How many euros?
	// round 2: 118.00 dollars
}

// A payment that is made once, though its step runs twice: the reply to the
// round that paid is lost.
func ExampleCall_IdempotencyKey() {
	paid := map[string]bool{} // at the payment service, by key
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "pay"}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		if err := mrtr.Confirm(c, "confirm", "Pay 10 euros?"); err != nil {
			return nil, err
		}
		key, err := c.IdempotencyKey("pay")
		if err != nil {
			return nil, err
		}
		_, err = mrtr.Step(ctx, c, "pay", func(context.Context) (bool, error) {
			fmt.Println("paying, paid before:", paid[key])
			paid[key] = true
			return true, nil
		})
		if err != nil {
			return nil, err
		}
		return mrtr.Text("Paid."), nil
	})
	play(srv, mrtrtest.Call{
		Name:    "pay",
		Answers: mrtrtest.Answers{"confirm": map[string]bool{"ok": true}},
		Drop:    func(round int) bool { return round == 2 },
	})
	fmt.Println(len(paid), "payment")
	// Output:
	// paying, paid before: false
	// paying, paid before: true
	// round 1: Pay 10 euros?
	// round 2: Paid.
	// 1 payment
}

// Work that takes longer than a gateway waits, in pieces: the client comes
// again by itself.
func ExampleCall_Yield() {
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "reindex"}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		done := 0
		for part := range 3 {
			n, err := mrtr.Step(ctx, c, fmt.Sprint("part ", part), func(context.Context) (int, error) { return 100, nil })
			if err != nil {
				return nil, err
			}
			done += n
			if err := c.Yield(); err != nil {
				return nil, err
			}
		}
		return mrtr.Textf("%d documents", done), nil
	})
	play(srv, mrtrtest.Call{Name: "reindex"})
	// Output:
	// round 1: (nothing, come again)
	// round 2: (nothing, come again)
	// round 3: 300 documents
}

// A tool whose running flows outlive a deploy: the code of 2 continues flows
// that 1 began, and code that knows 1 alone refuses those that 2 has touched.
// Steps that would begin within 5 seconds of the request's deadline wait for
// the next round.
func ExampleTool() {
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{
		Name:            "reindex",
		Title:           "Rebuild the index",
		Description:     "Rebuilds the search index of the shop.",
		Revision:        "2",
		AcceptRevisions: []string{"1"},
		YieldWithin:     5 * time.Second,
	}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) { return mrtr.Text("done"), nil })
	play(srv, mrtrtest.Call{Name: "reindex"})
	// Output:
	// round 1: done
}
