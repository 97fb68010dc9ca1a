package accountant

// Parallel composition: branches of steps on disjoint parts of the records. A record is in one branch, and what the others
// release has the same law with it and without it, so that it costs what the other steps of the plan and its own branch do
// (docs/theory/pairs.md §9). A record may be in each of the branches: an accountant holds a total for each way through them, and
// every answer is the largest.

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/profiles"
)

// A Partition says what decides the branch of a record in a step with Disjoint.
type Partition string

// The partitions. Either way the branch of a record must not depend on other records.
const (
	// FixedPartition is one of the places of records, whatever stands there: a record that is substituted stays in its branch.
	FixedPartition Partition = "fixed"
	// ByRecord is one by what a record is, such as its label: a substitute may be in another branch.
	ByRecord Partition = "by-record"
)

// maxWays bounds the totals of an accountant, and maxPicks the ways that are looked at for them: equal ones are one.
const maxWays, maxPicks = 64, 4096

// checkDisjoint returns why a step with branches is none.
func (a *Accountant) checkDisjoint(s Step) error {
	switch {
	case s.Mechanism != nil || s.Steps != nil:
		return fault.New("disjoint", "is set beside mechanism or steps; a step has one of the three")
	case s.Sampling != nil:
		return fault.New("sampling", "applies to a mechanism, not to branches")
	case len(s.Disjoint) < 2:
		return fault.New("disjoint", "has %d branches, must have at least 2", len(s.Disjoint))
	case s.Partition == "":
		return fault.New("partition", "is missing; must be fixed or by-record")
	case s.Partition != FixedPartition && s.Partition != ByRecord:
		return fault.New("partition", "%s is not one of fixed, by-record", s.Partition)
	case s.Partition == ByRecord && a.relation == profiles.Substitute:
		return fault.New("partition", "by-record is not for substitute: a record may change branch, which removes it from one and adds it to another, and costs more than the maximum; use fixed or neighbors: add-remove")
	case s.Partition == ByRecord && a.relation == profiles.ZeroOut:
		return fault.New("partition", "by-record is not for zero-out: an empty place has nothing that says its branch; use fixed or neighbors: add-remove")
	}
	return nil
}

// A chooser goes through the ways of a plan: pick is asked for the branch at each step that has some, in the order of the plan.
type chooser struct {
	picks, sizes []int
	at           int
}

func (c *chooser) pick(n int) int {
	if c.at == len(c.picks) {
		c.picks, c.sizes = append(c.picks, 0), append(c.sizes, n)
	}
	c.at++
	return c.picks[c.at-1]
}

// next goes to the next way, if there is one.
func (c *chooser) next() bool {
	for last := len(c.picks) - 1; last >= 0; last-- {
		if c.picks[last]+1 < c.sizes[last] {
			c.picks[last]++
			c.picks, c.sizes, c.at = c.picks[:last+1], c.sizes[:last+1], 0
			return true
		}
	}
	return false
}

// flattenDisjoint appends the runs of the branch that the chooser picks, or of all where persons may be in each.
func (a *Accountant) flattenDisjoint(ctx context.Context, s Step, count int64, runs []run) ([]run, error) {
	if err := a.checkDisjoint(s); err != nil {
		return nil, err
	}
	if a.choose == nil && !a.addUp {
		return nil, fault.New("disjoint", "is for Epsilon, Delta and what is made of them, not for a curve against the length of a plan")
	}
	first, last := 0, len(s.Disjoint)-1
	if !a.addUp {
		first = a.choose.pick(len(s.Disjoint))
		last = first
	}
	for i := first; i <= last; i++ {
		var err error
		if runs, err = a.flatten(ctx, s.Disjoint[i], count, runs); err != nil {
			return nil, fault.In(fmt.Sprintf("disjoint[%d]", i), err)
		}
	}
	return runs, nil
}

