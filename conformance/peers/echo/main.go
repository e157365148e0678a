// Command echo is a Lambda function that sends back the bytes it is sent: what
// the runtime library itself costs. The benchmarks measure functions/mcp beside
// it.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
)

type echo struct{}

var _ lambda.Handler = echo{}

func (echo) Invoke(_ context.Context, payload []byte) ([]byte, error) { return payload, nil }

func main() { lambda.Start(echo{}) }
