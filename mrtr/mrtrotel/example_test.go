package mrtrotel_test

import (
	"bytes"
	"fmt"

	"go.opentelemetry.io/otel"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/mrtrotel"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/requeststate"
)

func ExampleObserver() {
	srv := mrtr.NewServer(protocol.Implementation{Name: "greeter", Version: "1.0.0"}, nil)
	// mrtr.AddTool(srv, …)
	keys, err := requeststate.NewStaticKeys(bytes.Repeat([]byte("?"), requeststate.MinSecretSize))
	if err != nil {
		fmt.Println(err)
		return
	}
	handler, err := srv.Handler(mrtr.HandlerOptions{
		Keys: keys, Audience: "greeter",
		Observers: []mrtr.Observer{mrtrotel.Observer(otel.GetTracerProvider(), nil)},
	})
	fmt.Println(handler != nil, err)
	// Output: true <nil>
}
