package server

import (
	"fmt"
	"io"
	"maps"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Metrics are in the text format of Prometheus. Labels are names of operations and statuses, of which
// there are few; no name of a client, a ledger or a file is in them.

// bounds are the upper ends of the histogram of times, in seconds.
var bounds = [...]float64{0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60}

type counted struct {
	op     string
	status int
}

type timed struct {
	below [len(bounds)]int64
	count int64
	sum   float64
}

// A meter counts requests.
type meter struct {
	started time.Time

	mu       sync.Mutex
	requests map[counted]int64
	times    map[string]*timed
	spends   map[string]int64 // granted, again, refused
}

func newMeter() *meter {
	return &meter{started: time.Now(), requests: map[counted]int64{}, times: map[string]*timed{}, spends: map[string]int64{}}
}

// add counts a request that took a time.
func (m *meter) add(op string, status int, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[counted{op, status}]++
	t := m.times[op]
	if t == nil {
		t = new(timed)
		m.times[op] = t
	}
	seconds := took.Seconds()
	t.count++
	t.sum += seconds
	for i, b := range bounds {
		if seconds <= b {
			t.below[i]++
		}
	}
}

// spend counts a spend by how it ended.
func (m *meter) spend(how string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spends[how]++
}

// write writes all metrics, in an order that does not change.
func (m *meter) write(w io.Writer, inside, running int, ready bool) {
	family := func(name, kind, help string) { fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind) }
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	m.mu.Lock()
	defer m.mu.Unlock()
	family("accountant_requests_total", "counter", "Requests by operation and status.")
	order := slices.SortedFunc(maps.Keys(m.requests), func(a, b counted) int {
		if a.op == b.op {
			return a.status - b.status
		}
		if a.op < b.op {
			return -1
		}
		return 1
	})
	for _, k := range order {
		fmt.Fprintf(w, "accountant_requests_total{op=%q,status=\"%d\"} %d\n", k.op, k.status, m.requests[k])
	}
	family("accountant_request_seconds", "histogram", "Time of a request from its headers to its answer.")
	for _, op := range slices.Sorted(maps.Keys(m.times)) {
		t := m.times[op]
		for i, b := range bounds {
			fmt.Fprintf(w, "accountant_request_seconds_bucket{op=%q,le=%q} %d\n", op, number(b), t.below[i])
		}
		fmt.Fprintf(w, "accountant_request_seconds_bucket{op=%q,le=\"+Inf\"} %d\n", op, t.count)
		fmt.Fprintf(w, "accountant_request_seconds_sum{op=%q} %s\naccountant_request_seconds_count{op=%q} %d\n", op, number(t.sum), op, t.count)
	}
	family("accountant_spends_total", "counter", "Spends: granted, granted before under their key (again), refused.")
	for _, how := range []string{"granted", "again", "refused"} {
		fmt.Fprintf(w, "accountant_spends_total{result=%q} %d\n", how, m.spends[how])
	}
	gauge := func(name, help string, x float64) {
		family(name, "gauge", help)
		fmt.Fprintf(w, "%s %s\n", name, number(x))
	}
	gauge("accountant_requests_in_flight", "Requests that are not answered yet.", float64(inside))
	gauge("accountant_requests_running", "Requests that are at work.", float64(running))
	up := 0.0
	if ready {
		up = 1
	}
	gauge("accountant_ready", "1 if requests are taken.", up)
	gauge("process_start_time_seconds", "Start of the process, in seconds since 1970.", float64(m.started.UnixMilli())/1000)
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/sched/goroutines:goroutines"}}
	metrics.Read(samples)
	gauge("go_memstats_heap_alloc_bytes", "Bytes of the heap in use.", float64(samples[0].Value.Uint64()))
	gauge("go_goroutines", "Goroutines.", float64(samples[1].Value.Uint64()))
}
