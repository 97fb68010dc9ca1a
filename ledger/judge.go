package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/rdp"
)

// Spent is what the entries of a ledger have cost.
type Spent struct {
	// Epsilon is ε at the ledger's δ of everything entered so far: a planned
	// ledger's answer.
	Epsilon accountant.Interval
	// Order, Renyi and RenyiBudget tell how much of the budget is used at the
	// order that has the largest share of it left: an adaptive ledger's answer.
	// They are for steering; the guarantee is the budget.
	Order, Renyi, RenyiBudget float64
}

// planned judges by the Fourier accountant.
//
// More runs never cost less: fewer of them are what more of them release, with
// something left out. So one proof that a larger total is within the budget
// serves every total below it, and a loop pays for a proof only now and then.
type planned struct {
	config Config
	plans  map[string]*accountant.Plan
	keys   []string // of plans, in the order of their first entry
	counts map[string]int64
	proved map[string]int64 // counts that are within the budget
	ahead  int64            // how far beyond the wish to prove
	known  *accountant.Interval
}

func newPlanned(c Config) *planned {
	return &planned{config: c, plans: map[string]*accountant.Plan{}, counts: map[string]int64{}, proved: map[string]int64{}}
}

func (j *planned) restore(text string, p *accountant.Plan) error {
	if j.plans[text] == nil {
		j.plans[text] = p
		j.keys = append(j.keys, text)
	}
	j.counts[text]++
	j.known = nil
	return nil
}

// maxAhead bounds the look ahead; totals stay far below 2^53.
const maxAhead = 1 << 20

func (j *planned) try(text string, p *accountant.Plan) error {
	added := j.plans[text] == nil
	want := maps.Clone(j.counts)
	want[text]++
	if !below(want, j.proved) {
		if added {
			j.plans[text] = p
			j.keys = append(j.keys, text)
		}
		if err := j.prove(text, want); err != nil {
			if added {
				delete(j.plans, text)
				j.keys = j.keys[:len(j.keys)-1]
			}
			return err
		}
	}
	j.counts = want
	j.known = nil
	return nil
}

// prove shows that the counts are within the budget.
func (j *planned) prove(text string, want map[string]int64) error {
	if j.ahead > 0 {
		far := maps.Clone(j.proved)
		for k, n := range want {
			far[k] = max(far[k], n)
		}
		far[text] = want[text] + j.ahead
		if iv, err := j.epsilon(far, 0.2, 1e-3); err == nil && iv.Upper <= j.config.Epsilon {
			j.proved, j.ahead = far, min(2*j.ahead, maxAhead)
			return nil
		}
		j.ahead = 0
	} else {
		j.ahead = 1
	}
	iv, err := j.epsilon(want, 0.2, 1e-3, 1e-6)
	if err != nil {
		return err
	}
	if iv.Upper <= j.config.Epsilon {
		j.proved = want
		return nil
	}
	j.ahead = 0
	if iv, err = j.epsilon(want, 1e-3, 1e-6); err != nil { // for the message
		return err
	}
	now, err := j.spent()
	if err != nil {
		return err
	}
	b := j.config.Epsilon
	used := max(0, now.Epsilon.Upper)
	return fmt.Errorf("%w: it would bring ε to %s at δ = %s, where the budget is %s, of which %s is spent and %s is left",
		ErrBudget, num(iv.Upper, b), num(j.config.Delta, -1), num(b, -1), num(used, -1), num(max(0, b-used), -1))
}

func below(a, b map[string]int64) bool {
	for k, n := range a {
		if n > b[k] {
			return false
		}
	}
	return true
}

// epsilon returns ε of the counts, to the accuracies in turn until it can be
// compared with the budget.
func (j *planned) epsilon(counts map[string]int64, accuracies ...float64) (accountant.Interval, error) {
	var iv accountant.Interval
	for _, accuracy := range accuracies {
		acct := accountant.New(j.config.Neighbors, accountant.WithAccuracy(accuracy))
		for _, k := range j.keys {
			if n := counts[k]; n > 0 {
				if err := acct.Add(context.Background(), accountant.Step{Steps: j.plans[k].Steps}, n); err != nil {
					return iv, err
				}
			}
		}
		if acct.Runs() == 0 {
			return accountant.Interval{}, nil
		}
		var err error
		if iv, err = acct.Epsilon(context.Background(), j.config.Delta); err != nil {
			return iv, err
		}
		lower := iv.Lower
		if iv.Gap != nil {
			lower = iv.Gap.Proved.Lower // no computation closes the gap below
		}
		if iv.Upper <= j.config.Epsilon || lower > j.config.Epsilon {
			break
		}
	}
	return iv, nil
}

