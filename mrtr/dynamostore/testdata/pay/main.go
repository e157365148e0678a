// Command pay is an endpoint with one single-use tool. Its caller is Ann.
package main

import (
	"context"
	"net/http"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/awslambda"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/dynamostore"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func main() {
	awslambda.MainWith(awslambda.Options{Wrap: ann, SingleUse: dynamostore.Open}, newServer)
}

func ann(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(mrtr.WithPrincipal(r.Context(), mrtr.Principal{Issuer: "https://issuer.example", Subject: "ann"})))
	})
}

type amount struct {
	Cents int `json:"cents"`
}

func newServer() *mrtr.Server {
	srv := mrtr.NewServer(protocol.Implementation{Name: "pay", Version: "1"}, nil)
	mrtr.AddTool(srv, mrtr.Tool{Name: "pay"}, func(ctx context.Context, c *mrtr.Call, _ struct{}) (*mrtr.Result, error) {
		a, err := mrtr.Ask[amount](c, "amount", "How much?")
		if err != nil {
			return nil, err
		}
		if err := c.SingleUse(ctx); err != nil {
			return nil, err
		}
		return mrtr.Textf("paid %d", a.Cents), nil
	})
	return srv
}
