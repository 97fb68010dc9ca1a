package main

// The text of a file with its mutants behind switches, building, tracing, and the mutants one by one. It assumes that spans are the
// same or apart, and a shell with ulimit.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/lab/try"
)

// A bench is the test binary of one package.
type bench struct {
	pkg, bin string
	tests    []*test
}

type test struct {
	bench   *bench
	name    string
	seconds float64 // of processor time, alone
	reaches []int32
	unfit   bool // fails, or takes too long
}

// A runner holds what is the same for all mutants.
type runner struct {
	root, dir       string // the module, and a directory for files of this run
	asked           string // a pattern of tests
	longest, budget time.Duration
	benches         []*bench
}

// overlay writes the switched files, and returns the file that tells the go command of them.
func (r *runner) overlay(ms []*mutant) string {
	replace := map[string]string{}
	byFile := map[string][]*mutant{}
	for _, m := range ms {
		byFile[m.file] = append(byFile[m.file], m)
	}
	put := func(path, text string) {
		to := filepath.Join(r.dir, strings.ReplaceAll(path, "/", "_"))
		replace[filepath.Join(r.root, path)] = to
		try.Check(os.WriteFile(to, []byte(text), 0o600))
	}
	for file, ms := range byFile {
		put(file, splice(try.Must(os.ReadFile(filepath.Join(r.root, file))), ms))
		put(filepath.Dir(file)+"/zz_switches.go", switches(ms[0].clause))
	}
	text := try.Must(json.Marshal(map[string]any{"Replace": replace}))
	path := filepath.Join(r.dir, "overlay.json")
	try.Check(os.WriteFile(path, text, 0o600))
	return path
}

// compile returns the mutants that compile and those that do not, and builds the test binaries.
func (r *runner) compile(ms []*mutant, tested []string) (fine, wrong []*mutant) {
	for {
		overlay := r.overlay(ms)
		args := []string{"build", "-gcflags=-e", "-overlay", overlay}
		for _, m := range ms {
			if p := "./" + m.pkg; !slices.Contains(args, p) {
				args = append(args, p)
			}
		}
		c := exec.Command("go", args...)
		c.Dir = r.root
		out, err := c.CombinedOutput()
		if err == nil {
			r.build(overlay, tested)
			return ms, wrong
		}
		before := len(wrong)
		ms = slices.DeleteFunc(slices.Clone(ms), func(m *mutant) bool {
			named := bytes.Contains(out, fmt.Appendf(nil, "mutant:%d:", m.id))
			if named {
				wrong = append(wrong, m)
			}
			return named
		})
		if len(wrong) == before {
			try.Check(fmt.Errorf("go build: %s", out))
		}
	}
}

func (r *runner) build(overlay string, tested []string) {
	for _, pkg := range tested {
		b := &bench{pkg: pkg, bin: filepath.Join(r.dir, strings.ReplaceAll(pkg, "/", "_")+".test")}
		c := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", b.bin, "./"+pkg)
		c.Dir = r.root
		if out, err := c.CombinedOutput(); err != nil {
			try.Check(fmt.Errorf("go test -c ./%s: %s", pkg, out))
		}
		list := exec.Command(b.bin, "-test.list", r.asked)
		list.Dir = filepath.Join(r.root, pkg)
		out, err := list.CombinedOutput()
		if err != nil {
			try.Check(fmt.Errorf("%s -test.list: %v: %s", pkg, err, out))
		}
		for l := range strings.Lines(string(out)) {
			b.tests = append(b.tests, &test{bench: b, name: strings.TrimSpace(l)})
		}
		r.benches = append(r.benches, b)
	}
}

// once runs tests of a bench with a limit of processor time.
func (r *runner) once(b *bench, names []string, limit time.Duration, env ...string) (time.Duration, []byte, error) {
	ctx, stop := context.WithTimeout(context.Background(), 20*limit+2*time.Minute)
	defer stop()
	run := "^(" + strings.Join(names, "|") + ")$"
	script := fmt.Sprintf(`ulimit -t %d; ulimit -v 12000000; exec "$0" "$@"`, int(limit.Seconds()+1))
	c := exec.CommandContext(ctx, "sh", "-c", script, b.bin, "-test.short", "-test.failfast", "-test.run", run)
	c.Dir = filepath.Join(r.root, b.pkg)
	c.Env = append(os.Environ(), append(env, "GOMAXPROCS=1", "SLOW=1")...)
	out, err := c.CombinedOutput()
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime(), out, err
}

