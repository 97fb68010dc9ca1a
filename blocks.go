package accountant

// Runs of mechanisms with a profiles.Block are composed together: the sums hold the
// profile of the block, which depends on how many runs it has, and are built anew when a
// question comes after more of them.

import (
	"context"

	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/profiles"
)

// prepare brings the sums up to date. After an error they are as stale as before.
//
// A block is an interactive mechanism that its profile dominates. What else runs may
// come before, after or in between: the product of dominating pairs covers concurrent
// composition (Vadhan and Zhang, STOC 2023, arXiv:2207.08335). From below, an adversary
// that changes with ε is one for a block that runs alone; beside anything else, one pair
// of data sets is the attack.
func (a *Accountant) prepare(ctx context.Context) error {
	if !a.stale {
		return nil
	}
	runs, err := a.expand(ctx)
	if err != nil {
		return err
	}
	a.past = a.spent()
	a.summed, a.gap, a.theory, a.symmetric = nil, false, false, true
	for d := range a.upper {
		a.upper[d] = fourier.New(a.opts.Options)
		if a.opts.many {
			a.upper[d].ExpectMany()
		}
		a.lower[d] = a.upper[d]
	}
	for _, r := range runs {
		if err := a.include(r); err != nil {
			return err
		}
		a.summed = append(a.summed, r)
	}
	a.stale = false
	return nil
}

// expand returns what was added, with blocks in place of their runs.
func (a *Accountant) expand(ctx context.Context) ([]run, error) {
	var runs, blocks []run
next:
	for _, r := range a.added {
		if r.m.Block == nil {
			runs = append(runs, r)
			continue
		}
		for i, b := range blocks {
			if b.m.Block == r.m.Block {
				blocks[i].count += r.count
				continue next
			}
		}
		blocks = append(blocks, r)
	}
	alone := len(runs) == 0 && len(blocks) == 1
	for _, b := range blocks {
		more, err := a.block(ctx, b, alone)
		if err != nil {
			return nil, err
		}
		runs = append(runs, more...)
	}
	return runs, nil
}

// block returns the runs that stand for those of one block: what dominates them, and
// apart from that what attacks them.
func (a *Accountant) block(ctx context.Context, b run, alone bool) ([]run, error) {
	if alone && b.count == 1 {
		one := *b.m // whose directions are those of one run, attained at each ε
		one.Block = nil
		return []run{{m: &one, count: 1}}, nil
	}
	width := a.opts.Relative
	upper, err := b.m.Block.Upper(ctx, b.count, width)
	if err != nil {
		return nil, err
	}
	var lower [2][]profiles.Repeated
	exact := false
	if alone {
		lower, exact, err = b.m.Block.Reached(ctx, b.count, width)
	} else {
		var attack [2]profiles.Profile
		attack, err = b.m.Block.Attack()
		for d, p := range attack {
			lower[d] = []profiles.Repeated{{Profile: p, Count: b.count}}
		}
	}
	if err != nil {
		return nil, err
	}
	if same(upper, lower) {
		return stand(b.m, upper, exact, func(p profiles.Profile) profiles.Direction { return profiles.Exact(p) }), nil
	}
	return append(stand(b.m, upper, exact, func(p profiles.Profile) profiles.Direction { return profiles.Direction{Upper: p} }),
		stand(b.m, lower, exact, func(p profiles.Profile) profiles.Direction { return profiles.Direction{Lower: p} })...), nil
}

// same reports whether two compositions are certainly the same.
func same(p, q [2][]profiles.Repeated) bool {
	for d := range p {
		if len(p[d]) != len(q[d]) {
			return false
		}
		for i, r := range p[d] {
			if r.Count != q[d][i].Count || !profiles.Equal(r.Profile, q[d][i].Profile) {
				return false
			}
		}
	}
	return true
}

// stand returns a run for each profile of a composition, the directions side by side:
// both are of the same length and counts. exact says that theory leaves no gap.
func stand(m *profiles.Bounds, both [2][]profiles.Repeated, exact bool, as func(profiles.Profile) profiles.Direction) []run {
	var runs []run
	for i, r := range both[0] {
		one := profiles.Bounds{Name: m.Name, Relation: m.Relation, Numerical: exact,
			Directions: [2]profiles.Direction{as(r.Profile), as(both[1][i].Profile)}}
		runs = append(runs, run{m: &one, count: r.Count})
	}
	return runs
}
