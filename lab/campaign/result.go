package campaign

// What was tried and found: added up, printed as a table, and kept. A long campaign is a file of JSON lines, each of them what some
// hundred plans came to. A campaign that was ended goes on after the last plan of its seed; files of several machines, each with a seed
// of its own, are put together with cat.

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/dpaccountant/accountant/internal/strictjson"
	"github.com/dpaccountant/accountant/lab/try"
)

// A result is what was tried, and what was found. Its JSON is a line in a file of parts.
type result struct {
	Seeds                       map[uint64]uint64 // of each seed the first number that was not tried
	Plans, Hard, Refused        int64
	Answers, Warned             int64
	Checks, Engines, Mechanisms map[string]int64
	Violations                  []string // as failure prints them
	Wide                        []string // ordinary answers that a limit ended, if they are no violations
	Share                       float64  // the widest answer, over the width asked
	Widest                      string
	Slowest                     time.Duration
	SlowestPlan                 string
	Took                        time.Duration
}

func newResult() *result {
	return &result{Seeds: map[uint64]uint64{}, Checks: map[string]int64{}, Engines: map[string]int64{}, Mechanisms: map[string]int64{}}
}

// join adds another result.
func (s *result) join(t *result) {
	for seed, next := range t.Seeds {
		s.Seeds[seed] = max(s.Seeds[seed], next)
	}
	s.Plans += t.Plans
	s.Hard += t.Hard
	s.Refused += t.Refused
	s.Answers += t.Answers
	s.Warned += t.Warned
	for _, counts := range [][2]map[string]int64{{s.Checks, t.Checks}, {s.Engines, t.Engines}, {s.Mechanisms, t.Mechanisms}} {
		for name, n := range counts[1] {
			counts[0][name] += n
		}
	}
	s.Violations = append(s.Violations, t.Violations...)
	s.Wide = append(s.Wide, t.Wide...)
	// Of equal ones the text decides, not the order.
	if t.Share > s.Share || t.Share == s.Share && t.Widest < s.Widest {
		s.Share, s.Widest = t.Share, t.Widest
	}
	if t.Slowest > s.Slowest {
		s.Slowest, s.SlowestPlan = t.Slowest, t.SlowestPlan
	}
	s.Took += t.Took
}

// Total returns how many checks there were.
func (s *result) Total() (n int64) {
	for _, k := range s.Checks {
		n += k
	}
	return n
}

//go:embed report.tmpl
var reportText string

var reportPage = template.Must(template.New("report").Funcs(template.FuncMap{"ranked": ranked, "trim": strings.TrimSpace}).Parse(reportText))

// report writes the result in Markdown, with times or without: all else is the same in every run.
func (s *result) report(times bool) string {
	var b strings.Builder
	try.Check(reportPage.Execute(&b, struct {
		*result
		Times bool
		OneIn int
	}{s, times, oneIn}))
	return b.String()
}

// ranked returns the names of numbers, that of the largest first.
func ranked(numbers map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(numbers), func(x, y string) int {
		return cmp.Or(cmp.Compare(numbers[y], numbers[x]), strings.Compare(x, y))
	})
}

// inParts runs what a file of parts does not have yet, adds a line to the file after each part, and returns the sum of
// the whole file. Without a path it is one part, and there is no file.
func (c campaign) inParts(ctx context.Context, path string, size uint64) *result {
	if path == "" {
		return c.run(ctx)
	}
	f := try.Must(os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644))
	defer f.Close()
	sum := sumOf(f)
	end, before := c.first+c.n, len(sum.Violations)
	for c.first = max(c.first, sum.Seeds[c.seed]); c.first < end && len(sum.Violations)-before < c.most && !c.isOver(); c.first = sum.Seeds[c.seed] {
		c.n = min(size, end-c.first)
		part := c.run(ctx)
		if ctx.Err() != nil { // plans that were under way are not examined: the part is tried again
			return sum
		}
		line := try.Must(json.Marshal(part))
		try.Must(f.Write(append(line, '\n')))
		sum.join(part)
	}
	try.Check(f.Close())
	return sum
}

// sumOf adds up the lines of a file, and leaves the file where the next is written: a last line without an end, of
// a program that was killed while it wrote, is written over.
func sumOf(f *os.File) *result {
	text := try.Must(io.ReadAll(f))
	whole := bytes.LastIndexByte(text, '\n') + 1
	sum, n := newResult(), 0
	for line := range bytes.Lines(text[:whole]) {
		n++
		part := newResult()
		if err := strictjson.Decode(line, part); err != nil {
			try.Check(fmt.Errorf("%s: line %d: %w", f.Name(), n, err))
		}
		sum.join(part)
	}
	try.Check(f.Truncate(int64(whole)))
	try.Must(f.Seek(int64(whole), io.SeekStart))
	return sum
}
