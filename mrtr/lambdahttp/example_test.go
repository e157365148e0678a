package lambdahttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
)

func ExampleStart() {
	// The main function of a bootstrap binary.
	main := func() {
		hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "hello")
		})
		lambdahttp.Start(hello, lambdahttp.ModeBuffered, lambdahttp.Options{})
	}
	_ = main
}

func ExampleHandler() {
	h := lambdahttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = fmt.Fprintf(w, "hello from %s", r.URL.Path)
	}), lambdahttp.Options{})
	reply, err := h.Invoke(context.Background(), []byte(`{
		"version": "2.0", "rawPath": "/here",
		"requestContext": {"domainName": "api.example.com", "stage": "$default", "http": {"method": "GET"}}}`))
	fmt.Println(string(reply), err)
	// Output: {"statusCode":200,"headers":{"Content-Type":"text/plain"},"body":"hello from /here","isBase64Encoded":false} <nil>
}

func ExampleRequestContext() {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if inv, ok := lambdahttp.RequestContext(r.Context()); ok {
			fmt.Println(inv.Kind, inv.RequestID, string(inv.Authorizer))
		}
	})
	_, _ = lambdahttp.Handler(h, lambdahttp.Options{}).Invoke(context.Background(), []byte(`{
		"version": "2.0", "rawPath": "/",
		"requestContext": {"requestId": "abc=", "http": {"method": "GET"}, "authorizer": {"jwt": {"claims": {"sub": "alice"}}}}}`))
	// Output: http-api abc= {"jwt": {"claims": {"sub": "alice"}}}
}
