package main

import (
	"fmt"
	"io"
)

// report prints a line for each check.
type report struct {
	out                     io.Writer
	passed, failed, skipped int
}

// pass says that a check held.
func (r *report) pass(check, format string, args ...any) {
	r.passed++
	r.line("pass", check, format, args...)
}

// fail says that a check did not hold, and why.
func (r *report) fail(check, format string, args ...any) {
	r.failed++
	r.line("FAIL", check, format, args...)
}

// skip says why a check was not made.
func (r *report) skip(check, format string, args ...any) {
	r.skipped++
	r.line("skip", check, format, args...)
}

// judge passes the check, or fails it with the error.
func (r *report) judge(err error, check, format string, args ...any) bool {
	if err != nil {
		r.fail(check, "%v", err)
		return false
	}
	r.pass(check, format, args...)
	return true
}

func (r *report) line(verdict, check, format string, args ...any) {
	fmt.Fprintf(r.out, "%s  %-38s  %s\n", verdict, check, fmt.Sprintf(format, args...))
}

// end prints the sum and reports whether nothing failed.
func (r *report) end() bool {
	fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	return r.failed == 0
}