func (j *planned) spent() (Spent, error) {
	if j.known == nil {
		iv, err := j.epsilon(j.counts, 1e-3, 1e-6)
		if err != nil {
			return Spent{}, err
		}
		j.known = &iv
	}
	return Spent{Epsilon: *j.known}, nil
}

func (j *planned) recheck() error {
	j.known = nil
	s, err := j.spent()
	if err == nil && s.Epsilon.Upper > j.config.Epsilon {
		err = fmt.Errorf("the entries cost ε = %s at δ = %s, above the budget %s",
			num(s.Epsilon.Upper, j.config.Epsilon), num(j.config.Delta, -1), num(j.config.Epsilon, -1))
	}
	return err
}

// adaptive judges by a Rényi filter.
type adaptive struct {
	filter *rdp.Filter
	curves map[string]rdp.Curve // on the filter's orders
	orders []float64
}

// newAdaptive completes the orders of c.
func newAdaptive(c *Config) (*adaptive, error) {
	if len(c.Orders) == 0 {
		if !(c.Delta > 0 && c.Delta < 1) {
			return nil, fmt.Errorf("delta: %v is not in (0, 1), which adaptive ledgers need", c.Delta)
		}
		if c.Epsilon < 1e-9 {
			return nil, fmt.Errorf("epsilon: %v is not in [1e-09, +Inf), which adaptive ledgers need", c.Epsilon)
		}
		// Around the order that is best for Gaussian noise; each order costs
		// log(5)/(α−1) of ε against knowing the best one.
		t := -2 * math.Log(c.Delta) / c.Epsilon
		for _, x := range []float64{0.5, 0.75, 1, 1.5, 2.5} {
			a, _ := strconv.ParseFloat(strconv.FormatFloat(1+x*t, 'g', 4, 64), 64)
			if a > 1 {
				c.Orders = append(c.Orders, a)
			}
		}
	}
	f, err := rdp.NewFilterFor(c.Epsilon, c.Delta, c.Orders...)
	if err != nil {
		return nil, err
	}
	return &adaptive{f, map[string]rdp.Curve{}, f.Budget().Orders}, nil
}

func (j *adaptive) try(text string, p *accountant.Plan) error {
	c, ok := j.curves[text]
	if !ok {
		curve, err := p.RDP()
		if err != nil {
			return err
		}
		g := rdp.OnOrders(curve, j.orders)
		if err := g.Check(); err != nil {
			return err
		}
		c = g
		if len(j.curves) < 1000 {
			j.curves[text] = c
		}
	}
	err := j.filter.Spend(c)
	if !errors.Is(err, rdp.ErrBudget) {
		return err
	}
	// Name the order at which the least is missing.
	spent, budget := j.filter.Spent(), j.filter.Budget()
	best, over := 0, math.Inf(1)
	for i, a := range j.orders {
		if o := (spent.Values[i] + c.RDP(a)) / budget.Values[i]; o < over {
			best, over = i, o
		}
	}
	b := budget.Values[best]
	return fmt.Errorf("%w: at Rényi order %s it would bring the divergence to %s, where the budget is %s, of which %s is spent and %s is left; no other order allows it either",
		ErrBudget, num(j.orders[best], -1), num(spent.Values[best]+c.RDP(j.orders[best]), b), num(b, -1),
		num(spent.Values[best], -1), num(max(0, b-spent.Values[best]), -1))
}

// restore goes the way of try: a filter is the sum of its steps.
func (j *adaptive) restore(text string, p *accountant.Plan) error { return j.try(text, p) }

// recheck has nothing to add: restore has judged every entry.
func (j *adaptive) recheck() error { return nil }

func (j *adaptive) spent() (Spent, error) {
	s, b := j.filter.Spent(), j.filter.Budget()
	best, share := 0, math.Inf(-1)
	for i := range j.orders {
		if x := (b.Values[i] - s.Values[i]) / max(b.Values[i], math.SmallestNonzeroFloat64); x > share {
			best, share = i, x
		}
	}
	return Spent{Order: j.orders[best], Renyi: s.Values[best], RenyiBudget: b.Values[best]}, nil
}

// num writes x with seven digits, or with all if it would read like other.
func num(x, other float64) string {
	s := strconv.FormatFloat(x, 'g', 7, 64)
	if x != other && s == strconv.FormatFloat(other, 'g', 7, 64) {
		s = strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strings.Replace(s, "e-0", "e-", 1)
}