// addWays adds runs that flatten returns, which it is asked for as often as there are ways through branches.
func (a *Accountant) addWays(flatten func() ([]run, error)) error {
	a.choose = &chooser{}
	defer func() { a.choose, a.addUp = nil, false }()
	var lists []map[*profiles.Bounds]run
	branched := false
	for looks := 1; ; looks++ {
		runs, err := flatten()
		if err != nil {
			return err
		}
		branched = branched || len(a.choose.sizes) > 0
		if !branched && a.ways == nil {
			return a.addRuns(runs)
		}
		lists = largestOnly(lists, runs)
		if looks > maxPicks || len(lists)*max(1, len(a.ways)) > maxWays {
			return fault.New("disjoint", "there are more than %d ways of a record through the branches", maxWays)
		}
		if !a.choose.next() {
			break
		}
	}
	if branched && a.recordsPerPerson() > 1 || a.together != nil {
		a.addUp = branched
		runs, err := flatten()
		if err != nil {
			return err
		}
		if a.together == nil {
			if a.together, err = a.way(a.added); err != nil {
				return err
			}
		}
		if err := a.together.addRuns(runs); err != nil {
			return err
		}
	}
	old := a.ways
	if old == nil {
		if len(lists) == 1 && a.together == nil {
			return a.addRuns(slices.Collect(maps.Values(lists[0])))
		}
		old = []*Accountant{a}
	}
	var ways []*Accountant
	for _, w := range old {
		for _, list := range lists {
			next, err := a.way(w.added)
			if err != nil {
				return err
			}
			// In the order of the plan, so that the same plan has the same answer.
			runs := slices.SortedFunc(maps.Values(list), func(x, y run) int { return x.place - y.place })
			if err := next.addRuns(runs); err != nil {
				return err
			}
			ways = append(ways, next)
		}
	}
	a.ways = ways
	return nil
}

// largestOnly returns the lists with runs added, without those that another one contains.
func largestOnly(lists []map[*profiles.Bounds]run, runs []run) []map[*profiles.Bounds]run {
	list := map[*profiles.Bounds]run{}
	for i, r := range runs {
		if have, ok := list[r.m]; ok {
			r.place, r.count = have.place, r.count+have.count
		} else {
			r.place = i
		}
		list[r.m] = r
	}
	contains := func(big, small map[*profiles.Bounds]run) bool {
		for m, r := range small {
			if big[m].count < r.count {
				return false
			}
		}
		return true
	}
	for _, l := range lists {
		if contains(l, list) {
			return lists
		}
	}
	lists = slices.DeleteFunc(lists, func(l map[*profiles.Bounds]run) bool { return contains(list, l) })
	return append(lists, list)
}

// way returns an accountant of one way that holds runs.
func (a *Accountant) way(runs []run) (*Accountant, error) {
	w := &Accountant{running: newRunning(a.relation, a.opts), known: a.known, bests: a.bests}
	w.origins, w.opts.report = a.origins, nil
	return w, w.addRuns(runs)
}

// each calls f for every total that the accountant is made of.
func (a *Accountant) each(f func(w *Accountant)) {
	for _, w := range a.ways {
		f(w)
	}
	if a.together != nil {
		f(a.together)
	}
}

// share gives every way its part of the work of a question.
func (a *Accountant) share() {
	n := 0.0
	a.each(func(*Accountant) { n++ })
	a.each(func(w *Accountant) { w.opts.Work, w.short = a.opts.work()/n, a.short })
}

