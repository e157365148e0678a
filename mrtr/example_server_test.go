package mrtr_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrtest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// A server behind any HTTP server. Package awslambda does this for Lambda, with
// keys that KMS derives.
func ExampleServer_Handler() {
	srv := mrtr.NewServer(protocol.Implementation{Name: "shop", Version: "1.0.0"}, &mrtr.ServerOptions{
		Instructions: "Use stock before order.",
	})
	mrtr.AddTool(srv, mrtr.Tool{Name: "hello"}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) {
		return mrtr.Text("Hello."), nil
	})

	secret := make([]byte, requeststate.MinSecretSize)
	rand.Read(secret)
	keys, err := requeststate.NewStaticKeys(secret)
	if err != nil {
		panic(err)
	}
	handler, err := srv.Handler(mrtr.HandlerOptions{
		Keys:     keys,
		Audience: "shop-production",
		FlowTTL:  2 * time.Hour,
		Logger:   slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	http.Handle("/mcp", handler)
}

// What a middleware in front of the server does once it knows the caller.
func ExampleWithPrincipal() {
	authenticate := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p := mrtr.Principal{Issuer: "https://login.example", Subject: "ada"} // from a checked token
			next.ServeHTTP(w, r.WithContext(mrtr.WithPrincipal(r.Context(), p)))
		})
	}
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "who"}, func(ctx context.Context, _ *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		p, ok := mrtr.PrincipalFrom(ctx)
		return mrtr.Textf("%s %v", p.Subject, ok), nil
	})
	secret := make([]byte, requeststate.MinSecretSize)
	rand.Read(secret)
	keys, _ := requeststate.NewStaticKeys(secret)
	handler, _ := srv.Handler(mrtr.HandlerOptions{Keys: keys, Audience: "shop", Logger: slog.New(slog.DiscardHandler)})
	played := mrtrtest.Play(exampleTB{}, mrtrtest.Handler(authenticate(handler)), mrtrtest.Call{Name: "who"})
	fmt.Println(played.Text())
	// Output:
	// ada true
}

// Callers are known before anything of their requests is read.
func ExampleAuthorizationError() {
	authenticate := func(r *http.Request) (context.Context, error) {
		if r.Header.Get("Authorization") != "Bearer ada's" { // a real one checks a token
			return nil, &mrtr.AuthorizationError{Status: http.StatusUnauthorized, Challenge: "Bearer", Reason: "no_token"}
		}
		return mrtr.WithPrincipal(r.Context(), mrtr.Principal{Issuer: "https://login.example", Subject: "ada"}), nil
	}
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "who"}, func(ctx context.Context, _ *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		p, _ := mrtr.PrincipalFrom(ctx)
		return mrtr.Text(p.Subject), nil
	})
	endpoint := mrtrtest.Local(srv, func(o *mrtr.HandlerOptions) { o.Authenticate = authenticate })
	played := mrtrtest.Play(exampleTB{}, endpoint, mrtrtest.Call{
		Name: "who",
		Edit: func(_ int, r *mrtrtest.Request) { r.Header.Set("Authorization", "Bearer ada's") },
	})
	fmt.Println(played.Text())
	// Output:
	// ada
}

// A middleware that lets nobody refund who may not.
func ExampleMiddleware() {
	may := func(p mrtr.Principal, tool string) bool {
		return p.Subject == "ada" || !strings.HasPrefix(tool, "refund_")
	}
	guard := func(ctx context.Context, m mrtr.Method, next func(context.Context) error) error {
		if p, _ := mrtr.PrincipalFrom(ctx); !may(p, m.Target) {
			return mrtr.Errorf("You may not use this tool.")
		}
		return next(ctx)
	}
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "refund_order"}, func(context.Context, *mrtr.Call, struct{}) (*mrtr.Result, error) {
		return mrtr.Text("Refunded."), nil
	})
	endpoint := mrtrtest.Local(srv, func(o *mrtr.HandlerOptions) { o.Middleware = []mrtr.Middleware{guard} })
	fmt.Println(mrtrtest.Play(exampleTB{}, endpoint, mrtrtest.Call{Name: "refund_order"}).Text())
	endpoint.Caller(mrtr.Principal{Issuer: "https://login.example", Subject: "ada"})
	fmt.Println(mrtrtest.Play(exampleTB{}, endpoint, mrtrtest.Call{Name: "refund_order"}).Text())
	// Output:
	// You may not use this tool.
	// Refunded.
}

