package main

// All cases, on all cores. Each is drawn from the seed and its number alone, and what is added up
// does not depend on their order, so that the same campaign finds the same, but for times.

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"
)

// A campaign is what to do.
type campaign struct {
	seed        uint64
	first, n    uint64
	laws        int // how many are tried on each plan
	ask         answerer
	progress    func(*result)
	found       func(number uint64, v *violation) // is told of each violation, one at a time
	most        int                               // violations after which it ends
	untilLeft   time.Duration                     // 0: no limit
	shrinking   time.Duration                     // for each violation
	withoutTime bool                              // in the report
}

// A result is what was tried, and what was found.
type result struct {
	plans, refused, answers, warned int64
	checks, engines, mechanisms     map[string]int64
	violations                      int
	share                           float64
	widest                          string
	slowest                         time.Duration
	slowestPlan                     string
	took                            time.Duration
}

// run runs the campaign.
func (c campaign) run(ctx context.Context) *result {
	sum := &result{checks: map[string]int64{}, engines: map[string]int64{}, mechanisms: map[string]int64{}}
	start := time.Now()
	var lock sync.Mutex
	next := c.first
	take := func() (uint64, bool) {
		lock.Lock()
		defer lock.Unlock()
		if next >= c.first+c.n || sum.violations >= c.most || ctx.Err() != nil || c.untilLeft > 0 && time.Since(start) > c.untilLeft {
			return 0, false
		}
		next++
		return next - 1, true
	}
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for {
				number, ok := take()
				if !ok {
					return
				}
				x, v, took := c.one(ctx, number)
				lock.Lock()
				sum.add(c, number, x, v, took)
				lock.Unlock()
			}
		})
	}
	workers.Wait()
	sum.took = time.Since(start)
	return sum
}

// one examines the plan of a number, and shrinks it if it fails.
func (c campaign) one(ctx context.Context, number uint64) (*examiner, *violation, time.Duration) {
	p, q := caseOf(c.seed, number)
	seed := c.seed ^ number*0x9e3779b97f4a7c15
	x := newExaminer(c.ask, seed, c.laws)
	start := time.Now()
	err := x.examine(ctx, p, q)
	took := time.Since(start)
	var v *violation
	if errors.As(err, &v) && ctx.Err() == nil {
		v = shrink(ctx, c.ask, seed, v, c.shrinking)
	}
	return x, v, took
}

// add adds a case to the sum.
func (s *result) add(c campaign, number uint64, x *examiner, v *violation, took time.Duration) {
	p, q := caseOf(c.seed, number)
	s.plans++
	if x.refused {
		s.refused++
	} else {
		s.engines[engineOf(x.base)]++
		each(p.steps, func(st *step) {
			if st.mechanism != nil {
				name := st.mechanism.name
				if st.sampling != nil {
					name += ", " + st.sampling.name
				}
				s.mechanisms[name]++
			}
		})
	}
	s.answers += x.answers
	s.warned += x.warned
	for name, n := range x.checks {
		s.checks[name] += n
	}
	// Of equal ones the text decides, not the order.
	if x.share > s.share || x.share == s.share && x.widestPlan < s.widest {
		s.share, s.widest = x.share, x.widestPlan
	}
	if took > s.slowest {
		s.slowest, s.slowestPlan = took, q.String()+"\n"+p.text()
	}
	if v != nil {
		s.violations++
		if c.found != nil {
			c.found(number, v)
		}
	}
	if c.progress != nil {
		c.progress(s)
	}
}
