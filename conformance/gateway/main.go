// Command gateway serves a Lambda bootstrap over HTTP on loopback, so that a
// client that knows nothing of Lambda can judge it: each request becomes the
// event of an API Gateway, and real processes of the bootstrap answer it, with a
// fake KMS behind them. Requests go to the processes in turn. It prints the URL
// of the endpoint.
//
//	gateway [-kind http-api|rest-api|function-url] [-stream] [-instances N] BOOTSTRAP
//
// Nothing of its own environment reaches the bootstrap.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/kmskeys/kmstest"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp"
	"github.com/mrtr-lambda/mrtr-lambda/mrtr/lambdahttp/lambdatest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "gateway: %v\n", err)
		os.Exit(1)
	}
}

// kinds are the values of -kind.
var kinds = []lambdatest.Kind{lambdatest.HTTPAPI, lambdatest.REST, lambdatest.FunctionURL}

// run serves until ctx ends. The first line that it writes to out is the URL.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
	kind := flags.String("kind", string(lambdatest.HTTPAPI), "what stands in front of the function: http-api, rest-api or function-url")
	stream := flags.Bool("stream", false, "the gateway takes streamed replies, and the function streams them")
	instances := flags.Int("instances", 4, "`processes` of the function, so requests at one time")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return fmt.Errorf("reading the command line: %w", err)
	}
	switch {
	case flags.NArg() != 1:
		return errors.New("name one bootstrap")
	case !slices.Contains(kinds, lambdatest.Kind(*kind)):
		return fmt.Errorf("-kind: %q is none of %q", *kind, kinds)
	}

	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	defer ln.Close()
	origin := "http://" + ln.Addr().String()

	kms := kmstest.NewServer(kmstest.Options{})
	defer kms.Close()
	key := kms.CreateKey(kmstest.KeyOptions{})
	mode := lambdahttp.ModeBuffered
	if *stream {
		mode = lambdahttp.ModeStream
	}
	api, err := lambdatest.Start(ctx, lambdatest.Options{
		Bootstrap: flags.Arg(0), Instances: *instances,
		Env: append(kms.Env(), "MRTR_KMS_KEY_ID="+key.ARN, "MRTR_AUDIENCE="+origin, "MRTR_ALLOWED_ORIGINS="+origin, "MRTR_RESPONSE_MODE="+string(mode)),
	})
	if err != nil {
		return err
	}
	defer api.Close()

	srv := &http.Server{Handler: api.HTTPHandler(lambdatest.Kind(*kind)), ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	fmt.Fprintln(out, origin+"/mcp")
	select {
	case err := <-served:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	return srv.Close()
}
