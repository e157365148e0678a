package main_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// The README shows the code from here on.

type Order struct {
	Pizza string `json:"pizza"`
}

type Details struct {
	Size  string `json:"size" form:"title=Size,enum=small|large"`
	Count int    `json:"count" form:"title=How many?,min=1,max=20,default=1"`
}

type Address struct {
	Street string `json:"street" form:"minLength=3"`
}

func OrderPizza(_ context.Context, c *mrtr.Call, in Order) (*mrtr.Result, error) {
	details, err := mrtr.Ask[Details](c, "details", "Which "+in.Pizza+" would you like?")
	if err != nil {
		return nil, err // not answered yet: this round ends here
	}
	to, err := mrtr.Ask[Address](c, "address", "Where shall we bring it?")
	if err != nil {
		return nil, err
	}
	return mrtr.Textf("%d %s %s to %s", details.Count, details.Size, in.Pizza, to.Street), nil
}

func NewServer() *mrtr.Server {
	srv := mrtr.NewServer(protocol.Implementation{Name: "pizzeria", Version: "1.0.0"}, nil)
	mrtr.AddTool(srv, mrtr.Tool{Name: "order_pizza", Description: "Orders pizza."}, OrderPizza)
	return srv
}

func TestOrderPizza(t *testing.T) {
	played := mrtrtest.Play(t, mrtrtest.Local(NewServer()), mrtrtest.Call{
		Name:      "order_pizza",
		Arguments: Order{Pizza: "margherita"},
		Answers: mrtrtest.Answers{
			"details": Details{Size: "large", Count: 2},
			"address": mrtrtest.Sequence(Address{Street: "?"}, Address{Street: "Main Street 1"}),
		},
	})
	require.Equal(t, "2 large margherita to Main Street 1", played.Text())
	require.Len(t, played.Rounds, 4) // the address was asked again: too short
}
