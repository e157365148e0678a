// Command mcp is the deployed endpoint: an AWS Lambda function, or a local
// server where there is no Lambda.
package main

import (
	"github.com/mrtr-lambda/mrtr-lambda/functions/mcp/tools"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/awslambda"
)

func main() { awslambda.Main(tools.NewServer) }
