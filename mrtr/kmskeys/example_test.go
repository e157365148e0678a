package kmskeys_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

func ExampleNew() {
	server := kmstest.NewServer(kmstest.Options{}) // stands for AWS KMS
	defer server.Close()
	server.SetAlias("alias/mrtr", server.CreateKey(kmstest.KeyOptions{}))

	keys, err := kmskeys.New(server.Client(), kmskeys.Options{
		KeyID:    "alias/mrtr",
		Audience: "https://mcp.example.com/prod",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	keys.Start(context.Background())
	// … the rest of the process's start …
	if err := keys.Wait(context.Background(), 5*time.Second); err != nil {
		fmt.Println(err)
	}

	ctx, calls := requeststate.WithCalls(context.Background()) // one request
	key, err := keys.SealKey(ctx, requeststate.PurposeTool, requeststate.Salt{})
	calls.Join(ctx)
	fmt.Println(key.Mode, err, calls.Count(), server.Count())
	// Output: derived <nil> 0 1
}

func ExampleError() {
	server := kmstest.NewServer(kmstest.Options{})
	defer server.Close()
	key := server.CreateKey(kmstest.KeyOptions{})
	key.SetState(kmstest.Disabled)

	keys, err := kmskeys.New(server.Client(), kmskeys.Options{KeyID: key.ID, Audience: "prod"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = keys.SealKey(context.Background(), requeststate.PurposeTool, requeststate.Salt{})
	failed, ok := errors.AsType[*kmskeys.Error](err)
	fmt.Println(ok && failed.Kind == kmskeys.KindDisabled, errors.Is(err, requeststate.ErrUnavailable))
	// Output: true true
}
