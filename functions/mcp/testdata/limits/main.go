// Command limits is an endpoint whose tools go to the limits of Lambda and of
// its gateways.
//
//	TEST_MEETING  URL that the tool meets waits for
package main

import (
	"context"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/awslambda"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func main() { awslambda.Main(newServer) }

type input struct {
	Size int `json:"size,omitzero"` // of the reply's text
}

func newServer() *mrtr.Server {
	srv := mrtr.NewServer(protocol.Implementation{Name: "limits", Version: "1"}, nil)
	add := func(name string, h func(context.Context, *mrtr.Call, input) (*mrtr.Result, error)) {
		mrtr.AddTool(srv, mrtr.Tool{Name: name}, h)
	}
	add("waits", func(ctx context.Context, _ *mrtr.Call, _ input) (*mrtr.Result, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("hangs", func(context.Context, *mrtr.Call, input) (*mrtr.Result, error) {
		<-make(chan struct{}) // whatever its context says
		return nil, nil
	})
	add("begins", func(ctx context.Context, c *mrtr.Call, _ input) (*mrtr.Result, error) {
		c.Progress(1, 2, "one of two")
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("deadline", func(ctx context.Context, _ *mrtr.Call, _ input) (*mrtr.Result, error) {
		end, ok := ctx.Deadline()
		if !ok {
			return mrtr.Text("none"), nil
		}
		return mrtr.Text(time.Until(end).String()), nil
	})
	add("meets", func(ctx context.Context, _ *mrtr.Call, _ input) (*mrtr.Result, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, os.Getenv("TEST_MEETING"), nil)
		if err != nil {
			return nil, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		return mrtr.Text("met"), resp.Body.Close()
	})
	add("plain", func(_ context.Context, _ *mrtr.Call, in input) (*mrtr.Result, error) {
		return mrtr.Text(strings.Repeat("x", in.Size)), nil
	})
	add("quotes", func(_ context.Context, _ *mrtr.Call, in input) (*mrtr.Result, error) { // four bytes each in the reply: escaped twice
		return mrtr.Text(strings.Repeat(`"`, in.Size)), nil
	})
	add("panics", func(context.Context, *mrtr.Call, input) (*mrtr.Result, error) { panic("not-a-secret") })
	return srv
}
