package awslambda

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
	"path/filepath"
	"syscall"
	"time"
)

// defaultAddr is where the local server listens where nothing else is said.
const defaultAddr = "127.0.0.1:8080"

// parseFlags reads the command line of a local run. It returns flag.ErrHelp,
// with the usage written to help, for -h.
func parseFlags(args []string, help io.Writer) (addr string, err error) {
	flags := flag.NewFlagSet(filepath.Base(args[0]), flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line, and the caller's
	flags.StringVar(&addr, "addr", defaultAddr, "loopback `address` to serve on; port 0 picks one")
	switch err := flags.Parse(args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(help, "usage: %s [flags]\n", flags.Name())
		flags.SetOutput(help)
		flags.PrintDefaults()
		return "", err
	case err != nil:
		return "", fmt.Errorf("reading the command line: %w", err)
	case flags.NArg() > 0:
		return "", fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("-addr: %q is no host:port", addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("-addr: %q is no loopback address; a local run serves callers of this machine alone", addr)
	}
	return addr, nil
}

// readTimeout is how long a request may take to arrive, its body included.
const readTimeout = 30 * time.Second

// localServer returns a server that waits for no client for long: not for a
// request, and not for the next one. A reply may take any time.
func localServer(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: readTimeout, IdleTimeout: 2 * time.Minute}
}

// serveLocal serves until the process is interrupted, then lets requests under
// way finish.
func serveLocal(addr string, h http.Handler, kms bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	srv := localServer(h)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()

	url := "http://" + ln.Addr().String() + "/mcp"
	fmt.Println(url)
	keys := "random keys, made for this run: states end with it"
	if kms {
		keys = "the KMS key of MRTR_KMS_KEY_ID"
	}
	fmt.Fprintf(os.Stderr, `mrtr: serving MCP on %[1]s under %[2]s; ctrl-c ends it
To connect a client, add this to its configuration:
  {"mcpServers": {"local": {"type": "http", "url": "%[1]s"}}}
or ask for the tools by hand:
  curl %[1]s -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/list' \
    -d '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}'
`, url, keys)

	select {
	case err := <-served:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	stop() // a second ctrl-c ends the process at once
	shutdown, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := srv.Shutdown(shutdown); err != nil {
		return fmt.Errorf("ending: %w", err)
	}
	return nil
}
