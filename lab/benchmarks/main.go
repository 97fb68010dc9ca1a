// Command benchmarks asks this library, dp_accounting and prv_accountant the questions of
// questions.json, each through its public functions. It writes the answers and their costs, and the
// tables and pictures of docs/reference/benchmarks.md:
//
//	go run ./lab/benchmarks -out docs -python /usr/bin/python3
//	go run ./lab/benchmarks -out docs -only schedules
//	go run ./lab/benchmarks -out docs -redraw
//
// Costs are processor time in units of one real FFT of 65,536 points of gonum (x-fft), taken before
// and after each question. PYTHONPATH says where the two others are. One that cannot be imported is
// named on standard error, and its column says so.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/xfft"
)

func main() {
	dir := plots.OutFlag("docs")
	only := flag.String("only", "", "the `group` to measure; contour draws the picture of docs/theory/contour.md into -out")
	redraw := flag.Bool("redraw", false, "measure nothing: write the tables and pictures of the data in -out again")
	b := &bench{ctx: context.Background()}
	flag.IntVar(&b.rounds, "rounds", 3, "measurements of which the median counts")
	flag.StringVar(&b.python, "python", "python3", "the Python `program` that runs the others")
	flag.Float64Var(&b.limit, "limit", 20, "processor time that each of the others may take for an answer, in `seconds`")
	flag.Parse()
	try.Main(func() {
		if *only == "contour" {
			contourPicture(dir())
			return
		}
		path := filepath.Join(dir(), "experiments", "benchmarks.json")
		var rows []row
		if *redraw || *only != "" {
			try.Check(json.Unmarshal(try.Must(os.ReadFile(path)), &rows))
		}
		if !*redraw {
			rows = slices.Concat(b.measure(questions(), *only), slices.DeleteFunc(rows, func(r row) bool { return r.Group == *only }))
			try.Check(os.MkdirAll(filepath.Dir(path), 0o755))
			try.Check(os.WriteFile(path, bytes.ReplaceAll(try.Must(json.Marshal(rows)), []byte("},{"), []byte("},\n{")), 0o644))
		}
		drawAll(dir(), rows)
	})
}

// ours is the name of this library in the data; others are those beside it.
const ours = "accountant"

var others = []string{"dp_accounting", "prv_accountant"}

// A question is what is asked of each accountant.
type question struct {
	Group, Name string
	X           float64         // place on the axis of the group's picture
	Delta       float64         // 0: 1e-5
	Ask         string          // empty: ε at Delta; see library.ask
	Epsilon     float64         // of a calibration
	Accuracy    float64         // asked of this library; 0: its default
	Recursion   int64           // runs up to which this library narrows theory's gap
	Setting     float64         // the mesh of dp_accounting, eps_error of prv_accountant; 0: 1e-4 and 1e-3
	Of          []string        // who is asked; empty: all
	Schedule    *schedule       `json:",omitempty"` // the plan, or
	Plan        json.RawMessage // the plan itself
	Deltas      []float64       // of a curve
	Limit       float64         // of processor time, for a peer
}

// A schedule is N distinct steps of Poisson-sampled Gaussian noise, each run Count times. The noise multiplier goes from Sigma to
// Sigma + Grows, the rate is Rate, and up to twice that where it varies.
type schedule struct {
	N, Count           int64
	Rate, Sigma, Grows float64
	Varies             bool
}

// plan returns steps from one on to before another of the schedule as the text of a plan.
func (s schedule) plan(from, to int64) []byte {
	var b strings.Builder
	for i := from; i < min(to, s.N); i++ {
		rate := s.Rate
		if s.Varies {
			rate *= 1 + float64(i%37)/37
		}
		fmt.Fprintf(&b, `,{"mechanism":{"gaussian":{"noise-multiplier":%v}},"sampling":{"poisson":{"rate":%v}},"count":%d}`,
			s.Sigma+s.Grows*float64(i)/float64(s.N), rate, s.Count)
	}
	return fmt.Appendf(nil, `{"neighbors":"add-remove","steps":[%s]}`, b.String()[1:])
}

//go:embed questions.json
var questionsText []byte

func questions() (qs []question) {
	try.Check(json.Unmarshal(questionsText, &qs))
	for i := range qs {
		q := &qs[i]
		if q.Schedule != nil {
			q.Plan = q.Schedule.plan(0, q.Schedule.N)
		}
		if q.Delta == 0 {
			q.Delta = 1e-5
		}
		if q.Deltas = []float64{q.Delta}; q.Ask == "curve" {
			for k := range 199 {
				q.Deltas = append(q.Deltas, math.Pow(10, -12+float64(k)/20))
			}
		}
	}
	return qs
}

// A bench measures.
type bench struct {
	ctx    context.Context
	python string
	rounds int
	limit  float64
}

// measure asks the questions of the group, or of all groups if it is empty.
func (b *bench) measure(qs []question, only string) (rows []row) {
	peers := map[string]*peer{}
	for _, name := range others {
		peers[name] = startPeer(b.python, name)
	}
	for _, q := range qs {
		for _, who := range append([]string{ours}, others...) {
			if only != "" && q.Group != only || len(q.Of) > 0 && !slices.Contains(q.Of, who) {
				continue
			}
			r := row{Group: q.Group, Question: q.Name, X: q.X, Delta: q.Delta, Who: who}
			if before := xfft.Unit(); who == ours {
				r.said = b.askLibrary(q)
			} else {
				r.said = peers[who].ask(q, b.limit)
				r.Cost = 2 * r.Seconds / (before + xfft.Unit())
			}
			log.Printf("%s", try.Must(json.Marshal(r)))
			rows = append(rows, r)
		}
	}
	return rows
}

// askLibrary measures this library: the median of some rounds of at least 20 ms each, or one round of something long.
func (b *bench) askLibrary(q question) (s said) {
	l := library{q: q}
	l.prepare(b.ctx)
	var costs []float64
	for range b.rounds {
		unit, from, spent, times := xfft.Unit(), xfft.Processor(), 0., 0.
		for ; spent < 0.02; times++ {
			s = l.ask(b.ctx)
			spent = xfft.Processor() - from
		}
		costs = append(costs, spent/times/((unit+xfft.Unit())/2))
		if s.Seconds = spent / times; spent > 5 {
			break
		}
	}
	slices.Sort(costs)
	s.Cost = costs[len(costs)/2]
	return s
}
