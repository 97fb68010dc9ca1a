// Command yardstick keeps what the library answers, how narrow and for how much work, so that another version of the
// library can be held against it:
//
//	go run ./lab/yardstick -seed 1 -n 20000 -o old.jsonl.gz
//	… the change …
//	go run ./lab/yardstick -compare old.jsonl.gz
//
// Each line of the file is a plan with both ends of ε at a δ, at default settings. Plans are those of package campaign,
// one in forty a noise schedule. The comparison asks about the same plans again. Its exit status is 1 where an interval
// does not meet the old one, or is wider than both the old one and what was asked.
//
// testdata/before-the-search.jsonl.gz are 20,000 plans of seed 1 as they were answered before the integral looked for its place
// by tables of a sample.
//
// The table in testdata is the same for 240 plans, as text. A test computes them again, and a change of speed or
// tightness is a change of its lines. Work is what the library counts for its limits of work, about 40 ns each; it is
// no time, and the same on every machine.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/signal"
	"time"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/lab/campaign"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/plan"
)

func main() {
	seed := flag.Uint64("seed", 1, "what the plans are drawn from")
	n := flag.Uint64("n", 20000, "how many plans")
	path := flag.String("o", "", "the file to write, gzipped lines of JSON")
	old := flag.String("compare", "", "ask about the plans of this file again, and compare")
	flag.Parse()
	if flag.NArg() > 0 || (*path == "") == (*old == "") {
		log.Fatal("give either -o FILE or -compare FILE, and no arguments")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok := true
	try.Main(func() {
		if *path != "" {
			write(ctx, *path, *seed, *n)
		} else {
			ok = compareFile(ctx, os.Stdout, *old, 1)
		}
	})
	if !ok {
		os.Exit(1)
	}
}

// A line is a plan and what the library says about it.
type line struct {
	Plan     json.RawMessage `json:"plan"`
	Delta    float64         `json:"delta"`
	Lower    end             `json:"lower"`
	Upper    end             `json:"upper"`
	Gap      bool            `json:"gap,omitempty"` // in theory: accuracy is asked of each end, not of the width
	Work     float64         `json:"work"`
	Warnings []string        `json:"warnings,omitempty"`
	Error    string          `json:"error,omitempty"` // of a plan that is refused; the ends are 0
}

// An end of an interval may be infinite, which JSON has no number for.
type end float64

func (e end) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(e), 0) {
		return fmt.Appendf(nil, "%q", fmt.Sprint(float64(e))), nil
	}
	return json.Marshal(float64(e))
}

func (e *end) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case `"+Inf"`:
		*e = end(math.Inf(1))
	case `"-Inf"`:
		*e = end(math.Inf(-1))
	default:
		return json.Unmarshal(text, (*float64)(e))
	}
	return nil
}

// deadline is for one plan. Limits of work end questions long before.
const deadline = 5 * time.Minute

// answered asks about the plan of a line, at default settings.
func answered(ctx context.Context, text []byte, delta float64) line {
	out := line{Plan: text, Delta: delta}
	ctx, stop := context.WithTimeout(ctx, deadline)
	defer stop()
	ctx = parallel.WithWork(ctx, math.Inf(1)) // counts, and limits nothing
	iv, err := func() (iv accountant.Interval, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("panic: %v", r)
			}
		}()
		p, err := plan.Parse(ctx, text)
		if err != nil {
			return iv, err
		}
		a := p.Accountant()
		if err := a.AddPlan(ctx, p); err != nil {
			return iv, err
		}
		return a.Epsilon(ctx, delta)
	}()
	if out.Work, _ = parallel.Work(ctx); err != nil {
		out.Error = err.Error()
		return out
	}
	out.Lower, out.Upper, out.Gap, out.Warnings = end(iv.Lower), end(iv.Upper), iv.Gap != nil, iv.Warnings
	return out
}

// width is that of the interval of a line, 0 where both ends are infinite.
func (l line) width() float64 {
	if l.Lower == l.Upper {
		return 0
	}
	return float64(l.Upper - l.Lower)
}