// An observer that writes a line for each round.
func ExampleObserver() {
	observe := func(ctx context.Context, info *mrtr.RoundInfo) (context.Context, func()) {
		return ctx, func() { // the reply is out, and info complete
			fmt.Println(info.Method, info.Target, info.Round, info.Outcome, info.StateBytes > 0)
		}
	}
	srv := shop()
	mrtr.AddTool(srv, mrtr.Tool{Name: "buy"}, func(_ context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		return mrtr.Text("Bought."), mrtr.Confirm(c, "confirm", "Buy it?")
	})
	endpoint := mrtrtest.Local(srv, func(o *mrtr.HandlerOptions) { o.Observers = []mrtr.Observer{observe} })
	mrtrtest.Play(exampleTB{}, endpoint, mrtrtest.Call{Name: "buy", Answers: mrtrtest.Answers{"confirm": map[string]bool{"ok": true}}, NoReplay: true})
	// Output:
	// tools/call buy 1 input_required true
	// tools/call buy 2 complete false
}

// Prompts ask as tools do, and suggest values for their arguments.
func ExampleAddPrompt() {
	srv := shop()
	mrtr.AddPrompt(srv, mrtr.Prompt{
		Name:      "review",
		Arguments: []protocol.PromptArgument{{Name: "product", Required: true}},
		Complete: map[string]mrtr.Completer{
			"product": func(_ context.Context, typed string, _ map[string]string) ([]string, error) {
				return []string{"lamp", "ladder"}, nil
			},
		},
	}, func(_ context.Context, c *mrtr.Call, args map[string]string) (*protocol.GetPromptResult, error) {
		stars, err := mrtr.Ask[struct {
			Stars int `json:"stars" form:"min=1,max=5"`
		}](c, "stars", "How many stars?")
		if err != nil {
			return nil, err
		}
		text := fmt.Sprintf("Write a review of the %s with %d stars.", args["product"], stars.Stars)
		return &protocol.GetPromptResult{Messages: []protocol.PromptMessage{{Role: "user", Content: protocol.Text(text)}}}, nil
	})
	played := mrtrtest.Play(exampleTB{}, mrtrtest.Local(srv), mrtrtest.Call{
		Method: protocol.MethodGetPrompt, Name: "review", Arguments: map[string]string{"product": "lamp"},
		Answers: mrtrtest.Answers{"stars": map[string]int{"stars": 5}},
	})
	fmt.Println(strings.Contains(string(played.Last().Response), "a review of the lamp with 5 stars"))
	// Output:
	// true
}

func ExampleAddResource() {
	srv := shop()
	mrtr.AddResource(srv, mrtr.Resource{
		URI: "shop://hours", Name: "hours", MIMEType: "text/plain",
		Cache: mrtr.Cache{TTL: time.Hour, Shared: true}, // the same for everybody
	}, func(context.Context, *mrtr.Call) ([]protocol.ResourceContents, error) {
		return []protocol.ResourceContents{{URI: "shop://hours", MIMEType: "text/plain", Text: "9 to 5"}}, nil
	})
	played := mrtrtest.Play(exampleTB{}, mrtrtest.Local(srv), mrtrtest.Call{Method: protocol.MethodReadResource, Name: "shop://hours"})
	fmt.Println(strings.Contains(string(played.Last().Response), `"text":"9 to 5"`))
	// Output:
	// true
}

func ExampleAddResourceTemplate() {
	products := map[string]string{"lamp": "A lamp."}
	srv := shop()
	mrtr.AddResourceTemplate(srv, mrtr.ResourceTemplate{URITemplate: "shop://products/{id}", Name: "product"},
		func(_ context.Context, _ *mrtr.Call, uri string, vars map[string]string) ([]protocol.ResourceContents, error) {
			text, ok := products[vars["id"]]
			if !ok {
				return nil, mrtr.ErrResourceNotFound
			}
			return []protocol.ResourceContents{{URI: uri, Text: text}}, nil
		})
	for _, uri := range []string{"shop://products/lamp", "shop://products/boat"} {
		played := mrtrtest.Play(exampleTB{}, mrtrtest.Local(srv), mrtrtest.Call{Method: protocol.MethodReadResource, Name: uri})
		fmt.Println(strings.Contains(string(played.Last().Response), "A lamp."), played.Error)
	}
	// Output:
	// true <nil>
	// false error -32602: Resource not found
}
