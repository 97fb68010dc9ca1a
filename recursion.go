package accountant

// The bounds of many runs together, which narrow the gap that theory leaves for batches
// of a fixed size: the recursion over data configurations, and blocks of runs. It assumes blocks of runs that know it (profiles.Together), and returns ends
// that are at least as good as those of the product; what it refuses becomes a warning. ε and δ
// of a total are those of the sums, narrowed so where that is asked for.

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// recursionBytes is what the recursion keeps for each point of its transforms: for each
// of its seven laws a spectrum (8), its product (8), the result (8), a plan (24) and what
// members are compared by (8), and
// for all of them together the buffers and weights of one step (64).
const recursionBytes = 7*(8+8+8+24+8) + 64

// latticePoints limits the lattice of the recursion by the memory allowed, and to 2^18
// points: beyond, thousands of runs would take hours.
func latticePoints(o fourier.Options) int {
	return int(min(1<<18, int64(o.MaxPoints)*fourier.BytesPerPoint/recursionBytes))
}

// longRecursion is from how many runs on a recursion takes long enough to report progress.
const longRecursion = 2000

// watched returns a context whose recursion of the given runs reports progress: it is one
// half of a computation, the bound or the attack, with done runs before it.
func (t *total) watched(ctx context.Context, runs, done int64) context.Context {
	report := t.opts.report
	if report == nil || runs < longRecursion {
		return ctx
	}
	return parallel.WithProgress(ctx, func(n int64) { report(int(done+n), int(2*runs)) })
}

// togethers returns what was added as blocks and other mechanisms.
//
// The runs of one bound are a block, an interactive mechanism that the block's
// profile dominates. The other mechanisms and blocks may come before, after or
// in between: the product of dominating pairs covers concurrent composition
// (Vadhan and Zhang, STOC 2023, arXiv:2207.08335). For mechanisms with one pair each that is
// plain: a supremum of expectations is at most the expectation of suprema, so
// that running them first only adds.
func (t *total) togethers() (blocks, others []run) {
	runs := slices.DeleteFunc(slices.Clone(t.runs), func(r run) bool { return r.m.Directions[0].Upper == nil }) // an attack on a block
	return joined(runs, func(m *profiles.Bounds) profiles.Together { return m.Together })
}

// joined returns the runs that have something in common, one for each such thing with the runs of
// all, and the others, for which common returns a nil interface.
func joined[T comparable](runs []run, common func(*profiles.Bounds) T) (blocks, others []run) {
	var none T
	at := map[T]int{}
	for _, r := range runs {
		x := common(r.m)
		if x == none {
			others = append(others, r)
		} else if i, ok := at[x]; ok {
			blocks[i].count += r.count
		} else {
			at[x] = len(blocks)
			blocks = append(blocks, r)
		}
	}
	return blocks, others
}

// narrow replaces the ends of iv, the answer to q so far, by those of the recursion where they are better. It is long because what
// the recursion can refuse is a case each, with its warning.
func (t *total) narrow(ctx context.Context, iv *Interval, q query) error {
	eps, delta := q.point(iv.Upper)
	if !(eps > 0 && eps < math.Inf(1) && delta > 1e-300 && delta < 1) {
		return nil
	}
	blocks, others := t.togethers()
	o := t.opts.sums(4)
	share := math.Inf(1) // of each recursion
	if t.opts.limited {
		kept := recursionShare * t.opts.work()
		o.Work = kept / 2 / float64(len(blocks)+2) // a sum for each block, and two in the end
		share = kept / 2 / float64(max(1, len(blocks)))
	}
	sums := [2]*fourier.Sum{fourier.New(o), fourier.New(o)}
	add := func(r run) error {
		for d := range sums {
			if err := sums[d].Add(r.m.Directions[d].Upper, r.count); err != nil {
				return err
			}
		}
		return nil
	}
	for _, r := range others {
		if err := add(r); err != nil {
			return err
		}
	}
	narrowed := false
	for _, b := range blocks {
		alone := len(blocks) == 1 && len(others) == 0
		if b.count > 1 && !t.narrows(b) {
			iv.Warnings = append(iv.Warnings, fmt.Sprintf("the recursion that narrows the theory gap was not run: %d runs are above its limit of %d (Options.Recursion, --recursion)", b.count, t.opts.recursion))
		}
		at := eps
		if !alone {
			// Where this block alone has its δ.
			one := fourier.New(o)
			if err := one.Add(b.m.Directions[0].Upper, b.count); err != nil {
				return err
			}
			r, err := one.Epsilon(ctx, delta)
			if err != nil {
				return err
			}
			at = r.Upper
		}
		if !t.narrows(b) || !(at > 0 && at < math.Inf(1)) {
			if err := add(b); err != nil {
				return err
			}
			continue
		}
		if alone && iv.Upper == at && iv.Lower > 0 {
			// The recursion's end is much nearer to what is attained than the product's.
			at = iv.Lower + (iv.Upper-iv.Lower)/8
		}
		p, attacks, err := t.together(ctx, b, at, delta, share, alone)
		if stopped := cancelled(ctx); stopped != nil {
			return stopped
		}
		if p == nil { // what cannot be resolved stays as it was
			iv.Warnings = append(iv.Warnings, fmt.Sprintf("the recursion that narrows the theory gap was not run: %v", err))
			if err := add(b); err != nil {
				return err
			}
			continue
		}
		for d := range sums {
			if err := sums[d].Add(p, 1); err != nil {
				return err
			}
		}
		narrowed = true
		for _, reached := range attacks {
			iv.Lower = max(iv.Lower, q.reached(reached))
		}
		if len(attacks) == 0 && err == parallel.ErrWork {
			iv.Warnings = append(iv.Warnings, fmt.Sprintf("the recursion's attack, which raises the lower end, was not run: %v", err))
		}
	}
	if !narrowed {
		return nil
	}
	names := t.relation.DirectionNames()
	var worst fourier.Result
	direction := 0
	for d := range sums {
		if d == 1 && t.symmetric {
			break
		}
		r, err := q.ask(ctx, sums[d])
		if err != nil {
			return err
		}
		if d == 0 || r.Upper > worst.Upper {
			worst, direction = r, d
		}
	}
	if worst.Upper < iv.Upper {
		iv.Upper, iv.Estimate, iv.Direction, iv.Points = worst.Upper, worst.Estimate, names[direction], worst.Points
		iv.Budget = Budget{Budget: worst.Budget}
		iv.Gap.Proved = rangeOf(worst)
	}
	iv.Budget.TheoryGap = max(0, iv.Gap.Proved.Lower-max(iv.Gap.Attack.Upper, iv.Lower))
	return iv.finish()
}