// trace runs every test alone, and finds out which switches it passes.
func (r *runner) trace() {
	var all []*test
	for _, b := range r.benches {
		all = append(all, b.tests...)
	}
	_ = parallel.Each(context.Background(), len(all), nil, func(i int) { // never ends early
		t := all[i]
		path := filepath.Join(r.dir, fmt.Sprintf("trace%d", i))
		cpu, _, err := r.once(t.bench, []string{t.name}, r.longest, "MUTATION_TRACE="+path)
		if t.seconds = cpu.Seconds(); err != nil {
			t.unfit = true
			fmt.Fprintf(os.Stderr, "%s.%s: not used, %.1f s: %v\n", t.bench.pkg, t.name, t.seconds, err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return // none
		}
		for l := range strings.Lines(string(text)) {
			if id, err := strconv.Atoi(strings.TrimSpace(l)); err == nil {
				t.reaches = append(t.reaches, int32(id))
			}
		}
	})
}

// judge runs one mutant against what reaches it: its own package's tests first, then those of the others, as long as
// they fit into the budget, the quickest first. Several run together, of one package: few at first, as most
// mutants fall early, and twice as long each time.
func (r *runner) judge(m *mutant) {
	m.state = "not reached"
	active := fmt.Sprintf("MUTATION_ACTIVE=%d", m.id)
	spent, most := 0.0, 0.25
	for ts := r.reaching(m); len(ts) > 0; most *= 2 {
		b, n, took := ts[0].bench, 0, 0.0
		var names []string
		for n < len(ts) && ts[n].bench == b && (n == 0 || took+ts[n].seconds < most) {
			took += ts[n].seconds
			names = append(names, ts[n].name)
			n++
		}
		if spent += took; spent > r.budget.Seconds() && m.state == "survived" {
			return
		}
		m.state = "survived"
		limit := time.Duration((4*took + 5) * float64(time.Second))
		used, out, err := r.once(b, names, limit, active)
		if err != nil {
			m.state, m.killer = "killed", b.pkg+": "+failed(out, names)
			if used > limit-time.Second {
				m.killer += " (time)"
			}
			return
		}
		ts = ts[n:]
	}
}

// reaching returns the tests that reach a mutant, in the order in which they are asked.
func (r *runner) reaching(m *mutant) []*test {
	var ts []*test
	for _, b := range r.benches {
		for _, t := range b.tests {
			if !t.unfit && slices.Contains(t.reaches, m.id) {
				ts = append(ts, t)
			}
		}
	}
	slices.SortStableFunc(ts, func(x, y *test) int {
		return cmp.Or(cmp.Compare(distance(x, m), distance(y, m)), cmp.Compare(x.seconds, y.seconds))
	})
	return ts
}

// distance is 0 for tests of the mutant's package, and 1 for all others.
func distance(t *test, m *mutant) int {
	if t.bench.pkg == m.pkg {
		return 0
	}
	return 1
}

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

func failed(out []byte, names []string) string {
	if f := failure.FindSubmatch(out); f != nil {
		return string(f[1])
	}
	return "one of " + strings.Join(names, ", ")
}

// apart leaves out mutants whose span cuts that of one before them.
func apart(ms []*mutant) []*mutant {
	var kept []*mutant
	for _, m := range ms {
		if !slices.ContainsFunc(kept, func(k *mutant) bool { return k.file == m.file && k.span != m.span && k.span.overlaps(m.span) }) {
			kept = append(kept, m)
		}
	}
	return kept
}

// splice returns the switched text. A line directive before each mutant says whose a compiler's complaint is.
func splice(src []byte, ms []*mutant) string {
	bySpan := map[span][]*mutant{}
	for _, m := range ms {
		bySpan[m.span] = append(bySpan[m.span], m)
	}
	var b strings.Builder
	done := 0
	for _, s := range slices.SortedFunc(maps.Keys(bySpan), func(a, b span) int { return a.from - b.from }) {
		b.Write(src[done:s.from])
		b.WriteString(switched(string(src[s.from:s.to]), bySpan[s]))
		done = s.to
	}
	b.Write(src[done:])
	return b.String()
}

func switched(was string, ms []*mutant) string {
	var b strings.Builder
	switch {
	case ms[0].condition:
		out := was
		for _, m := range ms {
			out = fmt.Sprintf("mutated(%d) && (\n//line mutant:%d\n%s) ||\n//line other:1\n !mutated(%[1]d) && (%[4]s)", m.id, m.id, m.is, out)
		}
		return out
	case ms[0].define:
		b.WriteString(was)
		for _, m := range ms {
			fmt.Fprintf(&b, "\nif mutated(%d) {\n//line mutant:%d\n%s\n//line other:1\n}", m.id, m.id, m.is)
		}
	default:
		for _, m := range ms {
			fmt.Fprintf(&b, "if mutated(%d) {\n//line mutant:%d\n%s\n//line other:1\n} else ", m.id, m.id, m.is)
		}
		b.WriteString("{\n" + was + "\n}")
	}
	return b.String()
}

// switches is the file that each changed package gets.
func switches(pkg string) string {
	return `package ` + pkg + `

import (
	"os"
	"strconv"
	"sync"
)

var mutationActive, mutationTrace = func() (int32, string) {
	n, _ := strconv.Atoi(os.Getenv("MUTATION_ACTIVE"))
	return int32(n), os.Getenv("MUTATION_TRACE")
}()

func mutated(id int32) bool {
	if mutationTrace != "" {
		mutationReached(id)
	}
	return id == mutationActive
}

var mutationSeen sync.Map

func mutationReached(id int32) {
	if _, seen := mutationSeen.LoadOrStore(id, true); seen {
		return
	}
	if f, err := os.OpenFile(mutationTrace, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		f.WriteString(strconv.Itoa(int(id)) + "\n")
		f.Close()
	}
}
`
}
