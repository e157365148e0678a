package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// latencies are times from a request's last byte to its reply's first one, by
// kind of request. They are safe for concurrent use.
type latencies struct {
	mu    sync.Mutex
	kinds []string // in the order in which they came
	times map[string][]time.Duration
}

// The kinds of requests.
const (
	kindFirst       = "first request of the run"
	kindList        = "tools/list"
	kindRound1      = "tools/call, first round"
	kindLater       = "tools/call, later rounds"
	kindBurstRound1 = "many at once, first round"
	kindBurstLater  = "many at once, later rounds"
	kindConnect     = "connecting (name, TCP, TLS)"
	kindOther       = "" // not measured
)

func (l *latencies) add(kind string, d time.Duration) {
	if kind == kindOther {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.times == nil {
		l.times = make(map[string][]time.Duration)
	}
	if l.times[kind] == nil {
		l.kinds = append(l.kinds, kind)
	}
	l.times[kind] = append(l.times[kind], d)
}

// print writes the table.
func (l *latencies) print(out io.Writer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(out, "\n%-28s %4s %9s %9s %9s\n", "milliseconds to first byte", "n", "p50", "p90", "max")
	for _, kind := range l.kinds {
		times := slices.Sorted(slices.Values(l.times[kind]))
		fmt.Fprintf(out, "%-28s %4d %9.1f %9.1f %9.1f\n", kind, len(times),
			milliseconds(percentile(times, 50)), milliseconds(percentile(times, 90)), milliseconds(times[len(times)-1]))
	}
	fmt.Fprint(out, "Cold starts are in the first request and in the first round of many at once, where instances\n"+
		"had to start for them; the log says which (coldStart).\n")
}

// percentile returns the smallest time that p per cent of all do not exceed. It
// wants them sorted, and at least one.
func percentile(times []time.Duration, p int) time.Duration {
	return times[(len(times)*p+99)/100-1]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
