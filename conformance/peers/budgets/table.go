package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// results are the least values of benchmarks, by name without Benchmark and
// the number of processors, then by unit.
type results map[string]map[string]float64

// read adds the benchmarks in the output of go test.
func (r results) read(from io.Reader) error {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		name, ok := strings.CutPrefix(lines.Text(), "Benchmark")
		fields := strings.Fields(name)
		if !ok || len(fields) < 4 {
			continue
		}
		name = fields[0]
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			if _, err := strconv.Atoi(name[i+1:]); err == nil {
				name = name[:i]
			}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return fmt.Errorf("benchmark %s: %w", name, err)
			}
			r.add(name, fields[i+1], v)
		}
	}
	return lines.Err()
}

func (r results) add(name, unit string, v float64) {
	if r[name] == nil {
		r[name] = make(map[string]float64)
	}
	if old, ok := r[name][unit]; !ok || v < old {
		r[name][unit] = v
	}
}

// get returns what was measured; not a number where that is nothing.
func (r results) get(name, unit string) float64 {
	if v, ok := r[name][unit]; ok {
		return v
	}
	return math.NaN()
}

// line is one budget.
type line struct{ what, budget, measured, verdict string }

// table returns the budgets in the order of the design. What measuring itself
// costs is taken off where servers are compared.
func (r results) table() []line {
	const cpu, bytes = "cpu-ns/op", "B/op"
	net := func(name, unit string) float64 { return r.get(name, unit) - r.get("Harness", unit) }
	warm := r.get("Warm/mcp", "child-cpu-ns/event") - r.get("Warm/echo", "child-cpu-ns/event")
	echo := r.get("Cold/echo", "cold-ns/op")
	cold, slow := r.get("Cold/mcp", "cold-ns/op"), r.get("Cold/mcp-kms-30ms-tls", "cold-ns/op")
	return []line{
		{"budget", "at most", "measured", ""},
		atMost("call: CPU, share of the official SDK's", 1.0/20, net("Call/mrtr", cpu)/net("Call/official-sdk", cpu), "%.3f"),
		atMost("call: bytes, share of the official SDK's", 1.0/20, net("Call/mrtr", bytes)/net("Call/official-sdk", bytes), "%.3f"),
		atMost("call: CPU, share of mcp-go's", 1.0/8, net("Call/mrtr", cpu)/net("Call/mcp-go", cpu), "%.3f"),
		atMost("call: bytes, share of mcp-go's", 1.0/8, net("Call/mrtr", bytes)/net("Call/mcp-go", bytes), "%.3f"),
		atMost("round with 1 kB of state: CPU, calls", 2, net("DiaryRound", cpu)/net("Call/mrtr", cpu), "%.1f"),
		atMost("warm over an echo: CPU, µs", 40, warm/1e3, "%.0f"),
		atMost("cold start: share of an echo's", 1.6, cold/echo, "%.2f"),
		atMost("cold start over an echo, ms", 10, (cold-echo)/1e6, "%.1f"),
		atMost("the same, KMS at 30 ms over TLS, ms", 50, (slow-echo)/1e6, "%.1f"),
		atMost("KMS calls of a warm event", 0, r.get("Warm/mcp", "kms-calls/event"), "%.0f"),
		atMost("KMS calls of a cold start", 1, r.get("Cold/mcp", "kms-calls/op"), "%.0f"),
		atMost("token with 1 kB of answers, bytes", r.get("DiaryRound", "token-budget"), r.get("DiaryRound", "token-bytes"), "%.0f"),
		atMost("binary, MB", 10, r.get("size", "binary")/1e6, "%.2f"),
		atMost("zip, MB", 4, r.get("size", "zip")/1e6, "%.2f"),
	}
}

// atMost compares, as shown.
func atMost(what string, budget, measured float64, format string) line {
	l := line{what, fmt.Sprintf(format, budget), fmt.Sprintf(format, measured), "ok"}
	switch {
	case math.IsNaN(measured) || math.IsNaN(budget):
		l.measured, l.verdict = "-", "not measured"
	case measured > budget:
		l.verdict = "over"
	}
	return l
}
