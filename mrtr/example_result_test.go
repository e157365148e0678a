package mrtr_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// A type that a handler returns becomes structured content, and its schema the
// tool's output schema.
func ExampleAddTool() {
	type product struct {
		ID string `json:"id" jsonschema:"number of the product"`
	}
	type stock struct {
		Count int `json:"count"`
	}
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "stock", Description: "Says how many there are."},
		func(_ context.Context, _ *mrtr.Call, in product) (stock, error) { return stock{Count: 7}, nil })
	play(srv, mrtrtest.Call{Name: "stock", Arguments: product{"L-1"}})
	// Output:
	// round 1: {"count":7}
}

// Results in one line each.
func ExampleResult() {
	png := []byte("\x89PNG…")
	structured, _ := mrtr.JSON(map[string]int{"count": 7})
	for _, r := range []*mrtr.Result{
		mrtr.Text("There are some."),
		mrtr.Textf("There are %d.", 7),
		structured,
		mrtr.Image(png, "image/png"),
		mrtr.Audio([]byte("RIFF…"), "audio/wav"),
		mrtr.Link("shop://lamp", "The lamp"),
		mrtr.Embed(protocol.ResourceContents{URI: "shop://lamp", MIMEType: "text/plain", Text: "A lamp."}),
		mrtr.Blocks(protocol.Text("It looks like this:"), &protocol.ImageContent{Data: png, MIMEType: "image/png"}),
		{Content: protocol.ContentList{protocol.Text("There are none.")}, IsError: true},
	} {
		fmt.Printf("%d %T %v\n", len(r.Content), r.Content[0], r.IsError)
	}
	// Output:
	// 1 *protocol.TextContent false
	// 1 *protocol.TextContent false
	// 1 *protocol.TextContent false
	// 1 *protocol.ImageContent false
	// 1 *protocol.AudioContent false
	// 1 *protocol.ResourceLink false
	// 1 *protocol.EmbeddedResource false
	// 2 *protocol.TextContent false
	// 1 *protocol.TextContent true
}

// The text of an error of Errorf is for the client; that of any other is for
// the log.
func ExampleErrorf() {
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "closed"}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) {
		return nil, mrtr.Errorf("The shop opens at %d.", 9)
	})
	mrtr.AddTool(srv, mrtr.Tool{Name: "broken"}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) {
		return nil, errors.New("dial tcp 10.0.0.7:5432: connection refused")
	})
	play(srv, mrtrtest.Call{Name: "closed"})
	play(srv, mrtrtest.Call{Name: "broken"})
	// Output:
	// round 1: The shop opens at 9.
	// round 1: The tool failed. The reason is in the server's log.
}

func ExampleCall_Progress() {
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "pack"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		for i := range 3 {
			c.Progress(float64(i+1), 3, fmt.Sprintf("parcel %d", i+1))
		}
		c.Log(protocol.LevelDebug, "packing", map[string]int{"parcels": 3})
		return mrtr.Text("3 parcels"), nil
	})
	play(srv, mrtrtest.Call{Name: "pack"}) // this client wants neither
	// Output:
	// round 1: 3 parcels
}
