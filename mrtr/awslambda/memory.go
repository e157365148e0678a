package awslambda

import (
	"runtime/debug"
	"strconv"
)

// tuneMemory lets the heap of a function grow to what the function has before
// the garbage collector runs often: a request allocates some kilobytes, and a
// collection costs more than several requests. GOGC and GOMEMLIMIT, where they
// are set, stand.
func tuneMemory(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if mb, err := strconv.ParseInt(getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"), 10, 64); err == nil && mb > 0 && getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(mb << 20 * 3 / 4)
	}
}
