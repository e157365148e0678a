package tools_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/functions/mcp/tools"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// desk returns a server with the tool, and the book behind it.
func desk() (*mrtr.Server, *tools.MemoryBook) {
	book := tools.NewMemoryBook()
	srv := mrtr.NewServer(protocol.Implementation{Name: "desk", Version: "1"}, nil)
	tools.Refunds{Book: book}.Register(srv)
	return srv, book
}

var (
	lamp = tools.RefundRequest{Order: "A-1002", Reason: tools.Damaged}
	yes  = map[string]any{"ok": true}
	no   = map[string]any{"ok": false}
)

func TestRefundOrder(t *testing.T) {
	srv, book := desk()
	played := mrtrtest.Play(t, mrtrtest.Local(srv), mrtrtest.Call{
		Name:    "refund_order",
		Answers: mrtrtest.Answers{"order": lamp, "confirm": yes},
	})
	require.Len(t, played.Rounds, 3)
	require.Contains(t, string(played.Rounds[1].Response), "Refund 44.85 EUR for order A-1002 (Desk lamp)?")
	require.Contains(t, string(played.Result.StructuredContent), `"order":"A-1002","amount":{"cents":4485,"currency":"EUR"}`)
	require.EqualValues(t, 4485, book.Refunded("A-1002"))
}

func TestRefundOrderRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers mrtrtest.Answers
		want    string
	}{
		{"a no", mrtrtest.Answers{"order": lamp, "confirm": no}, `The call ended because the question "confirm" was declined.`},
		{"a decline", mrtrtest.Answers{"order": lamp, "confirm": mrtrtest.Decline}, `The call ended because the question "confirm" was declined.`},
		{"no order chosen", mrtrtest.Answers{"order": mrtrtest.Cancel}, `The call ended because the question "order" was cancelled.`},
		{"no such order", mrtrtest.Answers{"order": tools.RefundRequest{Order: "A-9999", Reason: tools.Late}}, "There is no such order."},
		{"nothing left", mrtrtest.Answers{"order": tools.RefundRequest{Order: "A-1003", Reason: tools.ChangedMind}}, "This order has been refunded in full."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv, book := desk()
			played := mrtrtest.Play(t, mrtrtest.Local(srv), mrtrtest.Call{Name: "refund_order", Answers: tt.answers})
			require.True(t, played.Result.IsError)
			require.Equal(t, tt.want, played.Text())
			require.Zero(t, book.Refunded("A-1002"))
		})
	}
}

// The last reply is lost and the client sends the round again: the money goes
// out once.
func TestRefundOrderOnce(t *testing.T) {
	srv, book := desk()
	played := mrtrtest.Play(t, mrtrtest.Local(srv), mrtrtest.Call{
		Name:    "refund_order",
		Answers: mrtrtest.Answers{"order": lamp, "confirm": yes},
		Drop:    func(round int) bool { return round == 3 },
	})
	require.False(t, played.Result.IsError, played.Text())
	require.EqualValues(t, 4485, book.Refunded("A-1002"))
}

// Somebody else refunds the order while the user thinks about the question.
func TestRefundOrderChanged(t *testing.T) {
	srv, book := desk()
	played := mrtrtest.Play(t, mrtrtest.Local(srv), mrtrtest.Call{
		Name:    "refund_order",
		Answers: mrtrtest.Answers{"order": lamp, "confirm": yes},
		Edit: func(round int, _ *mrtrtest.Request) {
			if round == 3 {
				_, err := book.Refund(t.Context(), "another flow's key", tools.Quote{Order: "A-1002", Reason: tools.Late, Amount: tools.Money{Cents: 490, Currency: "EUR"}})
				require.NoError(t, err)
			}
		},
	})
	require.True(t, played.Result.IsError)
	require.Equal(t, tools.ErrChanged.Error(), played.Text())
	require.EqualValues(t, 490, book.Refunded("A-1002"))
}
