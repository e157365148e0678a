// Command rounds is the endpoint with what a test has to hold in its hands: the
// clock, the caller, and a sign of life of the handlers.
//
//	TEST_NOW                 the time, RFC 3339; unset: the real one
//	X-Test-Later             header that moves it on from then on: a duration
//	X-Test-Principal         header that names the caller; absent: nobody
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/awslambda"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func main() { awslambda.MainWith(awslambda.Options{Wrap: authenticate, Now: clock()}, newServer) }

// later is how far requests have moved the clock.
var later atomic.Int64

// clock returns a clock that stands still but for later.
func clock() func() time.Time {
	text := os.Getenv("TEST_NOW")
	if text == "" {
		return nil
	}
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rounds: TEST_NOW:", err)
		os.Exit(2)
	}
	return func() time.Time { return now.Add(time.Duration(later.Load())) }
}

func authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d, err := time.ParseDuration(r.Header.Get("X-Test-Later")); err == nil {
			later.Add(int64(d))
		}
		if subject := r.Header.Get("X-Test-Principal"); subject != "" {
			r = r.WithContext(mrtr.WithPrincipal(r.Context(), mrtr.Principal{Issuer: "https://issuer.example", Subject: subject}))
		}
		next.ServeHTTP(w, r)
	})
}

type handler = func(context.Context, *mrtr.Call, fixture.Input) (*mrtr.Result, error)

func newServer() *mrtr.Server {
	srv := mrtr.NewServer(protocol.Implementation{Name: "rounds", Version: "1"}, nil)
	for name, h := range map[string]handler{
		"test_incomplete_result_multi_round": fixture.MultiRound,
		"test_tool_with_elicitation":         fixture.Elicitation,
	} {
		mrtr.AddTool(srv, mrtr.Tool{Name: name, InputSchema: jsontext.Value(`{"type":"object"}`)}, noted(h))
	}
	return srv
}

// noted makes every run of a handler visible.
func noted(h handler) handler {
	return func(ctx context.Context, c *mrtr.Call, in fixture.Input) (*mrtr.Result, error) {
		fmt.Fprintln(os.Stderr, "handler runs")
		return h(ctx, c, in)
	}
}
