package service

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/labeldp"
)

// This file designs the randomizer of private labels that has the least loss.

// LabelRequest has the privacy of one label and the prior: a weight for each label or
// class, of each group if examples have public groups.
type LabelRequest struct {
	Epsilon Decimals     `json:"epsilon" in:"[1e-6, 28]" help:"privacy {ε} of the randomizer, in [1e-6, 28], several with commas between them"`
	Labels  []float64    `json:"labels,omitempty" or:"classes"`
	Weights []float64    `json:"weights,omitempty" or:"groups"`
	Grid    int          `json:"grid,omitempty" help:"restrict outputs to this {number} of evenly spaced ones (0: anywhere)"`
	Bias    *float64     `json:"bias,omitempty" with:"grid" help:"allow this much {bias}; needs --grid"`
	Classes []string     `json:"classes,omitempty" not:"labels,groups,grid"` // in place of labels
	Groups  []LabelGroup `json:"groups,omitempty" not:"weights,grid"`        // in place of weights

	Caps
}

// LabelGroup is a group of examples, told by public features, with its own prior. Weights
// are of examples: their sum is the size of the group.
type LabelGroup struct {
	Name    string    `json:"name"`
	Weights []float64 `json:"weights"`
}

// LabelGroupAnswer is the randomizer of a group. Loss is that of its examples alone.
type LabelGroupAnswer struct {
	Name          string      `json:"name"`
	Share         float64     `json:"share"` // of all examples
	Loss          float64     `json:"loss"`
	Gap           float64     `json:"gap"`
	Outputs       []float64   `json:"outputs"`
	Probabilities [][]float64 `json:"probabilities"`
}

// LabelAnswer is a randomizer with its certificate, and what other methods would lose.
type LabelAnswer struct {
	Epsilon       float64             `json:"epsilon"`
	Labels        []float64           `json:"labels"`
	Prior         []float64           `json:"prior"`
	Loss          map[string]float64  `json:"loss"`
	Bias          map[string]float64  `json:"max-bias"`
	Gap           float64             `json:"gap"`
	Certificate   labeldp.Certificate `json:"certificate" py:",mapping"`
	Outputs       []float64           `json:"outputs"`
	Probabilities [][]float64         `json:"probabilities"`
	Tau           float64             `json:"tau"`
	WorstPair     [2]float64          `json:"worst-pair"`

	// With classes labels and outputs are their numbers, 0, 1, …, and what counts is the
	// probability that one is kept.
	Classes []string           `json:"classes,omitempty"`
	Kept    map[string]float64 `json:"kept,omitempty"`
	// With groups, what is above is for one prior of all; GroupedLoss is with one each.
	Groups      []LabelGroupAnswer `json:"groups,omitempty"`
	GroupedLoss float64            `json:"grouped-loss,omitempty"`
	// Coarser has, for methods other than the optimum, labels to round to on which they
	// lose less.
	Coarser map[string]LabelHint `json:"coarser,omitempty"`

	// Methods are the names of Loss and Bias, the randomizer's own first.
	Methods    []string           `json:"-"`
	Randomizer labeldp.Randomizer `json:"-"`
}

// label designs a randomizer.
func (s *Service) label(ctx context.Context, q LabelRequest) (*LabelAnswer, error) {
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(q.Classes) > 0:
		return classes(q)
	}
	if len(q.Groups) > 0 {
		q.Weights = make([]float64, len(q.Labels))
		for i, g := range q.Groups {
			if len(g.Weights) != len(q.Labels) { // without any the prior would be uniform
				return nil, fault.New(fmt.Sprintf("groups[%d].weights", i), "%d are not one for each of %d labels", len(g.Weights), len(q.Labels))
			}
			if _, err := labeldp.NewPrior(q.Labels, g.Weights); err != nil {
				return nil, fault.Rename(err, func(key string) string {
					return strings.Replace(key, "weights", fmt.Sprintf("groups[%d].weights", i), 1)
				})
			}
			for j, w := range g.Weights {
				q.Weights[j] += w
			}
		}
	}
	p, err := labeldp.NewPrior(q.Labels, q.Weights)
	if err != nil {
		return nil, err
	}
	a, err := design(ctx, p, q.Epsilon.float(), q.Grid, q.Bias)
	if err == nil {
		err = a.byGroup(ctx, q)
	}
	if err == nil {
		err = a.coarser(ctx, p)
	}
	return a, err
}

