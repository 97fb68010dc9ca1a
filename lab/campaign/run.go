package campaign

// All cases, on all cores. Each is drawn from the seed and its number alone, and what is added up
// does not depend on their order, so that the same campaign finds the same, but for times.

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/lab/try"
)

// A campaign is what to do.
type campaign struct {
	seed      uint64
	kind      string // of plans; empty: all
	first, n  uint64
	laws      int // how many are tried on each plan
	ask       answerer
	progress  func(*result)
	found     func(number uint64, v *violation) // is told of each violation, one at a time
	most      int                               // violations after which it ends
	narrow    bool                              // an ordinary answer that a limit ended is a violation
	until     time.Time                         // begin no plan after it; zero: no limit
	shrinking time.Duration                     // for each violation
}

func (c campaign) isOver() bool { return !c.until.IsZero() && time.Now().After(c.until) }

// run runs the campaign.
func (c campaign) run(ctx context.Context) *result {
	sum, start := newResult(), time.Now()
	more, stop := context.WithCancel(ctx) // while plans begin
	if !c.until.IsZero() {
		more, stop = context.WithDeadline(ctx, c.until)
	}
	defer stop()
	var lock sync.Mutex
	// Why it ended early is in what was added up.
	_ = parallel.Each(more, int(min(c.n, math.MaxInt32)), nil, func(i int) {
		number := c.first + uint64(i)
		one, v := c.one(ctx, number)
		lock.Lock()
		defer lock.Unlock()
		sum.join(one)
		if v != nil && c.found != nil {
			c.found(number, v)
		}
		if c.progress != nil {
			c.progress(sum)
		}
		if len(sum.Violations) >= c.most {
			stop()
		}
	})
	sum.Seeds[c.seed] = c.first + uint64(sum.Plans)
	sum.Took = time.Since(start)
	return sum
}

// wholly: of ordinary plans that are asked for alone, one in so many gets every check.
const wholly = 20

// one examines the plan of a number, and shrinks it if it fails.
func (c campaign) one(ctx context.Context, number uint64) (*result, *violation) {
	p, q := caseOf(c.seed, number, c.kind)
	seed := c.seed ^ number*0x9e3779b97f4a7c15
	x := newExaminer(c.ask, seed, c.laws)
	// Whether ordinary plans end within their limits shows in a question each, and what else is held against it takes
	// three times as long.
	x.brief = c.kind == ordinary && number%wholly != 0 && c.n > 1
	start := time.Now()
	err := x.examine(ctx, p, q)
	s := x.result
	s.Plans, s.Slowest, s.SlowestPlan = 1, time.Since(start), q.String()+"\n"+p.text()
	if hard(p, q) {
		s.Hard = 1
	}
	if s.Refused == 0 {
		s.Engines[cmp.Or(string(x.base.Engine), string(fourier.ClosedForm))] = 1
		each(p.steps, func(st *step) {
			if st.mechanism != nil {
				name := st.mechanism.name
				if st.sampling != nil {
					name += ", " + st.sampling.name
				}
				s.Mechanisms[name]++
			}
		})
	}
	var v *violation
	if errors.As(err, &v) && ctx.Err() == nil {
		v = shrink(ctx, c.ask, seed, v, c.shrinking)
		text := c.failure(number, v)
		if v.check == ordinaryCheck && !c.narrow {
			s.Wide = []string{text}
			return s, nil
		}
		s.Violations = []string{text}
	}
	return s, v
}

// failure is a violation with what reproduces it.
func (c campaign) failure(number uint64, v *violation) string {
	ask := fmt.Sprintf("epsilon --delta %v", v.question.delta)
	if v.question.ofEpsilon {
		ask = fmt.Sprintf("delta --epsilon %v", v.question.epsilon)
	}
	kind := ""
	if c.kind != "" {
		kind = " -kind " + c.kind
	}
	return fmt.Sprintf("VIOLATION of %s\n%s\n# go run ./lab/campaign/run -seed %d%s -only %d\n# %v: accountant %s --accuracy %v plan.yaml\n%s",
		v.check, v.text, c.seed, kind, number, v.question, ask, v.question.accuracy, v.plan.text())
}

// Main is the program.
func Main() {
	c := campaign{ask: answer}
	flag.Uint64Var(&c.seed, "seed", 1, "what the plans are drawn from")
	flag.Uint64Var(&c.n, "n", 1000, "how many plans")
	flag.Uint64Var(&c.first, "first", 0, "the number of the first plan")
	flag.IntVar(&c.laws, "laws", 2, "how many laws are tried on a plan")
	flag.IntVar(&c.most, "most", 20, "how many violations end it")
	limit := flag.Duration("time", 0, "begin no plan after this time; 0: no limit")
	flag.DurationVar(&c.shrinking, "shrink", 2*time.Minute, "how long a smaller plan is looked for")
	flag.StringVar(&c.kind, "kind", "", "only any, schedule, ordinary or extreme; empty: all, of which the last three are three in twenty")
	flag.BoolVar(&c.narrow, "narrow", true, "an ordinary answer that a limit of work or memory made wide is a violation")
	only := flag.Int64("only", -1, "only the plan of this number, with every law")
	parts := flag.String("parts", "", "a file of parts: goes on where it ends, and reports on all of it")
	size := flag.Uint64("part", 1000, "how many plans a part has")
	quiet := flag.Bool("quiet", false, "no progress")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("arguments: %q are not taken", flag.Args())
	}
	if !slices.Contains([]string{"", anyPlan, schedules, ordinary, extreme}, c.kind) {
		log.Fatalf("kind: %q is not one of any, schedule, ordinary, extreme", c.kind)
	}
	if *limit > 0 {
		c.until = time.Now().Add(*limit)
	}
	if *only >= 0 {
		c.first, c.n, c.laws = uint64(*only), 1, math.MaxInt
		p, q := caseOf(c.seed, c.first, c.kind)
		fmt.Printf("# %v\n%s", q, p.text())
	}
	c.found = func(number uint64, v *violation) { fmt.Println(c.failure(number, v)) }
	if last := time.Now(); !*quiet {
		c.progress = func(s *result) {
			if time.Since(last) > 10*time.Second {
				last = time.Now()
				fmt.Fprintf(os.Stderr, "%d plans, %d answers, %d violations, slowest %v\n", s.Plans, s.Answers, len(s.Violations), s.Slowest.Round(time.Millisecond))
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed := false
	try.Main(func() {
		s := c.inParts(ctx, *parts, max(1, *size))
		fmt.Print(s.report(true))
		failed = len(s.Violations) > 0
	})
	if failed {
		os.Exit(1)
	}
}
