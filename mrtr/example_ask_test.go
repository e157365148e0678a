package mrtr_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func ExampleAsk() {
	type pizza struct {
		Size  string `json:"size" form:"title=Size,enum=small|large"`
		Count int    `json:"count" form:"title=How many?,min=1,max=20,default=1"`
	}
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "order_pizza"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		p, err := mrtr.Ask[pizza](c, "pizza", "Which pizza would you like?")
		if err != nil {
			return nil, err
		}
		return mrtr.Textf("%d %s ones are on their way.", p.Count, p.Size), nil
	})
	play(srv, mrtrtest.Call{Name: "order_pizza", Answers: mrtrtest.Answers{"pizza": pizza{"large", 2}}})
	// Output:
	// round 1: Which pizza would you like?
	// round 2: 2 large ones are on their way.
}

// What a form can hold, and how the tag describes it.
func ExampleForm() {
	type delivery struct {
		Name    string   `json:"name" form:"title=Your name,minLength=2,maxLength=80"`
		Mail    string   `json:"mail,omitzero" form:"title=Mail,format=email"` // need not be answered
		Day     string   `json:"day" form:"format=date"`
		Floor   int      `json:"floor" form:"min=0,max=40,default=0"`
		Express bool     `json:"express" form:"title=Express?,description=Costs 5 euros,, comes today"`
		Slot    string   `json:"slot" form:"enum=am|pm,enumTitles=In the morning|In the afternoon"`
		Extras  []string `json:"extras" form:"enum=gift wrap|note|receipt,maxItems=2"`
	}
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "deliver"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		var d delivery
		if err := mrtr.AskAll(c, mrtr.Form("delivery", "Where to?", &d)); err != nil {
			return nil, err
		}
		return mrtr.Textf("To %s, %s %s, %v", d.Name, d.Day, d.Slot, d.Extras), nil
	})
	play(srv, mrtrtest.Call{Name: "deliver", Answers: mrtrtest.Answers{
		// The first answer is refused, since its day is none, and asked again.
		"delivery": mrtrtest.Sequence(
			delivery{Name: "Ada", Day: "tomorrow", Slot: "am", Extras: []string{}},
			delivery{Name: "Ada", Day: "2026-09-01", Slot: "am", Extras: []string{"note"}},
		),
	}})
	// Output:
	// round 1: Where to?
	// round 2: Where to?
	// round 3: To Ada, 2026-09-01 am, [note]
}

// Several questions in one round: to the user, to the client's model, and to
// the client itself.
func ExampleAskAll() {
	type name struct {
		Name string `json:"name"`
	}
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "welcome"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		var user name
		var greeting protocol.CreateMessageResult
		var roots []protocol.Root
		err := mrtr.AskAll(c,
			mrtr.Form("name", "What is your name?", &user),
			mrtr.Sampling("greeting", protocol.CreateMessageParams{
				Messages:     []protocol.SamplingMessage{{Role: "user", Content: protocol.SamplingContent{protocol.Text("Write a greeting.")}}},
				SystemPrompt: "You are brief.",
				MaxTokens:    50,
			}, &greeting),
			mrtr.Roots("roots", &roots),
		)
		if err != nil {
			return nil, err
		}
		return mrtr.Textf("%s: %s (%d roots)", user.Name, greeting.Content[0].(*protocol.TextContent).Text, len(roots)), nil
	})
	play(srv, mrtrtest.Call{Name: "welcome", Answers: mrtrtest.Answers{
		"name":     name{"Ada"},
		"greeting": "Hello there",
		"roots":    []string{"file:///home/ada"},
	}})
	// Output:
	// round 1: What is your name? sampling/createMessage roots/list
	// round 2: Ada: Hello there (1 roots)
}

// A yes to a text is a yes to that text: where the price has changed when it
// comes, the user is asked again.
func ExampleConfirm() {
	price := 40
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "buy"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		euros := price // live: a Step would keep it as it was
		if err := mrtr.Confirm(c, "confirm", fmt.Sprintf("Buy it for %d euros?", euros)); err != nil {
			return nil, err
		}
		return mrtr.Textf("Bought for %d euros.", euros), nil
	})
	play(srv, mrtrtest.Call{
		Name:    "buy",
		Answers: mrtrtest.Answers{"confirm": map[string]bool{"ok": true}},
		Edit: func(round int, _ *mrtrtest.Request) {
			if round == 2 {
				price = 45
			}
		},
	})
	// Output:
	// round 1: Buy it for 40 euros?
	// round 2: Buy it for 45 euros?
	// round 3: Bought for 45 euros.
}

