package lambdatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The payload limits of Lambda, in bytes, for events and buffered replies.
const (
	MaxEvent = 6 << 20
	MaxReply = 6<<20 + 100
)

// ErrClosed is returned by Invoke after Close.
var ErrClosed = errors.New("lambdatest: closed")

// Options say what to run and how. Bootstrap is required.
type Options struct {
	Bootstrap string   // path of the binary
	Args      []string // its arguments; Lambda gives none
	Dir       string   // its working directory; empty: the folder of Bootstrap

	// Env is added to the variables that Lambda sets, as "NAME=value"; a later
	// value of a name wins. Nothing is inherited from this process, credentials
	// and AWS_CA_BUNDLE in particular.
	Env []string

	Fresh     bool // a new process for each invocation, killed after it
	Instances int  // processes at most; zero: 1

	// Concurrency is how many invocations a process gets at one time, which it is
	// told in AWS_LAMBDA_MAX_CONCURRENCY. Above 1 an invocation ends with its
	// reply, its Result's Logs hold those of others too, and Fresh is ignored.
	// Zero: 1.
	Concurrency int

	Timeout     time.Duration // of an invocation; zero: 30 s
	InitTimeout time.Duration // from process start to readiness; zero: 10 s

	FunctionName string // zero: "lambdatest"
	Region       string // zero: "eu-central-1"
}

// API is a fake Runtime API with the processes that it serves. Its methods may
// be called concurrently.
type API struct {
	opts  Options
	slots chan *slot // each instance's, once for each invocation that it may get

	mu     sync.Mutex
	live   map[*process]struct{}
	closed bool
	cpu    time.Duration
}

// slot is the place of one instance.
type slot struct {
	mu sync.Mutex // held while a process starts
	p  *process   // nil where none runs
}

// Start makes an API. Unless Options.Fresh is set, it starts all instances and
// waits until each asks for its first event; an instance that does not get there
// is an *InitError. Callers must Close the API.
func Start(ctx context.Context, opts Options) (*API, error) {
	path, err := filepath.Abs(opts.Bootstrap)
	if err != nil {
		return nil, fmt.Errorf("lambdatest: finding the bootstrap: %w", err)
	}
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return nil, fmt.Errorf("lambdatest: no bootstrap at %q", opts.Bootstrap)
	}
	opts.Bootstrap = path
	if opts.Dir == "" {
		opts.Dir = filepath.Dir(path)
	}
	if opts.Instances <= 0 {
		opts.Instances = 1
	}
	if opts.Concurrency <= 0 {
		opts.Concurrency = 1
	}
	opts.Fresh = opts.Fresh && opts.Concurrency == 1
	if opts.Timeout <= 0 {
		opts.Timeout = 30 * time.Second
	}
	if opts.InitTimeout <= 0 {
		opts.InitTimeout = 10 * time.Second
	}
	if opts.FunctionName == "" {
		opts.FunctionName = "lambdatest"
	}
	if opts.Region == "" {
		opts.Region = "eu-central-1"
	}
	a := &API{opts: opts, slots: make(chan *slot, opts.Instances*opts.Concurrency), live: make(map[*process]struct{})}
	slots := make([]slot, opts.Instances)
	for range opts.Concurrency {
		for i := range slots {
			a.slots <- &slots[i]
		}
	}
	if opts.Fresh {
		return a, nil
	}
	errs := make([]error, opts.Instances)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { slots[i].p, errs[i] = a.spawn(ctx) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		a.Close()
		if errs[0] != nil {
			return nil, errs[0] // unjoined, for errors.As and a readable text
		}
		return nil, err
	}
	return a, nil
}

// Invoke hands one event to an idle process, or to a new one where none runs,
// and waits until that process asks for the next event or exits. What the
// function does wrong is in the Result; the error is for what kept the event from
// being handled: an *InitError, the context's error (the process is then
// killed), an event over MaxEvent, or ErrClosed.
func (a *API) Invoke(ctx context.Context, event []byte) (*Result, error) {
	return a.InvokeFunc(ctx, event, nil)
}

// InvokeFunc is Invoke that also calls chunk, if not nil, for each piece of the
// reply as it arrives, with the reply's content type. The process's writes are
// held up while chunk runs. Calls end before InvokeFunc returns.
func (a *API) InvokeFunc(ctx context.Context, event []byte, chunk func(contentType string, data []byte)) (*Result, error) {
	if len(event) > MaxEvent {
		return nil, fmt.Errorf("lambdatest: event of %d bytes is over the limit of %d", len(event), MaxEvent)
	}
	var s *slot
	select {
	case s = <-a.slots:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { a.slots <- s }()
	p, err := a.running(ctx, s)
	if err != nil {
		return nil, err
	}
	res, err := p.invoke(ctx, event, chunk)
	if a.opts.Fresh || p.hasExited() {
		p.kill()
	}
	if err == nil && a.opts.Fresh {
		res.Logs = p.logs(0)
	}
	return res, err
}

// Close kills the processes. Invocations that run end as with any process that
// exits.
func (a *API) Close() error {
	a.mu.Lock()
	a.closed = true
	live := make([]*process, 0, len(a.live))
	for p := range a.live {
		live = append(live, p)
	}
	a.mu.Unlock()
	for _, p := range live {
		p.kill()
	}
	return nil
}

// CPUTime returns the user and system time that ended processes took.
func (a *API) CPUTime() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cpu
}

// running returns the slot's process, a new one where none runs.
func (a *API) running(ctx context.Context, s *slot) (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.p != nil && !s.p.hasExited() {
		return s.p, nil
	}
	if s.p != nil {
		s.p.kill()
	}
	var err error
	s.p, err = a.spawn(ctx)
	return s.p, err
}

func (a *API) isClosed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closed
}

// spawn starts a process and waits until it asks for an event.
func (a *API) spawn(ctx context.Context) (*process, error) {
	if a.isClosed() {
		return nil, ErrClosed
	}
	p, err := newProcess(&a.opts)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	closed := a.closed
	if !closed {
		a.live[p] = struct{}{}
	}
	a.mu.Unlock()
	go func() {
		<-p.exited
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.live, p)
		a.cpu += p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
		close(p.counted)
	}()
	if closed {
		p.kill()
		return nil, ErrClosed
	}
	if err := p.awaitInit(ctx); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}
