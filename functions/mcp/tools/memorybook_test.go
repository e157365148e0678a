package tools_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/functions/mcp/tools"
)

func TestMemoryBook(t *testing.T) {
	ctx, book := t.Context(), tools.NewMemoryBook()
	quote, err := book.Quote(ctx, "A-1004", tools.ChangedMind)
	require.NoError(t, err)
	require.Equal(t, tools.Quote{Order: "A-1004", Item: "Headphones", Reason: tools.ChangedMind, Amount: tools.Money{Cents: 12050, Currency: "USD"}}, quote)
	require.Equal(t, "120.50 USD", quote.Amount.String())

	first, err := book.Refund(ctx, "key", quote)
	require.NoError(t, err)
	require.Equal(t, quote.Amount, first.Amount)
	require.NotContains(t, first.Refund, "key")
	again, err := book.Refund(ctx, "key", quote)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.EqualValues(t, 12050, book.Refunded("A-1004"))

	_, err = book.Quote(ctx, "A-1004", tools.ChangedMind)
	require.ErrorIs(t, err, tools.ErrNothingLeft)
	_, err = book.Refund(ctx, "another key", quote)
	require.ErrorIs(t, err, tools.ErrChanged)
	other := quote
	other.Amount.Cents = 1
	_, err = book.Refund(ctx, "key", other)
	require.Error(t, err, "one key for two refunds")
	_, err = book.Quote(ctx, "A-9999", tools.Late)
	require.ErrorIs(t, err, tools.ErrNoOrder)
	_, err = book.Refund(ctx, "a third key", tools.Quote{Order: "A-9999"})
	require.ErrorIs(t, err, tools.ErrNoOrder)
	require.EqualValues(t, 12050, book.Refunded("A-1004"))
}