// asked is the width that is asked for by default.
func (l line) asked() float64 {
	return max(1e-3*min(math.Abs(float64(l.Lower)), math.Abs(float64(l.Upper))), 1e-6)
}

// one in schedules of the plans is a noise schedule.
const schedules = 40

// drawn is the plan of a number.
func drawn(seed, number uint64) (text []byte, delta float64) {
	if number%schedules == schedules-1 {
		return campaign.Schedule(seed, number)
	}
	return campaign.Case(seed, number)
}

// write writes a file of n plans.
func write(ctx context.Context, path string, seed, n uint64) {
	f := try.Must(os.Create(path))
	defer f.Close()
	lines := make([]line, n)
	try.Check(parallel.Each(ctx, len(lines), nil, func(i int) {
		text, delta := drawn(seed, uint64(i))
		lines[i] = answered(ctx, text, delta)
	}))
	z := gzip.NewWriter(f)
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	for _, l := range lines {
		try.Check(e.Encode(l))
	}
	try.Check(z.Close())
	try.Check(f.Close())
}

// compareFile asks about the first plan of each so many of a file again, and reports whether nothing is worse.
func compareFile(ctx context.Context, out io.Writer, path string, every int) bool {
	f := try.Must(os.Open(path))
	defer f.Close()
	var old []line
	d := json.NewDecoder(try.Must(gzip.NewReader(bufio.NewReader(f))))
	for read := 0; ; read++ {
		var l line
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			try.Check(fmt.Errorf("%s: line %d: %w", path, read+1, err))
		}
		if read%every == 0 {
			old = append(old, l)
		}
	}
	now := make([]line, len(old))
	try.Check(parallel.Each(ctx, len(old), nil, func(i int) { now[i] = answered(ctx, old[i].Plan, old[i].Delta) }))
	var c comparison
	for i := range old {
		if what := c.add(old[i], now[i]); what != "" {
			fmt.Fprintf(out, "%s: [%v, %v], was [%v, %v], at δ = %v: %s\n", what, now[i].Lower, now[i].Upper, old[i].Lower, old[i].Upper, old[i].Delta, old[i].Plan)
		}
	}
	fmt.Fprint(out, c)
	return c.ok()
}

// A comparison adds up what has become of lines.
type comparison struct {
	plans, refused, apart, wider, warned, narrower int
	old, now                                       float64 // work
}

// add compares an old line with a new one, and returns what is worse; "" if nothing is. Plans that were refused, and
// are not now, are not worse.
func (c *comparison) add(old, now line) (what string) {
	c.plans++
	if old.Error != "" {
		return ""
	}
	c.old += old.Work
	c.now += now.Work
	allowed := max(now.asked(), old.width()*(1+1e-9))
	if old.Gap {
		// The ends are of two intervals, of the attack and of what is proved. Each may be as wide as asked of its own ε.
		asked := func(e end) float64 { return line{Lower: e, Upper: e}.asked() }
		allowed = old.width() + asked(now.Lower) + asked(now.Upper)
	}
	switch {
	case now.Error != "":
		c.refused++
		return "refused, " + now.Error
	case !(now.Lower <= old.Upper && old.Lower <= now.Upper):
		c.apart++
		return "does not meet"
	}
	if now.width() < old.width() {
		c.narrower++
	}
	if len(now.Warnings) > 0 && len(old.Warnings) == 0 {
		c.warned++
		what = "has a warning"
	}
	if !(now.width() <= allowed) {
		c.wider++
		what = "is wider"
	}
	return what
}

func (c comparison) ok() bool { return c.refused+c.apart+c.wider == 0 }

func (c comparison) String() string {
	return fmt.Sprintf("%d plans: %d are refused now, %d do not meet the old interval, %d are wider than both it and what was asked, %d have a warning now and had none, %d are narrower; work %.4g, was %.4g (%.3f times)\n",
		c.plans, c.refused, c.apart, c.wider, c.warned, c.narrower, c.now, c.old, c.now/max(c.old, 1))
}