// besideBlocks divides the limit of the recursion where blocks of runs have an answer: it takes minutes to gain a part in a thousand.
const besideBlocks = 10

// fewForBlocks is from how many runs on blocks are tried: of fewer, hardly any are.
const fewForBlocks = 100

// narrows reports whether a bound on all runs together is tried.
func (t *total) narrows(r run) bool {
	together := r.m.Together
	return together != nil && r.count > 1 && (r.count <= t.opts.recursion || r.count >= fewForBlocks && together.InBlocks())
}

// together returns the better of two profiles that bound the runs of a block together, accurate for losses of about eps: by blocks of runs,
// and by the recursion where they are few enough. It also returns what adversaries reach with them where they are attacked. The error says why there is
// no profile, or no attack. With a limit of work each takes a share of it.
func (t *total) together(ctx context.Context, b run, eps, delta, share float64, attacked bool) (p profiles.Profile, attacks []profiles.Reached, err error) {
	logDelta, points := xmath.Log(delta), latticePoints(t.opts.Options)
	with := b.m.Together
	if with.InBlocks() && b.count >= fewForBlocks {
		ctx, done := t.sharing(ctx, share/2)
		if p, err = with.UpperInBlocks(ctx, b.count, eps, logDelta, points); err == nil && attacked {
			var reached profiles.Reached
			if reached, err = with.AttackInBlocks(ctx, b.count, eps, logDelta, points); err == nil {
				attacks = append(attacks, reached)
			}
		}
		done()
		share /= 2
	}
	if b.count > t.opts.recursion || p != nil && b.count > t.opts.recursion/besideBlocks {
		return p, attacks, err
	}
	at := math.Inf(1)
	if p != nil {
		at, _ = profiles.LogDelta(p, eps)
	}
	ctx, done := t.sharing(ctx, share)
	defer done()
	q, err := with.Upper(t.watched(ctx, b.count, 0), b.count, eps, logDelta, points)
	if err != nil {
		return p, attacks, err
	}
	if l, _ := profiles.LogDelta(q, eps); l < at {
		p = q
	}
	if !attacked {
		return p, attacks, nil
	}
	reached, err := with.Attack(t.watched(ctx, b.count, b.count), b.count, eps, logDelta, points)
	if err == nil {
		attacks = append(attacks, reached)
	}
	return p, attacks, err
}

// sharing returns a context with this much work where it is limited, and what counts it in the end.
func (t *total) sharing(ctx context.Context, share float64) (shared context.Context, done func()) {
	if !t.opts.limited {
		return ctx, func() {}
	}
	shared = parallel.WithWork(ctx, share)
	return shared, func() {
		spent, _ := parallel.Work(shared)
		t.recursed += spent
	}
}

// cancelled returns the error of a context that makes a question fail. A time limit does not.
func cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil && context.Cause(ctx) != fourier.ErrTimeLimit {
		return err
	}
	return nil
}
