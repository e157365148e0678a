package main

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	r := results{}
	require.NoError(t, r.read(strings.NewReader(`goos: linux
cpu: Something-2
BenchmarkCall/mrtr-2   	  100	 2000 ns/op	 1500 cpu-ns/op	 40 B/op	 3 allocs/op
BenchmarkCall/mrtr-2   	  100	 1900 ns/op	 1600 cpu-ns/op	 40 B/op	 3 allocs/op
BenchmarkWarm/mcp      	    7	 9 ns/op	 8.5 child-cpu-ns/event
BenchmarkNoResult
PASS
`)))
	require.Equal(t, results{
		"Call/mrtr": {"ns/op": 1900, "cpu-ns/op": 1500, "B/op": 40, "allocs/op": 3},
		"Warm/mcp":  {"ns/op": 9, "child-cpu-ns/event": 8.5},
	}, r)
	require.True(t, math.IsNaN(r.get("Cold/mcp", "cold-ns/op")))
	require.Error(t, r.read(strings.NewReader("BenchmarkX 1 many ns/op\n")))
}

func TestTable(t *testing.T) {
	r := results{}
	r.add("Harness", "cpu-ns/op", 1000)
	r.add("Call/official-sdk", "cpu-ns/op", 101_000)
	r.add("Call/mrtr", "cpu-ns/op", 5000)
	r.add("DiaryRound", "cpu-ns/op", 9001)
	verdicts := map[string]line{}
	for _, l := range r.table() {
		verdicts[l.what] = l
	}
	require.Len(t, verdicts, len(r.table()), "a line's name is its own")
	l := verdicts["call: CPU, share of the official SDK's"]
	require.Equal(t, []string{"0.050", "0.040", "ok"}, []string{l.budget, l.measured, l.verdict})
	l = verdicts["round with 1 kB of state: CPU, calls"]
	require.Equal(t, []string{"2.0", "2.0", "over"}, []string{l.budget, l.measured, l.verdict})
	l = verdicts["zip, MB"]
	require.Equal(t, []string{"-", "not measured"}, []string{l.measured, l.verdict})
}
