// Command refunds is the endpoint with an order book that all its processes
// share: the one behind BOOK_URL. The header X-Test-Principal names the caller.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/go-json-experiment/json"

	"github.com/mrtr-lambda/mrtr-lambda/functions/mcp/tools"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/awslambda"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

func main() { awslambda.MainWith(awslambda.Options{Wrap: authenticate}, newServer) }

func authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := mrtr.Principal{Issuer: "https://issuer.example", Subject: r.Header.Get("X-Test-Principal")}
		next.ServeHTTP(w, r.WithContext(mrtr.WithPrincipal(r.Context(), p)))
	})
}

func newServer() *mrtr.Server {
	srv := mrtr.NewServer(protocol.Implementation{Name: "refunds", Version: "1"}, nil)
	tools.Refunds{Book: remoteBook(os.Getenv("BOOK_URL"))}.Register(srv)
	return srv
}

// remoteBook is an order book behind a URL.
type remoteBook string

var _ tools.OrderBook = remoteBook("")

func (b remoteBook) Quote(ctx context.Context, order string, reason tools.Reason) (q tools.Quote, err error) {
	err = b.post(ctx, "/quote", tools.RefundRequest{Order: order, Reason: reason}, "", &q)
	return q, err
}

func (b remoteBook) Refund(ctx context.Context, key string, q tools.Quote) (r tools.Receipt, err error) {
	err = b.post(ctx, "/refund", q, key, &r)
	return r, err
}

func (b remoteBook) post(ctx context.Context, path string, in any, key string, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, string(b)+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Idempotency-Key", key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the book answered with status %d", resp.StatusCode)
	}
	return json.UnmarshalRead(resp.Body, out)
}
