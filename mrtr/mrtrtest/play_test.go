package mrtrtest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

type in struct{}

type name struct {
	Name string `json:"name"`
}

// wrong are handlers with a mistake each, and what Play says of it.
var wrong = map[string]struct {
	handle func(context.Context, *mrtr.Call, in) (*mrtr.Result, error)
	want   string
}{
	"time": {func(_ context.Context, c *mrtr.Call, _ in) (*mrtr.Result, error) {
		_, err := mrtr.Ask[name](c, "name", "It is "+time.Now().String()+". Who are you?")
		return mrtr.Text("done"), err
	}, `changed question "name"`},
	"randomness": {func(_ context.Context, c *mrtr.Call, _ in) (*mrtr.Result, error) {
		err := mrtr.Confirm(c, "sure", fmt.Sprint("Draw ", rand.Int64(), "?"))
		return mrtr.Text("done"), err
	}, `changed question "sure"`},
	"map order": {func(_ context.Context, c *mrtr.Call, _ in) (*mrtr.Result, error) {
		m := make(map[string]bool)
		for i := range 1000 {
			m[fmt.Sprint("key", i)] = true
		}
		for key := range m {
			if _, err := mrtr.Ask[name](c, key, "Who?"); err != nil {
				return nil, err
			}
		}
		return mrtr.Text("done"), nil
	}, "replaying the round"},
	"key": {func(_ context.Context, c *mrtr.Call, _ in) (*mrtr.Result, error) {
		_, err := mrtr.Ask[name](c, fmt.Sprint("key", rand.Int64()), "Who?")
		return mrtr.Text("done"), err
	}, "does the key depend on time"},
	"an answer that does not fit": {func(_ context.Context, c *mrtr.Call, _ in) (*mrtr.Result, error) {
		_, err := mrtr.Ask[name](c, "unfit", "Who?")
		return mrtr.Text("done"), err
	}, `round 1: the answer to "unfit" does not fit: /name is required`},
	"a failure": {func(_ context.Context, c *mrtr.Call, _ in) (*mrtr.Result, error) {
		return nil, errors.New("the database is down")
	}, "the server's log says: the database is down"},
	"swallowed": {func(_ context.Context, c *mrtr.Call, _ in) (*mrtr.Result, error) {
		n, _ := mrtr.Ask[name](c, "name", "Who are you?")
		return mrtr.Text("Hello, " + n.Name), nil
	}, "told it to return its error"},
	"step": {func(ctx context.Context, c *mrtr.Call, _ in) (*mrtr.Result, error) {
		_, err := mrtr.Step(ctx, c, "now", func(context.Context) (time.Time, error) { return time.Now(), nil })
		return mrtr.Text("done"), err
	}, "does not survive JSON"},
	"form": {func(_ context.Context, c *mrtr.Call, _ in) (*mrtr.Result, error) {
		_, err := mrtr.Ask[struct{ Nested struct{ A int } }](c, "name", "Who are you?")
		return mrtr.Text("done"), err
	}, `question "name"`},
}

// TestWrong runs each wrong handler in a test process of its own, which Play
// fails.
func TestWrong(t *testing.T) {
	if which := os.Getenv("MRTRTEST_WRONG"); which != "" {
		srv := mrtr.NewServer(protocol.Implementation{Name: "test", Version: "1"}, nil)
		mrtr.AddTool(srv, mrtr.Tool{Name: "wrong"}, wrong[which].handle)
		played := mrtrtest.Play(t, mrtrtest.Local(srv), mrtrtest.Call{Name: "wrong", Answers: mrtrtest.Answers{
			"name": name{"Alice"}, "sure": map[string]any{"ok": true}, "unfit": map[string]any{"nmae": "Bob"},
		}})
		require.False(t, played.Result.IsError)
		return
	}
	for which, tt := range wrong {
		t.Run(which, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestWrong$")
			cmd.Env = append(os.Environ(), "MRTRTEST_WRONG="+which)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "Play let it pass: %s", out)
			require.Contains(t, string(out), tt.want)
		})
	}
}

func twoRounds() *mrtr.Server {
	srv := mrtr.NewServer(protocol.Implementation{Name: "test", Version: "1"}, nil)
	mrtr.AddTool(srv, mrtr.Tool{Name: "two"}, func(ctx context.Context, c *mrtr.Call, _ in) (*mrtr.Result, error) {
		first, err := mrtr.Ask[name](c, "first", "First name?")
		if err != nil {
			return nil, err
		}
		salt, err := mrtr.Step(ctx, c, "salt", func(context.Context) (int64, error) { return rand.Int64(), nil })
		if err != nil {
			return nil, err
		}
		last, err := mrtr.Ask[name](c, "last", fmt.Sprintf("Last name? (%d)", salt))
		if err != nil {
			return nil, err
		}
		return mrtr.Text(first.Name + " " + last.Name), nil
	})
	return srv
}

func TestEndpoints(t *testing.T) {
	answers := mrtrtest.Answers{"first": name{"Ada"}, "last": name{"Lovelace"}}
	for _, tt := range []struct {
		name     string
		endpoint *mrtrtest.Endpoint
		edit     func(*mrtrtest.Endpoint) func(int, *mrtrtest.Request)
		drop     func(int) bool
		want     string
	}{
		{name: "local", endpoint: mrtrtest.Local(twoRounds())},
		{name: "a new server a round", endpoint: mrtrtest.Fresh(twoRounds)},
		{name: "replies lost", endpoint: mrtrtest.Fresh(twoRounds), drop: func(n int) bool { return n > 1 }},
		{name: "keys rotated", endpoint: mrtrtest.Fresh(twoRounds), edit: func(e *mrtrtest.Endpoint) func(int, *mrtrtest.Request) {
			return func(int, *mrtrtest.Request) { e.RotateKeys(false) }
		}},
		{name: "keys forgotten", endpoint: mrtrtest.Local(twoRounds()), want: "requestState", edit: func(e *mrtrtest.Endpoint) func(int, *mrtrtest.Request) {
			return func(n int, _ *mrtrtest.Request) {
				if n == 2 {
					e.RotateKeys(true)
				}
			}
		}},
		{name: "expired", endpoint: mrtrtest.Local(twoRounds()), want: "requestState", edit: func(e *mrtrtest.Endpoint) func(int, *mrtrtest.Request) {
			return func(n int, _ *mrtrtest.Request) {
				if n == 3 {
					e.Advance(11 * time.Minute)
				}
			}
		}},
		{name: "another caller", endpoint: mrtrtest.Local(twoRounds()), want: "requestState", edit: func(e *mrtrtest.Endpoint) func(int, *mrtrtest.Request) {
			return func(n int, _ *mrtrtest.Request) { e.Caller(mrtr.Principal{Issuer: "i", Subject: fmt.Sprint(n)}) }
		}},
		{name: "tampered", endpoint: mrtrtest.Local(twoRounds()), want: "requestState", edit: func(*mrtrtest.Endpoint) func(int, *mrtrtest.Request) {
			return func(n int, r *mrtrtest.Request) {
				if n == 2 {
					r.Params["requestState"] = strings.ToUpper(r.Params["requestState"].(string))
				}
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			call := mrtrtest.Call{Name: "two", Answers: answers, Drop: tt.drop}
			if tt.edit != nil {
				call.Edit = tt.edit(tt.endpoint)
			}
			played := mrtrtest.Play(t, tt.endpoint, call)
			if tt.want == "" {
				tt.want = "Ada Lovelace"
				require.Len(t, played.Rounds, 3)
			}
			require.Contains(t, played.Text(), tt.want)
		})
	}
}
