package mrtr

import (
	"context"
	"fmt"
	"path"
	"runtime"
	"strings"
)

// bounded calls an author's function: a panic becomes an error, and where ctx
// has a deadline the function has a goroutine of its own, which is left behind
// when it does not return in time; late is called then. name is for the log.
func bounded[T any](ctx context.Context, name string, late func(), call func() (T, error)) (T, error) {
	if _, ok := ctx.Deadline(); !ok {
		return protected(name, call)
	}
	type returned struct {
		value T
		err   error
	}
	done := make(chan returned, 1)
	go func() {
		growStack()
		v, err := protected(name, call)
		done <- returned{v, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done: // it returned at the same moment
		return r.value, r.err
	default:
		late()
		var zero T
		return zero, internal("timeout", fmt.Errorf("%q did not return in time: %w", name, ctx.Err()))
	}
}

// protected calls an author's function and turns a panic into an error.
func protected[T any](name string, call func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			var zero T
			v, err = zero, internal("panic", panicError(name, p))
		}
	}()
	return call()
}

// growStack makes a new goroutine's stack large enough for most handlers in one
// go. It costs a fraction of growing it by doubling below JSON that is being
// decoded.
//
//go:noinline
func growStack() {
	var room [12 << 10]byte
	runtime.KeepAlive(&room)
}

// panicError describes a panic by its kind and place. Its value and the
// arguments on the stack may be anything that the author's code had in hand, so
// they are left out; so are the numbers in errors of the Go runtime.
func panicError(name string, p any) error {
	what := fmt.Sprintf("%T", p)
	if e, ok := p.(runtime.Error); ok {
		what = strings.Map(func(c rune) rune {
			if '0' <= c && c <= '9' {
				return '#'
			}
			return c
		}, e.Error())
	}
	return fmt.Errorf("%q panicked (%s)\n%s", name, what, places())
}

// places lists the functions on the stack below the one that panicked.
func places() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	var b strings.Builder
	for {
		f, more := frames.Next()
		if f.Function != "runtime.gopanic" {
			fmt.Fprintf(&b, "  %s (%s:%d)\n", f.Function, path.Base(f.File), f.Line)
		}
		if !more {
			return strings.TrimSuffix(b.String(), "\n")
		}
	}
}
