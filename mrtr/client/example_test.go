package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mrtr-lambda/mrtr-lambda/conformance/fixture"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/client"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

// exampleServer serves the contract's tools.
func exampleServer() *httptest.Server {
	s := mrtr.NewServer(protocol.Implementation{Name: "example", Version: "1"}, nil)
	fixture.Register(s)
	keys, err := requeststate.NewStaticKeys(make([]byte, requeststate.MinSecretSize))
	if err != nil {
		panic(err)
	}
	h, err := s.Handler(mrtr.HandlerOptions{Keys: keys, Audience: "example", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	return httptest.NewServer(h)
}

// exampleHandlers answer forms from a table.
func exampleHandlers() *client.Handlers {
	return &client.Handlers{
		Form: func(_ context.Context, q *client.FormQuestion) (protocol.ElicitResult, error) {
			fmt.Println(q.Message)
			content := map[string]string{"step1": `{"name":"Ann"}`, "step2": `{"color":"red"}`}[q.Key]
			return protocol.ElicitResult{Action: protocol.ElicitAccept, Content: jsontext.Value(content)}, nil
		},
	}
}

func exampleSession(ctx context.Context, url string, h *client.Handlers) *mcp.ClientSession {
	c := client.New(&mcp.Implementation{Name: "example", Version: "1"}, h, nil)
	session, err := c.Connect(ctx, client.Transport(&mcp.StreamableClientTransport{Endpoint: url}), nil)
	if err != nil {
		panic(err)
	}
	return session
}

func ExampleCallToolWithInputs() {
	server := exampleServer()
	defer server.Close()
	ctx := context.Background()
	h := exampleHandlers()
	session := exampleSession(ctx, server.URL, h)
	defer func() { _ = session.Close() }()

	out, err := client.CallToolWithInputs(ctx, session, "test_incomplete_result_multi_round", nil, client.DefaultInputHandler(h), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Result.Content[0].(*mcp.TextContent).Text)
	fmt.Println(out.Rounds, "rounds")
	// Output:
	// Step 1: What is your name?
	// Step 2: What is your favorite color?
	// Hi Ann, your favorite color is red.
	// 3 rounds
}

// The first round in one process, the rest in another.
func ExampleFlow() {
	server := exampleServer()
	defer server.Close()
	ctx := context.Background()

	var file []byte
	{
		session := exampleSession(ctx, server.URL, exampleHandlers())
		flow, err := client.NewToolCall("test_incomplete_result_multi_round", nil)
		if err != nil {
			panic(err)
		}
		if err := flow.Step(ctx, session, nil); err != nil {
			panic(err)
		}
		fmt.Println("asked:", flow.Questions()[0].Key)
		if file, err = json.Marshal(flow); err != nil {
			panic(err)
		}
		_ = session.Close()
	}

	h := exampleHandlers()
	session := exampleSession(ctx, server.URL, h)
	defer func() { _ = session.Close() }()
	var flow client.Flow
	if err := json.Unmarshal(file, &flow); err != nil {
		panic(err)
	}
	if err := flow.Run(ctx, session, client.DefaultInputHandler(h), nil); err != nil {
		panic(err)
	}
	out, err := flow.ToolOutcome()
	if err != nil {
		panic(err)
	}
	fmt.Println(out.Result.Content[0].(*mcp.TextContent).Text)
	// Output:
	// asked: step1
	// Step 1: What is your name?
	// Step 2: What is your favorite color?
	// Hi Ann, your favorite color is red.
}

func ExampleFlow_Answer() {
	server := exampleServer()
	defer server.Close()
	ctx := context.Background()
	session := exampleSession(ctx, server.URL, exampleHandlers())
	defer func() { _ = session.Close() }()

	flow, err := client.NewToolCall("test_incomplete_result_multi_round", nil)
	if err != nil {
		panic(err)
	}
	for !flow.Done() {
		for _, q := range flow.Questions() {
			if err := flow.Answer(q.Key, client.Decline()); err != nil {
				panic(err)
			}
		}
		if err := flow.Step(ctx, session, nil); err != nil {
			panic(err)
		}
	}
	out, err := flow.ToolOutcome()
	if err != nil {
		panic(err)
	}
	fmt.Println(out.Result.Content[0].(*mcp.TextContent).Text)
	// Output:
	// The call ended because the question "step1" was declined.
}

func ExampleOptions() {
	server := exampleServer()
	defer server.Close()
	ctx := context.Background()
	h := exampleHandlers()
	session := exampleSession(ctx, server.URL, h)
	defer func() { _ = session.Close() }()

	_, err := client.CallToolWithInputs(ctx, session, "test_incomplete_result_multi_round", nil, client.DefaultInputHandler(h), &client.Options{
		MaxRounds: 2,
		OnRound: func(x client.Exchange) {
			var response struct {
				Result struct {
					ResultType string `json:"resultType"`
				} `json:"result"`
			}
			_ = json.Unmarshal(x.Response, &response)
			fmt.Println("round", x.Round, response.Result.ResultType)
		},
	})
	fmt.Println(err)
	// Output:
	// round 1 input_required
	// Step 1: What is your name?
	// round 2 input_required
	// client: not done after 2 rounds
}
