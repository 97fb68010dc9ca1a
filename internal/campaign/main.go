package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"time"
)

func main() {
	c := campaign{ask: answer}
	flag.Uint64Var(&c.seed, "seed", 1, "what the plans are drawn from")
	flag.Uint64Var(&c.n, "n", 1000, "how many plans")
	flag.Uint64Var(&c.first, "first", 0, "the number of the first plan")
	flag.IntVar(&c.laws, "laws", 2, "how many laws are tried on a plan")
	flag.IntVar(&c.most, "most", 20, "how many violations end it")
	flag.DurationVar(&c.untilLeft, "time", 0, "begin no plan after this time; 0: no limit")
	flag.DurationVar(&c.shrinking, "shrink", 2*time.Minute, "how long a smaller plan is looked for")
	only := flag.Int64("only", -1, "only the plan of this number, with every law")
	quiet := flag.Bool("quiet", false, "no progress")
	flag.Parse()
	if *only >= 0 {
		c.first, c.n, c.laws = uint64(*only), 1, math.MaxInt
		p, q := caseOf(c.seed, c.first)
		fmt.Printf("# %v\n%s", q, p.text())
	}
	c.found = func(number uint64, v *violation) { fmt.Println(failure(c.seed, number, v)) }
	if last := time.Now(); !*quiet {
		c.progress = func(s *result) {
			if time.Since(last) > 10*time.Second {
				last = time.Now()
				fmt.Fprintf(os.Stderr, "%d plans, %d answers, %d violations, slowest %v\n", s.plans, s.answers, s.violations, s.slowest.Round(time.Millisecond))
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	s := c.run(ctx)
	fmt.Print(s.report(c))
	if s.violations > 0 {
		stop()
		os.Exit(1)
	}
}

// failure is a violation with what reproduces it.
func failure(seed, number uint64, v *violation) string {
	ask := fmt.Sprintf("epsilon --delta %v", v.question.delta)
	if v.question.ofEpsilon {
		ask = fmt.Sprintf("delta --epsilon %v", v.question.epsilon)
	}
	return fmt.Sprintf("VIOLATION of %s\n%s\n# go run ./internal/campaign -seed %d -only %d\n# %v: accountant %s --accuracy %v plan.yaml\n%s",
		v.check, v.text, seed, number, v.question, ask, v.question.accuracy, v.plan.text())
}
