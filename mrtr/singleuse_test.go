package mrtr_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// elsewhere is a store of another place.
type elsewhere struct{ mrtr.MemoryStore }

func (*elsewhere) Home() string { return "elsewhere" }

func TestSingleUse(t *testing.T) {
	type amount struct {
		Cents int `json:"cents"`
	}
	var paid atomic.Int64
	newServer := func() *mrtr.Server {
		srv := mrtr.NewServer(protocol.Implementation{Name: "test", Version: "1"}, nil)
		mrtr.AddTool(srv, mrtr.Tool{Name: "pay"}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
			a, err := mrtr.Ask[amount](c, "amount", "How much?")
			if err != nil {
				return nil, err
			}
			if err := c.SingleUse(ctx); err != nil {
				return nil, err
			}
			paid.Add(int64(a.Cents))
			return mrtr.Textf("paid %d", a.Cents), nil
		})
		return srv
	}
	with := func(store mrtr.SingleUseStore) func(*mrtr.HandlerOptions) {
		return func(o *mrtr.HandlerOptions) { o.SingleUse = store }
	}
	answers := mrtrtest.Answers{"amount": amount{5}}
	// forked sends round 2 once with other answers before it plays on.
	var first string
	forked := func(n int, r *mrtrtest.Request) {
		if n == 2 {
			r.Params["requestState"] = first
			r.Params["inputResponses"] = map[string]any{"amount": map[string]any{"action": "accept", "content": amount{7}}}
		}
	}

	t.Run("a retry passes, a fork does not", func(t *testing.T) {
		paid.Store(0)
		store := new(mrtr.MemoryStore)
		endpoint := mrtrtest.Fresh(newServer, with(store))
		played := mrtrtest.Play(t, endpoint, mrtrtest.Call{Name: "pay", Answers: answers, Drop: func(n int) bool { return n == 2 }})
		require.Equal(t, "paid 5", played.Text())
		require.EqualValues(t, 10, paid.Load(), "a step would have run twice as well: effects need an idempotency key")
		first = played.Rounds[0].State
		played = mrtrtest.Play(t, endpoint, mrtrtest.Call{Name: "pay", Answers: answers, Edit: forked})
		require.True(t, played.Result.IsError)
		require.Equal(t, "This call has been continued already, with other answers. Start it again.", played.Text())
		require.EqualValues(t, 10, paid.Load())
	})
	t.Run("begun elsewhere", func(t *testing.T) {
		paid.Store(0)
		var store mrtr.SingleUseStore = new(mrtr.MemoryStore)
		endpoint := mrtrtest.Fresh(newServer, func(o *mrtr.HandlerOptions) { o.SingleUse = store })
		played := mrtrtest.Play(t, endpoint, mrtrtest.Call{Name: "pay", Answers: answers, Edit: func(n int, _ *mrtrtest.Request) {
			if n == 2 {
				store = new(elsewhere)
			}
		}})
		require.Contains(t, played.Text(), "begun elsewhere")
		require.Zero(t, paid.Load())
	})
	t.Run("no store", func(t *testing.T) {
		played := mrtrtest.Play(t, mrtrtest.Local(newServer()), mrtrtest.Call{Name: "pay", Answers: answers})
		require.True(t, played.Result.IsError)
		require.NotContains(t, played.Text(), "HandlerOptions")
	})
	t.Run("first round", func(t *testing.T) {
		paid.Store(0)
		played := mrtrtest.Play(t, mrtrtest.Local(newServer(), with(new(mrtr.MemoryStore))), mrtrtest.Call{Name: "pay", Edit: func(_ int, r *mrtrtest.Request) {
			r.Params["inputResponses"] = map[string]any{"amount": map[string]any{"action": "accept", "content": amount{7}}}
		}})
		require.True(t, played.Result.IsError)
		require.Zero(t, paid.Load())
	})
	t.Run("anonymous", func(t *testing.T) {
		paid.Store(0)
		played := mrtrtest.Play(t, mrtrtest.Local(newServer(), with(new(mrtr.MemoryStore)), func(o *mrtr.HandlerOptions) { o.AllowAnonymous = false }),
			mrtrtest.Call{Name: "pay", Answers: answers})
		require.Contains(t, played.Text(), "signed in")
		require.Zero(t, paid.Load())
	})
}

// A fork with the same answers, to which a step of an earlier round made
// something else, is a fork.
func TestSingleUseStepsOfEarlierRounds(t *testing.T) {
	type text struct {
		Text string `json:"text"`
	}
	quote, paid := 100, []int(nil)
	srv := mrtr.NewServer(protocol.Implementation{Name: "test", Version: "1"}, nil)
	mrtr.AddTool(srv, mrtr.Tool{Name: "pay"}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		if _, err := mrtr.Ask[text](c, "who", "Who?"); err != nil {
			return nil, err
		}
		price, err := mrtr.Step(ctx, c, "quote", func(context.Context) (int, error) { return quote, nil })
		if err != nil {
			return nil, err
		}
		if _, err := mrtr.Ask[text](c, "sure", "Sure?"); err != nil {
			return nil, err
		}
		late, err := mrtr.Step(ctx, c, "late", func(context.Context) (int, error) { return len(paid), nil }) // differs in a retry, and may
		if err != nil {
			return nil, err
		}
		if err := c.SingleUse(ctx); err != nil {
			return nil, err
		}
		paid = append(paid, price)
		return mrtr.Textf("paid %d, %d before", price, late), nil
	})
	endpoint := mrtrtest.Local(srv, func(o *mrtr.HandlerOptions) { o.SingleUse = new(mrtr.MemoryStore) })
	answers := mrtrtest.Answers{"who": text{"bob"}, "sure": text{"yes"}}
	first := mrtrtest.Play(t, endpoint, mrtrtest.Call{Name: "pay", Answers: answers, Drop: func(n int) bool { return n == 3 }})
	require.False(t, first.Result.IsError, first.Text())
	require.Equal(t, []int{100, 100}, paid, "a retry of the last round passes")

	quote = 80
	fork := mrtrtest.Play(t, endpoint, mrtrtest.Call{Name: "pay", Answers: answers, Edit: func(n int, r *mrtrtest.Request) {
		if n == 2 {
			r.Params["requestState"] = first.Rounds[0].State
		}
	}})
	require.True(t, fork.Result.IsError, fork.Text())
	require.Equal(t, []int{100, 100}, paid)
}
