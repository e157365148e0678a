// Command bootstrap is a Lambda function for lambdatest's own tests. Its events
// say what it does.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

type event struct {
	Do   string
	Text string
	Body string // of an HTTP request: an event in itself
}

func main() {
	fmt.Println("init")
	if os.Getenv("FAIL_INIT") != "" {
		url := "http://" + os.Getenv("AWS_LAMBDA_RUNTIME_API") + "/2018-06-01/runtime/init/error"
		body := strings.NewReader(`{"errorType":"Config.Missing","errorMessage":"no key"}`)
		if resp, err := http.Post(url, "application/json", body); err == nil {
			resp.Body.Close()
		}
		os.Exit(3)
	}
	if os.Getenv("EXIT_INIT") != "" {
		fmt.Fprintln(os.Stderr, "bootstrap: no key")
		os.Exit(4)
	}
	if os.Getenv("HANG_INIT") != "" {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt) // so that blocking is no deadlock to the Go runtime
		select {}
	}
	lambda.Start(handle)
}

func handle(ctx context.Context, ev event) (any, error) {
	if ev.Body != "" {
		if err := json.Unmarshal([]byte(ev.Body), &ev); err != nil {
			return nil, err
		}
	}
	fmt.Println("handling " + ev.Do)
	switch ev.Do {
	case "fail":
		return nil, errors.New(ev.Text)
	case "panic":
		panic(ev.Text)
	case "exit":
		os.Exit(5)
	case "hang":
		<-make(chan struct{})
	case "large":
		return strings.Repeat("x", 7<<20), nil
	case "reader":
		return io.MultiReader(strings.NewReader(ev.Text), failing{}), nil
	case "stuck":
		return io.MultiReader(strings.NewReader(ev.Text), stuck{}), nil
	case "prelude": // with whatever head the event has
		return &streamed{strings.NewReader(ev.Text)}, nil
	case "context":
		lc, _ := lambdacontext.FromContext(ctx)
		deadline, ok := ctx.Deadline()
		return map[string]any{"id": lc.AwsRequestID, "arn": lc.InvokedFunctionArn, "deadline": deadline.UnixMilli(), "has": ok,
			"trace": ctx.Value("x-amzn-trace-id"), "env": os.Environ()}, nil
	}
	return json.RawMessage(ev.Text), nil
}

// failing is a reader that fails.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("mid-stream") }

// stuck is a reader that never ends.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, <-make(chan error) }

// streamed is a reader with the content type of streamed HTTP replies.
type streamed struct{ io.Reader }

func (*streamed) ContentType() string { return "application/vnd.awslambda.http-integration-response" }

func (*streamed) MarshalJSON() ([]byte, error) { return nil, errors.New("not JSON") }
