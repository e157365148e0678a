package mrtr_test

import (
	"context"
	"fmt"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// Trip is what the model passes.
type Trip struct {
	City string `json:"city" jsonschema:"where to go"`
}

// Dates is what the user fills in.
type Dates struct {
	From   string `json:"from" form:"title=From,format=date"`
	Nights int    `json:"nights" form:"title=How many nights?,min=1,max=30,default=2"`
}

// Booking is what the model gets.
type Booking struct {
	Number string `json:"number"`
	Euros  int    `json:"euros"`
}

// BookTrip asks for the dates, quotes, has the price confirmed, and books.
func BookTrip(ctx context.Context, c *mrtr.Call, in Trip) (Booking, error) {
	dates, err := mrtr.Ask[Dates](c, "dates", "When do you want to go to "+in.City+"?")
	if err != nil {
		return Booking{}, err // not answered yet: this round ends here
	}
	euros, err := mrtr.Step(ctx, c, "quote", func(context.Context) (int, error) {
		return 90 * dates.Nights, nil // asked of the airline once, not in every round
	})
	if err != nil {
		return Booking{}, err
	}
	if err := mrtr.Confirm(c, "confirm", fmt.Sprintf("Book %d nights in %s for %d euros?", dates.Nights, in.City, euros)); err != nil {
		return Booking{}, err
	}
	key, err := c.IdempotencyKey("book")
	if err != nil {
		return Booking{}, err
	}
	return mrtr.Step(ctx, c, "book", func(context.Context) (Booking, error) {
		_ = key // goes with the booking, so that the airline makes it once
		return Booking{Number: "B-1", Euros: euros}, nil
	})
}

// A tool that asks twice: three rounds, each of which may land on another
// process.
func Example() {
	srv := mrtr.NewServer(protocol.Implementation{Name: "travel", Version: "1.0.0"}, nil)
	mrtr.AddTool(srv, mrtr.Tool{Name: "book_trip", Description: "Books a trip."}, BookTrip)

	play(srv, mrtrtest.Call{
		Name:      "book_trip",
		Arguments: Trip{City: "Vienna"},
		Answers: mrtrtest.Answers{
			"dates":   Dates{From: "2026-09-01", Nights: 3},
			"confirm": map[string]bool{"ok": true},
		},
	})
	// Output:
	// round 1: When do you want to go to Vienna?
	// round 2: Book 3 nights in Vienna for 270 euros?
	// round 3: {"number":"B-1","euros":270}
}
