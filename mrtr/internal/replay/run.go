package replay

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
)

// Run is one pass of a handler over a log. It belongs to one goroutine; its
// methods report use from several at once as misuse, and never race. Only Close
// may come from another goroutine at any time.
type Run struct {
	came   int                       // entries that the log had at the start
	signed bool                      // the log came from a token
	fresh  map[string]jsontext.Value // answers that came with this request

	busy    atomic.Bool // a method is under way, a step's function included
	misused atomic.Bool // a method met another one under way

	mu      sync.Mutex // guards the rest; not held while a step's function runs
	log     Log
	next    int                 // entries that this run has passed
	seen    map[string]struct{} // keys and step names of this run
	err     error               // the first pending, divergence, misuse or step error: sticky
	closed  bool
	pending []Question          // those that wait, of the open group
	invalid map[string][]string // what is wrong with answers to pending, by key
}

// The kinds of error that end a run.
var (
	// ErrPending: the group that the log ends with has questions to send.
	ErrPending = errors.New("input required")
	// ErrDiverged is wrapped by errors that name the first difference between
	// the run and the log.
	ErrDiverged = errors.New("the handler's questions and steps differ from those of earlier rounds")
	// ErrMisuse is wrapped by errors that tell the author what to do otherwise.
	ErrMisuse = errors.New("misuse")
)

var (
	errConcurrent = fmt.Errorf("%w: asking or stepping inside a step, or from two goroutines at once", ErrMisuse)
	errEnded      = fmt.Errorf("%w: the call has ended", ErrMisuse)
)

// NewRun starts a run over log, which belongs to the run from now on. signed
// says that it came out of a token, so that only answers to its open group
// count.
func NewRun(log Log, signed bool, answers map[string]jsontext.Value) *Run {
	return &Run{log: log, came: len(log.Entries), signed: signed, fresh: answers}
}

// Signed reports whether earlier rounds are in the log.
func (r *Run) Signed() bool { return r.signed }

// enter begins a method. Where it returns an error, the method returns that
// and does nothing; otherwise leave ends the method.
func (r *Run) enter() error {
	if !r.busy.CompareAndSwap(false, true) {
		r.misused.Store(true)
		return errConcurrent
	}
	r.mu.Lock()
	if err := r.standing(); err != nil {
		r.leave()
		return err
	}
	return nil
}

func (r *Run) leave() {
	r.mu.Unlock()
	r.busy.Store(false)
}

// standing returns the error that ends whatever the handler does, nil while
// there is none.
func (r *Run) standing() error {
	switch {
	case r.closed:
		return errEnded
	case r.misused.Load():
		return r.fail(errConcurrent)
	}
	return r.err
}

// fail makes err sticky, unless there is a sticky error, and returns the one
// that holds.
func (r *Run) fail(err error) error {
	if r.err == nil {
		r.err = err
	}
	return r.err
}

// once records a name of this run, which may come once.
func (r *Run) once(what, name string) error {
	k := what + " " + name
	if _, ok := r.seen[k]; ok {
		return r.fail(fmt.Errorf("%w: %s %q twice in one run", ErrMisuse, what, name))
	}
	if r.seen == nil {
		r.seen = make(map[string]struct{}, 8)
	}
	r.seen[k] = struct{}{}
	return nil
}

// guarded makes it a divergence that a handler asks or steps whose earlier
// rounds kept a state of their own.
func (r *Run) guarded() error {
	if r.log.Own == nil && r.log.Asked == nil {
		return nil
	}
	return r.fail(fmt.Errorf("%w: earlier rounds asked with RequestInput, this one does otherwise", ErrDiverged))
}

// Yield ends the run as pending without a question, so that the client's retry
// goes on after what is logged. It reports false, and the run goes on, where
// that would gain nothing: while the run still passes logged entries, where the
// log has not grown since the last yield, and after max yields.
func (r *Run) Yield(max int) (bool, error) {
	if err := r.enter(); err != nil {
		return false, err
	}
	defer r.leave()
	if r.next < len(r.log.Entries) || r.next <= r.log.YieldAt || r.log.Yields >= max {
		return false, nil
	}
	r.log.Yields++
	r.log.YieldAt = r.next
	return true, r.fail(ErrPending)
}

// Passed returns, in one way to write it, what the run has passed so far and a
// retry of its request would pass as well: answers, and steps that came with the
// log. Steps that this run took are left out.
func (r *Run) Passed() ([]byte, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	var passed Log
	for i, e := range r.log.Entries[:r.next] {
		if e.Step == "" || i < r.came {
			passed.Entries = append(passed.Entries, e)
		}
	}
	return passed.Append(nil)
}

// Guard ends the run as pending on behalf of a handler that keeps its own
// state: it has asked nothing and stepped over nothing before. commit is called
// where that is so, and never after End or Close.
func (r *Run) Guard(commit func()) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	switch {
	case r.next > 0:
		return r.fail(fmt.Errorf("%w: RequestInput after Ask or Step", ErrMisuse))
	case len(r.log.Entries) > 0:
		return r.fail(fmt.Errorf("%w: earlier rounds asked with Ask or Step, this one with RequestInput", ErrDiverged))
	}
	commit()
	r.fail(ErrPending)
	return nil
}

// Fail makes err the run's sticky error, unless there is one, and returns the
// one that holds.
func (r *Run) Fail(err error) error {
	if standing := r.enter(); standing != nil {
		return standing
	}
	defer r.leave()
	return r.fail(err)
}

// Close ends the run of a handler that has not returned in time. What the
// handler does with it later is an error and changes nothing.
func (r *Run) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// End closes the run, whose handler has returned with or without success, and
// returns what overrides the handler's result: pending, divergence and misuse
// always; success before the log is used up is a divergence, and success after
// a failed step is that step's error. After Close it returns nil.
func (r *Run) End(success bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	switch {
	case r.misused.Load(), r.busy.Load(): // busy: the handler left a goroutine in a step
		return errConcurrent
	case errors.Is(r.err, ErrPending), errors.Is(r.err, ErrDiverged), errors.Is(r.err, ErrMisuse):
		return r.err
	case success && r.err != nil:
		return r.err
	case success && r.next < len(r.log.Entries):
		return fmt.Errorf("%w: the handler ended before %v at %d", ErrDiverged, &r.log.Entries[r.next], r.next)
	}
	return nil
}

// Log returns the log: before End as it came, of which only the guard-style
// parts may be read then, after End as the run has left it.
func (r *Run) Log() *Log { return &r.log }

// Pending returns the questions that wait for an answer, those of the log's
// last group. Call it after End.
func (r *Run) Pending() []Question { return r.pending }

// Invalid returns what is wrong with answers of this request that could not be
// used, by key of the question that is asked again. Call it after End.
func (r *Run) Invalid() map[string][]string { return r.invalid }
