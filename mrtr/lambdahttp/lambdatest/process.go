package lambdatest

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// process is one running bootstrap with a Runtime API of its own.
type process struct {
	opts    *Options
	cmd     *exec.Cmd
	server  *http.Server
	log     *os.File // a file, so that what was written before a reply is there when the reply is
	started time.Time

	ready   chan struct{}    // the process asked for an event
	work    chan *invocation // taken by the request that asked
	failed  chan *InitError  // the process reported that its init failed
	exited  chan struct{}
	counted chan struct{} // its CPU time is in the API's sum

	mu       sync.Mutex
	current  map[string]*invocation // by request id
	init     time.Duration
	saw      bool // an invocation was handed over
	lastLogs string
	killOnce sync.Once
}

func newProcess(opts *Options) (*process, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("lambdatest: listening: %w", err)
	}
	log, err := os.CreateTemp("", "lambdatest-*.log")
	if err != nil {
		ln.Close()
		return nil, fmt.Errorf("lambdatest: making a log file: %w", err)
	}
	p := &process{
		opts: opts, log: log, started: time.Now(),
		ready: make(chan struct{}, 1), work: make(chan *invocation), failed: make(chan *InitError, 1),
		exited: make(chan struct{}), counted: make(chan struct{}), current: make(map[string]*invocation),
	}
	p.server = &http.Server{Handler: p.routes()}
	go func() { _ = p.server.Serve(ln) }()

	p.cmd = exec.Command(opts.Bootstrap, opts.Args...)
	p.cmd.Dir = opts.Dir
	p.cmd.Env = append(lambdaEnv(opts, ln.Addr().String()), opts.Env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		p.server.Close()
		p.removeLog()
		return nil, fmt.Errorf("lambdatest: starting the bootstrap: %w", err)
	}
	go func() {
		_ = p.cmd.Wait() // its outcome is in ProcessState
		close(p.exited)
	}()
	return p, nil
}

// lambdaEnv returns the variables that Lambda sets, without credentials.
func lambdaEnv(opts *Options, api string) []string {
	env := []string{
		"AWS_LAMBDA_RUNTIME_API=" + api,
		"AWS_LAMBDA_FUNCTION_NAME=" + opts.FunctionName,
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=128",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME=/aws/lambda/" + opts.FunctionName,
		"AWS_LAMBDA_LOG_STREAM_NAME=2026/01/01/[$LATEST]" + hex(16),
		"AWS_REGION=" + opts.Region,
		"AWS_DEFAULT_REGION=" + opts.Region,
		"LAMBDA_TASK_ROOT=" + filepath.Dir(opts.Bootstrap),
		"LAMBDA_RUNTIME_DIR=" + filepath.Dir(opts.Bootstrap),
		"_HANDLER=bootstrap",
		"LANG=en_US.UTF-8",
		"TZ=:UTC",
		"PATH=/usr/local/bin:/usr/bin:/bin",
	}
	if opts.Concurrency > 1 {
		env = append(env, "AWS_LAMBDA_MAX_CONCURRENCY="+strconv.Itoa(opts.Concurrency))
	}
	return env
}