// classes designs randomized response that favours likely classes.
func classes(q LabelRequest) (*LabelAnswer, error) {
	codes := make([]float64, len(q.Classes))
	for i := range codes {
		codes[i] = float64(i)
	}
	p, err := labeldp.NewPrior(codes, q.Weights)
	if err != nil {
		return nil, fault.Rename(err, func(key string) string { return strings.Replace(key, "labels", "classes", 1) })
	}
	for i, name := range q.Classes { // of which there are few
		if slices.Contains(q.Classes[:i], name) {
			return nil, fault.New(fmt.Sprintf("classes[%d]", i), "%q is repeated", name)
		}
	}
	chosen, err := labeldp.RRWithPrior(p, q.Epsilon.float(), 0)
	if err != nil {
		return nil, err
	}
	plain, err := labeldp.RandomizedResponse(codes, q.Epsilon.float())
	if err != nil {
		return nil, err
	}
	a := answer(chosen, p, labeldp.Certificate{})
	a.Classes, a.Kept = q.Classes, map[string]float64{}
	for _, r := range []labeldp.Randomizer{chosen, plain} {
		a.Methods = append(a.Methods, r.Name())
		a.Kept[r.Name()] = Kept(r, p)
	}
	return a, nil
}

// Kept is the probability that a label of the prior comes out as it is; 0 of a method
// with outputs that are no labels.
func Kept(m labeldp.Method, p labeldp.Prior) float64 {
	r, ok := m.(labeldp.Randomizer)
	if !ok {
		return 0
	}
	sum := 0.0
	for i, y := range p.Labels() {
		if j, ok := slices.BinarySearch(r.Outputs(), y); ok {
			sum += p.Probs()[i] * r.Row(i)[j]
		}
	}
	return sum
}

// byGroup adds a randomizer for each group.
func (a *LabelAnswer) byGroup(ctx context.Context, q LabelRequest) error {
	total := 0.0
	for _, g := range q.Groups {
		size := 0.0
		for _, w := range g.Weights {
			size += w
		}
		p, err := labeldp.NewPrior(q.Labels, g.Weights)
		if err != nil {
			return err
		}
		r, cert, err := labeldp.OptimalUnbiased(ctx, p, q.Epsilon.float())
		if err != nil {
			return err
		}
		out := LabelGroupAnswer{Name: g.Name, Share: size, Loss: cert.Primal, Gap: cert.RelGap, Outputs: r.Outputs()}
		for i := range p.Labels() {
			out.Probabilities = append(out.Probabilities, r.Row(i))
		}
		total += size
		a.GroupedLoss += size * cert.Primal
		a.Groups = append(a.Groups, out)
	}
	for i := range a.Groups {
		a.Groups[i].Share /= total
	}
	if len(a.Groups) > 0 {
		a.GroupedLoss /= total
	}
	return nil
}

// coarser adds hints for the methods that know no prior.
func (a *LabelAnswer) coarser(ctx context.Context, p labeldp.Prior) error {
	for _, name := range []string{"debiased-rr", "randomized-response"} {
		hint, err := CoarserLabels(ctx, p, a.Epsilon, a.Loss[name], 0, name)
		if err != nil {
			return err
		}
		if hint != nil {
			if a.Coarser == nil {
				a.Coarser = map[string]LabelHint{}
			}
			a.Coarser[name] = *hint
		}
	}
	return nil
}