// worstWay asks every way, and joins the answers to the largest. Where persons may have records in several branches, all of
// them together are above, and the largest is an attack. Work that ways have left is for the largest one, as long as its limit left it wide.
func (a *Accountant) worstWay(ask func(w *Accountant) (Interval, error)) (Interval, error) {
	before := a.spent()
	a.share()
	ivs := make([]Interval, len(a.ways))
	for i, w := range a.ways {
		var err error
		if ivs[i], err = ask(w); err != nil {
			return ivs[i], err
		}
	}
	for range a.ways {
		top := 0
		for i, iv := range ivs {
			if iv.Upper > ivs[top].Upper {
				top = i
			}
		}
		w, old := a.ways[top], ivs[top]
		left := a.opts.work() - (a.spent() - before)
		if left < 2*w.opts.Work || !old.shortOf(a.opts.Relative) {
			break
		}
		w.opts.Work = left
		iv, err := ask(w)
		if err != nil {
			return iv, err
		}
		if iv.Upper-iv.Lower < old.Upper-old.Lower {
			ivs[top] = iv
		}
	}
	out := ivs[0]
	for _, iv := range ivs[1:] {
		if iv.Upper > out.Upper || iv.Upper == out.Upper && iv.Estimate > out.Estimate {
			iv, out = out, iv
		}
		if iv.Lower > out.Lower {
			out.Lower, out.LowerDirection = iv.Lower, iv.LowerDirection
			if out.Gap != nil {
				gap := *out.Gap
				if gap.Attack = iv.Range; iv.Gap != nil {
					gap.Attack = iv.Gap.Attack
				}
				out.Gap = &gap
			}
		}
	}
	if a.together == nil {
		return out, out.finish()
	}
	all, err := ask(a.together)
	if err != nil {
		return all, err
	}
	gap := Gap{Proved: all.Range, Attack: out.Range}
	if all.Gap != nil {
		gap.Proved, gap.Unattacked, gap.Apart = all.Gap.Proved, all.Gap.Unattacked, all.Gap.Apart
	}
	if out.Gap != nil {
		gap.Attack = out.Gap.Attack
	}
	all.Gap, all.Lower, all.LowerDirection = &gap, out.Lower, out.LowerDirection
	all.Upper = max(all.Upper, all.Lower)
	if d := gap.Proved.Lower - gap.Attack.Upper; d > 0 {
		all.Budget.TheoryGap = d
	}
	return all, all.finish()
}

// shortOf reports whether a limit of work left an interval wider than a relative width.
func (iv *Interval) shortOf(relative float64) bool {
	return (math.IsInf(iv.Upper, 1) || iv.Upper-iv.Lower > relative*math.Abs(iv.Upper)) &&
		slices.ContainsFunc(iv.Warnings, func(w string) bool { return strings.Contains(w, parallel.ErrWork.Error()) })
}

// expectMany prepares for many questions.
func (a *Accountant) expectMany() {
	a.running.expectMany()
	a.each(func(w *Accountant) { w.expectMany() })
}

// spent returns the work of all questions so far.
func (a *Accountant) spent() float64 {
	work := a.running.spent()
	a.each(func(w *Accountant) { work += w.spent() })
	return work
}

// tradeOffOfWays is TradeOff where there are ways.
func (a *Accountant) tradeOffOfWays(ctx context.Context, alphas []float64) ([]TradeOffPoint, error) {
	a.share()
	var all [][]TradeOffPoint // of the ways, and of all of them together if there is one
	var err error
	a.each(func(w *Accountant) {
		if err == nil {
			var points []TradeOffPoint
			points, err = w.TradeOff(ctx, alphas)
			all = append(all, points)
		}
	})
	if err != nil {
		return nil, err
	}
	out := all[0]
	for i := range out {
		for _, way := range all[1:len(a.ways)] {
			p := way[i]
			if p.Power.Upper > out[i].Power.Upper {
				out[i].Direction, out[i].Warnings = p.Direction, p.Warnings
			}
			out[i].Power, out[i].TypeII = out[i].Power.Max(p.Power), out[i].TypeII.Min(p.TypeII)
		}
		if a.together != nil {
			reached := out[i]
			out[i] = all[len(a.ways)][i]
			out[i].Power.Lower, out[i].TypeII.Upper = reached.Power.Lower, reached.TypeII.Upper
		}
	}
	return out, nil
}

// muOfWays is gaussianMu where there are ways.
func (a *Accountant) muOfWays() (out Range, ok bool) {
	for _, w := range a.ways {
		r, ok := w.gaussianMu()
		if !ok {
			return Range{}, false
		}
		out = out.Max(r)
	}
	if a.together == nil {
		return out, true
	}
	all, ok := a.together.gaussianMu()
	all.Lower = out.Lower
	return all, ok
}

// Proof (docs/theory/pairs.md §9): Theorem 9.
//
// Given the transcript so far, a run of another branch depends on records that D and D′ share: it has one law under
// both, whatever it was that earlier outputs chose, and its likelihood ratio is 1. The product of the others is
// dominated by the pairs of the steps outside and of branch i (§2). Each i occurs. ∎
