package dynamostore_test

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/awslambda"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/dynamostore"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func ExampleOpen() {
	newServer := func() *mrtr.Server {
		return mrtr.NewServer(protocol.Implementation{Name: "shop", Version: "1.0.0"}, nil)
	}
	// MRTR_REPLAY_TABLE names the table.
	main := func() {
		awslambda.MainWith(awslambda.Options{SingleUse: dynamostore.Open}, newServer)
	}
	_ = main
}

func ExampleNew() {
	client := dynamodb.NewFromConfig(aws.Config{Region: "eu-central-1"})
	store, err := dynamostore.New(client, dynamostore.Options{Table: "claims", Region: "eu-central-1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	opts := mrtr.HandlerOptions{SingleUse: store}
	fmt.Println(opts.SingleUse.Home())
	// Output: dynamodb:eu-central-1/claims
}