func design(ctx context.Context, p labeldp.Prior, eps float64, grid int, bias *float64) (*LabelAnswer, error) {
	methods, cert, err := labeldp.Methods(ctx, p, eps)
	if err != nil {
		return nil, err
	}
	chosen := methods[0].(labeldp.Randomizer)
	if grid != 0 {
		outputs, err := labeldp.FeasibleGrid(p.Labels(), eps, grid)
		if err != nil {
			return nil, renamed(err, "n", "grid")
		}
		if bias != nil {
			chosen, cert, err = labeldp.BiasLimited(ctx, p, eps, *bias, outputs)
		} else {
			chosen, cert, err = labeldp.OptimalUnbiasedGrid(ctx, p, eps, outputs)
		}
		if err != nil {
			return nil, err
		}
		methods = append([]labeldp.Method{chosen}, methods...)
	}
	r := answer(chosen, p, cert)
	for _, m := range methods {
		name := LabelMethod(m)
		loss, err := labeldp.HalfLoss(m, p)
		if err != nil {
			return nil, err
		}
		worst := 0.0
		for _, y := range p.Labels() {
			b, _, err := m.Moments(y)
			if err != nil {
				return nil, err
			}
			worst = max(worst, math.Abs(b))
		}
		r.Loss[name], r.Bias[name] = loss, worst
		r.Methods = append(r.Methods, name)
	}
	return r, nil
}

func answer(chosen labeldp.Randomizer, p labeldp.Prior, cert labeldp.Certificate) *LabelAnswer {
	r := &LabelAnswer{Epsilon: chosen.Epsilon(), Labels: p.Labels(), Prior: p.Probs(), Loss: map[string]float64{}, Bias: map[string]float64{},
		Gap: cert.RelGap, Certificate: cert, Outputs: chosen.Outputs(), Tau: chosen.Tau(), Randomizer: chosen}
	r.WorstPair[0], r.WorstPair[1] = chosen.WorstPair()
	for i := range p.Labels() {
		r.Probabilities = append(r.Probabilities, chosen.Row(i))
	}
	return r
}

// LabelMethod is the name of a method in answers.
func LabelMethod(m labeldp.Method) string {
	return strings.TrimSuffix(strings.Replace(m.Name(), "optimal-unbiased", "optimal", 1), "-unbiased")
}

// What follows looks for a coarser set of labels on which a randomizer loses less.

// LabelHint is a set of labels to round to, without bias, and the half-loss there.
type LabelHint struct {
	Labels []float64 `json:"labels"`
	Loss   float64   `json:"loss"`
}

// CoarserLabels returns the best of every second, third, … of the labels of p for a method of
// NewLabelMethod, or nil if none has a half-loss 1 % below loss. Fewer labels cost less to estimate a prior of, from n
// examples (0: the prior is given), and methods that know no prior lose less on fewer. What
// it uses of private labels is what p has of them.
//
// With a prior that is given, rounding and then the best randomizer is one of those that
// the optimum has been chosen from: the optimum gets no hint.
func CoarserLabels(ctx context.Context, p labeldp.Prior, eps, loss float64, n int64, method string) (*LabelHint, error) {
	labels := p.Labels()
	var best *LabelHint
	last := 0
	for _, step := range []int{2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 499} {
		var support []float64
		for i := 0; i < len(labels)-1; i += step {
			support = append(support, labels[i])
		}
		support = append(support, labels[len(labels)-1])
		if len(support) == last || len(support) < 2 || len(support) == len(labels) {
			continue
		}
		last = len(support)
		rest := eps
		if n > 0 {
			var err error
			if _, rest, err = labeldp.SplitBudget(eps, len(support), n); err != nil {
				continue // too few examples even for that
			}
		}
		rounded, err := p.Rounded(support)
		if err != nil {
			return nil, err
		}
		m, err := NewLabelMethod(ctx, method, rounded, rest)
		if err != nil {
			return nil, err
		}
		if r, ok := m.(labeldp.Randomizer); ok {
			m = labeldp.NewRounder(r)
		}
		if is, err := labeldp.HalfLoss(m, p); err != nil {
			return nil, err
		} else if is < 0.99*loss && (best == nil || is < best.Loss) {
			best = &LabelHint{slices.Clone(support), is}
		}
	}
	return best, nil
}