// awaitInit waits until the process asks for its first event.
func (p *process) awaitInit(ctx context.Context) error {
	timer := time.NewTimer(p.opts.InitTimeout)
	defer timer.Stop()
	select {
	case <-p.ready:
		p.init = time.Since(p.started)
		return nil
	case e := <-p.failed:
		e.Logs = p.logs(0)
		return e
	case <-p.exited:
		select {
		case e := <-p.failed: // reported before it exited
			e.Logs = p.logs(0)
			return e
		default:
		}
		return &InitError{Type: "Runtime.ExitError", Message: p.exitMessage(), Logs: p.logs(0)}
	case <-timer.C:
		return &InitError{Type: "Sandbox.Timedout", Message: fmt.Sprintf("init timed out after %s", p.opts.InitTimeout), Logs: p.logs(0)}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// invoke hands over one event and waits for its end.
func (p *process) invoke(ctx context.Context, event []byte, chunk func(string, []byte)) (*Result, error) {
	timer := time.NewTimer(p.opts.Timeout)
	defer timer.Stop()
	inv := &invocation{
		event: event, chunk: chunk, deadline: time.Now().Add(p.opts.Timeout),
		begun: make(chan struct{}), done: make(chan struct{}),
	}
	inv.result = &Result{RequestID: requestID(), PID: p.cmd.Process.Pid}
	var from int64
	p.mu.Lock()
	if !p.saw {
		p.saw = true
		inv.result.Cold, inv.result.Init = true, p.init
	} else {
		from = p.logSize()
	}
	p.current[inv.result.RequestID] = inv
	p.mu.Unlock()
	start := time.Now()
	res, err := inv.result, error(nil)
	work, done, answered := p.work, inv.done, false
wait:
	for {
		var ready chan struct{}
		if answered {
			ready = p.ready
		}
		select {
		case work <- inv:
			work = nil
		case <-done:
			done, answered = nil, true
			res.Duration = time.Since(start)
			if p.opts.Concurrency > 1 {
				break wait // which of them asks for the next event is not known
			}
		case <-ready:
			break wait
		case <-p.exited:
			res.Exited = true
			if !p.settle(inv) {
				res.FunctionError = &FunctionError{Type: "Runtime.ExitError",
					Message: "RequestId: " + res.RequestID + " Error: " + p.exitMessage()}
			}
			break wait
		case <-timer.C:
			p.kill()
			p.settle(inv)
			res.Exited = true
			res.FunctionError = &FunctionError{Type: "Sandbox.Timedout",
				Message: fmt.Sprintf("RequestId: %s Error: Task timed out after %.2f seconds", res.RequestID, p.opts.Timeout.Seconds())}
			break wait
		case <-ctx.Done():
			p.kill()
			p.settle(inv)
			err = ctx.Err()
			break wait
		}
	}
	p.mu.Lock()
	delete(p.current, res.RequestID)
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	res.Logs = p.logs(from)
	return res, nil
}

// settle ends an invocation whose process is gone: it waits for the end of an
// answer that has begun, and keeps one from beginning. It reports which it was.
func (p *process) settle(inv *invocation) bool {
	p.mu.Lock()
	begun := inv.hasBegun()
	if !begun {
		delete(p.current, inv.result.RequestID)
	}
	p.mu.Unlock()
	if begun {
		<-inv.done
	}
	return begun
}

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// exitMessage says how the process ended, in Lambda's words.
func (p *process) exitMessage() string {
	if p.cmd.ProcessState.Success() {
		return "Runtime exited without providing a reason"
	}
	return "Runtime exited with error: " + p.cmd.ProcessState.String()
}

// kill ends the process if it runs, and the Runtime API that it had.
func (p *process) kill() {
	p.killOnce.Do(func() {
		_ = p.cmd.Process.Kill() // fails when it has exited
		<-p.exited
		p.server.Close()
		<-p.counted
		logs := p.logs(0)
		p.mu.Lock()
		p.lastLogs = logs
		p.mu.Unlock()
		p.removeLog()
	})
}

func (p *process) removeLog() {
	p.log.Close()
	os.Remove(p.log.Name())
}

// logs returns what the process has written from an offset on.
func (p *process) logs(from int64) string {
	p.mu.Lock()
	last := p.lastLogs
	p.mu.Unlock()
	if last != "" {
		return last[min(from, int64(len(last))):]
	}
	b, err := io.ReadAll(io.NewSectionReader(p.log, from, 1<<40))
	if err != nil {
		return ""
	}
	return string(b)
}

func (p *process) logSize() int64 {
	info, err := p.log.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// requestID returns a random UUID.
func requestID() string {
	h := hex(16)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

// hex returns n random bytes in hexadecimal.
func hex(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return fmt.Sprintf("%x", b)
}