// A user signs in on a web page. That they agreed to go there says nothing of
// what they did there, so the tool looks for itself, and keeps what it saw in a
// step: before it asks, too, for a user who has been there already.
func ExampleURL() {
	visits := 0
	signedIn := func(context.Context) (bool, error) { // asks the identity service
		visits++
		return visits > 1, nil
	}
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "link_account"}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		for try := 0; ; try++ {
			done, err := mrtr.Step(ctx, c, fmt.Sprint("look ", try), signedIn)
			switch {
			case err != nil:
				return nil, err
			case done:
				return mrtr.Text("Your account is linked."), nil
			case try == 3:
				return nil, mrtr.Errorf("You are not signed in.")
			}
			if err := mrtr.AskAll(c, mrtr.URL(fmt.Sprint("sign in ", try), "Please sign in.", "https://login.example/start")); err != nil {
				return nil, err
			}
		}
	})
	play(srv, mrtrtest.Call{Name: "link_account", Answers: mrtrtest.Answers{"sign in 0": mrtrtest.Raw(`{"action":"accept"}`)}})
	// Output:
	// round 1: Please sign in.
	// round 2: Your account is linked.
}

func ExampleSampling() {
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "slogan"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		var slogan protocol.CreateMessageResult
		err := mrtr.AskAll(c, mrtr.Sampling("slogan", protocol.CreateMessageParams{
			Messages:  []protocol.SamplingMessage{{Role: "user", Content: protocol.SamplingContent{protocol.Text("A slogan for a lamp?")}}},
			MaxTokens: 40,
		}, &slogan))
		if err != nil {
			return nil, err
		}
		return mrtr.Blocks(slogan.Content[0].(*protocol.TextContent)), nil
	})
	play(srv, mrtrtest.Call{Name: "slogan", Answers: mrtrtest.Answers{"slogan": "Let there be light"}})
	// Output:
	// round 1: sampling/createMessage
	// round 2: Let there be light
}

func ExampleRoots() {
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "where"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		var roots []protocol.Root
		if err := mrtr.AskAll(c, mrtr.Roots("roots", &roots)); err != nil {
			return nil, err
		}
		return mrtr.Text(roots[0].URI), nil
	})
	play(srv, mrtrtest.Call{Name: "where", Answers: mrtrtest.Answers{"roots": []string{"file:///src"}}})
	// Output:
	// round 1: roots/list
	// round 2: file:///src
}

// A question that may be refused without ending the call.
func ExampleOptional() {
	type note struct {
		Note string `json:"note"`
	}
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "pack"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		var n note
		var hasNote bool
		if err := mrtr.AskAll(c, mrtr.Optional(mrtr.Form("note", "A note to go with it?", &n), &hasNote)); err != nil {
			return nil, err
		}
		if !hasNote {
			return mrtr.Text("Packed."), nil
		}
		return mrtr.Text("Packed, with a note."), nil
	})
	play(srv, mrtrtest.Call{Name: "pack", Answers: mrtrtest.Answers{"note": mrtrtest.Decline}})
	// Output:
	// round 1: A note to go with it?
	// round 2: Packed.
}

// A handler may return the error of a no as it is, or look at it.
func ExampleOutcomeError() {
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "delete_account"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		err := mrtr.Confirm(c, "delete", "Delete your account?")
		if errors.Is(err, mrtr.ErrDeclined) {
			return mrtr.Text("Good that you stay."), nil
		}
		if err != nil {
			return nil, err
		}
		return mrtr.Text("Gone."), nil
	})
	play(srv, mrtrtest.Call{Name: "delete_account", Answers: mrtrtest.Answers{"delete": map[string]bool{"ok": false}}})
	play(srv, mrtrtest.Call{Name: "delete_account", Answers: mrtrtest.Answers{"delete": mrtrtest.Cancel}})
	// Output:
	// round 1: Delete your account?
	// round 2: Good that you stay.
	// round 1: Delete your account?
	// round 2: The call ended because the question "delete" was cancelled.
}

// A tool asks a client for what it can give.
func ExampleCall_Capabilities() {
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "describe"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		if !c.Capabilities().SupportsSampling() {
			return mrtr.Text("A lamp."), nil
		}
		var text protocol.CreateMessageResult
		if err := mrtr.AskAll(c, mrtr.Sampling("text", protocol.CreateMessageParams{MaxTokens: 100}, &text)); err != nil {
			return nil, err
		}
		return &mrtr.Result{Content: protocol.ContentList{text.Content[0].(*protocol.TextContent)}}, nil
	})
	play(srv, mrtrtest.Call{Name: "describe", Capabilities: &protocol.ClientCapabilities{}})
	play(srv, mrtrtest.Call{Name: "describe", Answers: mrtrtest.Answers{"text": "A lamp to read by."}})
	// Output:
	// round 1: A lamp.
	// round 1: sampling/createMessage
	// round 2: A lamp to read by.
}

// A handler in the guard style keeps its own state and reads raw answers: the
// way of SDKs without a log, for porting.
func ExampleCall_RequestInput() {
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "greet"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		answer, ok := c.InputResponse("name")
		if !ok || string(c.RequestState()) != "asked" {
			return nil, c.RequestInput(protocol.InputRequests{{
				Key: "name", Method: protocol.MethodElicit,
				Params: jsontext.Value(`{"mode":"form","message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`),
			}}, []byte("asked"))
		}
		return mrtr.Textf("The answer was %s.", answer), nil
	})
	play(srv, mrtrtest.Call{Name: "greet", Answers: mrtrtest.Answers{"name": map[string]any{"name": "Ada"}}})
	// Output:
	// round 1: Your name?
	// round 2: The answer was {"action":"accept","content":{"name":"Ada"}}.
}
