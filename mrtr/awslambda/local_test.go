package awslambda

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// pipes is a listener whose connections are in memory, so that a test's clock
// is theirs.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// connect serves h as a local run does and returns a connection to it.
func connect(t *testing.T, h http.HandlerFunc) net.Conn {
	ln := make(pipes)
	srv := localServer(h)
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	client, server := net.Pipe()
	ln <- server
	t.Cleanup(func() {
		client.Close()
		require.NoError(t, srv.Close())
		require.ErrorIs(t, <-done, http.ErrServerClosed)
	})
	return client
}

const requestHead = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"

func TestIdleUploadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took time.Duration
		var readErr error
		conn := connect(t, func(w http.ResponseWriter, r *http.Request) {
			begin := time.Now()
			_, readErr = io.ReadAll(r.Body)
			took = time.Since(begin)
			w.WriteHeader(http.StatusBadRequest)
		})
		_, err := io.WriteString(conn, requestHead+"half")
		require.NoError(t, err)
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusBadRequest, res.StatusCode)
		require.ErrorContains(t, readErr, "timeout")
		require.Equal(t, readTimeout, took)
		_, err = io.Copy(io.Discard, in)
		require.NoError(t, err, "the connection is closed")
	})
}

// A reply may stream for longer than a request may take, and the connection is
// good for another request.
func TestLongReplyAfterABody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ctxErr error
		conn := connect(t, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			for range 5 {
				select {
				case <-time.After(readTimeout):
				case <-r.Context().Done():
					ctxErr = context.Cause(r.Context())
					return
				}
				_, _ = w.Write(body)
				_ = http.NewResponseController(w).Flush()
			}
		})
		in := bufio.NewReader(conn)
		for range 2 {
			_, err := io.WriteString(conn, requestHead)
			require.NoError(t, err)
			time.Sleep(readTimeout - time.Second) // slow, and in time
			_, err = io.WriteString(conn, "0123456789")
			require.NoError(t, err)
			res, err := http.ReadResponse(in, nil)
			require.NoError(t, err)
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			require.NoError(t, ctxErr)
			require.Equal(t, strings.Repeat("0123456789", 5), string(body))
		}
	})
}

// A request without a body waits for nobody.
func TestLongReplyWithoutABody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := connect(t, func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(10 * readTimeout):
				w.WriteHeader(http.StatusNoContent)
			case <-r.Context().Done():
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		_, err := io.WriteString(conn, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n")
		require.NoError(t, err)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusNoContent, res.StatusCode)
	})
}
