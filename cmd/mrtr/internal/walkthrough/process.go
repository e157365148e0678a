package walkthrough

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// order is what a process for one request reads first.
type order struct {
	Secret []byte `json:"secret"`
	Ahead  int64  `json:"ahead"` // of the clock, nanoseconds
}

// ServeProcess serves the endpoint's tools until in ends. It reads an order from
// in, in one line, and writes the address that it serves to out.
func ServeProcess(in io.Reader, out io.Writer) error {
	r := bufio.NewReader(in)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	var o order
	if json.Unmarshal(line, &o) != nil {
		return errors.New("the order cannot be read")
	}
	_, handler, err := newHandler(o.Secret, func() time.Time { return time.Now().Add(time.Duration(o.Ahead)) }, nil)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	if _, err := fmt.Fprintf(out, "http://%s/mcp\n", ln.Addr()); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, r)
		_ = srv.Close()
	}()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// forward serves one request by a process that lives no longer than that.
func (e *endpoint) forward(w http.ResponseWriter, r *http.Request) {
	if err := e.forwardTo(w, r); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
	}
}

func (e *endpoint) forwardTo(w http.ResponseWriter, r *http.Request) error {
	// 1. The process, and where it serves.
	cmd := e.process()
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting a process: %w", err)
	}
	defer func() {
		_ = in.Close()
		_ = cmd.Wait()
	}()
	e.mu.Lock()
	o := order{Secret: e.secret, Ahead: int64(e.ahead)}
	e.mu.Unlock()
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err := in.Write(append(line, '\n')); err != nil {
		return err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the process did not serve: %w", err)
	}
	// 2. The request. The process takes callers of its own address alone.
	to, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.pids = append(e.pids, cmd.Process.Pid)
	e.mu.Unlock()
	proxy := &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = to.Scheme, to.Host, to.Host
	}}
	proxy.ServeHTTP(w, r)
	return nil
}

// served returns the ids of the last n processes.
func (e *endpoint) served(n int) []int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]int(nil), e.pids[max(len(e.pids)-n, 0):]...)
}
