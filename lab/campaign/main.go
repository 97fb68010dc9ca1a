package campaign

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/signal"
	"slices"
	"time"

	"github.com/dpaccountant/accountant/lab/try"
)

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
