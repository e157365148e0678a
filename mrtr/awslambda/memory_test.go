package awslambda

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTuneMemory(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
	for _, tt := range []struct {
		name    string
		env     map[string]string
		percent int
		limit   int64
	}{
		{"a function", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256"}, 400, 192 << 20},
		{"settings stand", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256", "GOGC": "50", "GOMEMLIMIT": "100MiB"}, 100, math.MaxInt64},
		{"no size", nil, 400, math.MaxInt64},
		{"an odd size", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "-1"}, 400, math.MaxInt64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			debug.SetGCPercent(100)
			debug.SetMemoryLimit(math.MaxInt64)
			tuneMemory(func(name string) string { return tt.env[name] })
			require.Equal(t, tt.percent, debug.SetGCPercent(100))
			require.Equal(t, tt.limit, debug.SetMemoryLimit(-1))
		})
	}
}
