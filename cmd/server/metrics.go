package server

import (
	"cmp"
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

// A timed is a histogram of times.
type timed struct {
	below [len(bounds)]int64
	count int64
	sum   float64
}

func (t *timed) add(took time.Duration) {
	seconds := took.Seconds()
	t.count++
	t.sum += seconds
	for i, b := range bounds {
		if seconds <= b {
			t.below[i]++
		}
	}
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
	t.add(took)
}

// spend counts a spend by how it ended.
func (m *meter) spend(how string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spends[how]++
}

// write writes all metrics, in an order that does not change.
func (m *meter) write(w io.Writer, lanes []*lane, connections int, turnedAway int64, ready bool) {
	family := func(name, kind, help string) { fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind) }
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	m.mu.Lock()
	defer m.mu.Unlock()
	family("accountant_requests_total", "counter", "Requests by operation and status.")
	order := slices.SortedFunc(maps.Keys(m.requests), func(a, b counted) int {
		return cmp.Or(cmp.Compare(a.op, b.op), cmp.Compare(a.status, b.status))
	})
	for _, k := range order {
		fmt.Fprintf(w, "accountant_requests_total{op=%q,status=\"%d\"} %d\n", k.op, k.status, m.requests[k])
	}
	histogram := func(name, label, value string, t *timed) {
		for i, b := range bounds {
			fmt.Fprintf(w, "%s_bucket{%s=%q,le=%q} %d\n", name, label, value, number(b), t.below[i])
		}
		fmt.Fprintf(w, "%s_bucket{%s=%q,le=\"+Inf\"} %d\n", name, label, value, t.count)
		fmt.Fprintf(w, "%s_sum{%s=%q} %s\n%[1]s_count{%[2]s=%[3]q} %[5]d\n", name, label, value, number(t.sum), t.count)
	}
	family("accountant_request_seconds", "histogram", "Time of a request from its headers to its answer.")
	for _, op := range slices.Sorted(maps.Keys(m.times)) {
		histogram("accountant_request_seconds", "op", op, m.times[op])
	}
	family("accountant_spends_total", "counter", "Spends: granted, granted before under their key (again), refused.")
	for _, how := range []string{"granted", "again", "refused"} {
		fmt.Fprintf(w, "accountant_spends_total{result=%q} %d\n", how, m.spends[how])
	}
	gauge := func(name, help string, x float64) {
		family(name, "gauge", help)
		fmt.Fprintf(w, "%s %s\n", name, number(x))
	}
	var all load
	loads := make([]load, len(lanes))
	for i, l := range lanes {
		loads[i] = l.now()
		all.inside, all.atWork = all.inside+loads[i].inside, all.atWork+loads[i].atWork
	}
	gauge("accountant_requests_in_flight", "Requests that are not answered yet.", float64(all.inside))
	gauge("accountant_requests_running", "Requests that are at work.", float64(all.atWork))
	family("accountant_requests_waiting", "gauge", "Requests that wait for their turn, by lane: questions or spends.")
	for i, l := range lanes {
		fmt.Fprintf(w, "accountant_requests_waiting{lane=%q} %d\n", l.name, loads[i].waiting)
	}
	family("accountant_wait_seconds", "histogram", "Time that a request waited for its turn, by lane.")
	for i, l := range lanes {
		histogram("accountant_wait_seconds", "lane", l.name, &loads[i].waits)
	}
	gauge("accountant_connections", "Connections that are open.", float64(connections))
	family("accountant_connections_refused_total", "counter", "Connections that were closed at once, since their client had too many.")
	fmt.Fprintf(w, "accountant_connections_refused_total %d\n", turnedAway)
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
