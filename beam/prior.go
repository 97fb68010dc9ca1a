package beam

// This file makes the private histogram of labels and the design that follows from it, once
// for all workers.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/labeldp"
)

func init() {
	beam.RegisterDoFn(reflect.TypeFor[cellFn]())
	beam.RegisterDoFn(cellText)
	beam.RegisterDoFn(addCounts)
	beam.RegisterDoFn(reflect.TypeFor[priorFn]())
	beam.RegisterDoFn(reflect.TypeFor[designFn]())
}

// LabelOptions say how labels are made private.
type LabelOptions struct {
	Epsilon float64   // the whole budget of one label
	Labels  []float64 // the public set, in any order
	// Weights is a public prior, one for each label. Without it a part of the budget buys a
	// private histogram.
	Weights      []float64
	PriorEpsilon float64 // that part; 0 is √(cells/rows)
	Floor        float64 // the share of the uniform prior mixed into an estimated one
	Method       string  // optimal, the default, debiased-rr, two-point, randomized-response or rr-on-bins
	Round        bool    // round labels between two of the set, without bias
	// UniqueIDs says that no two rows have the same ID, as of lines that are named by file and
	// offset. Without it rows are grouped to find out.
	UniqueIDs bool
	Key       Key
}

// Check reports what is wrong with the options, but for the key.
func (o LabelOptions) Check() error {
	uniform := o.Weights
	if uniform == nil {
		uniform = make([]float64, len(o.Labels))
		for i := range uniform {
			uniform[i] = 1
		}
	}
	p, err := labeldp.NewPrior(o.Labels, uniform)
	if err != nil {
		return err
	}
	eps := o.Epsilon
	switch {
	case len(p.Labels()) != len(o.Labels):
		return fault.New("labels", "%d of %d are repeated, each must be listed once", len(o.Labels)-len(p.Labels()), len(o.Labels))
	case o.Weights != nil && o.PriorEpsilon != 0:
		return fault.New("prior-epsilon", "is of no use with a prior, which is public")
	case o.PriorEpsilon != 0 && !(o.PriorEpsilon > 0 && o.PriorEpsilon < o.Epsilon):
		return fault.New("prior-epsilon", "%v is not in (0, %v), the budget", o.PriorEpsilon, o.Epsilon)
	case !(o.Floor >= 0 && o.Floor <= 1):
		return fault.New("floor", "%v is not in [0, 1]", o.Floor)
	case !slices.Contains(labelMethods, o.method()):
		return fault.New("method", "%q is unknown; must be one of %s", o.Method, strings.Join(labelMethods, ", "))
	}
	_, err = labeldp.DebiasedRR(p.Labels(), eps-o.PriorEpsilon) // for the range of ε
	return err
}

var labelMethods = []string{"optimal", "debiased-rr", "two-point", "randomized-response", "rr-on-bins"}

func (o LabelOptions) method() string { return cmp.Or(o.Method, "optimal") }

// design makes the randomizer of a prior.
func (o LabelOptions) design(ctx context.Context, p labeldp.Prior, eps float64) (labeldp.Randomizer, error) {
	m, err := service.NewLabelMethod(ctx, o.method(), p, eps)
	if err != nil {
		return nil, err
	}
	return m.(labeldp.Randomizer), nil
}

// A Charge is what an accountant should compose: a mechanism and how often it ran on each
// label or person. Labels are under substitution, partitions under adding or removing one
// person.
type Charge struct {
	Mechanism string  `json:"mechanism"`
	Epsilon   float64 `json:"epsilon"`
	Delta     float64 `json:"delta,omitempty"`
	Count     int64   `json:"count"`
}

// LabelPriors are the priors of groups and what they cost: the line of [EstimatePrior].
type LabelPriors struct {
	Rows         int64        `json:"rows"`
	Epsilon      float64      `json:"epsilon"`
	PriorEpsilon float64      `json:"prior-epsilon"`
	Randomizer   float64      `json:"randomizer-epsilon"`
	Method       string       `json:"method"`
	Labels       []float64    `json:"labels"`
	Groups       []LabelGroup `json:"groups"`
	Charge       []Charge     `json:"charge"`
}

// A LabelGroup has the prior of a group and, once designed, its half-loss.
type LabelGroup struct {
	Name  string    `json:"name"`
	Rows  int64     `json:"rows"`
	Prior []float64 `json:"prior"`
	Loss  float64   `json:"loss,omitempty"`
}

// EstimatePrior returns one line of JSON, a [LabelPriors]: the prior of each group by a
// private histogram of the rows, whose ε is in the charge, or the public prior. Of no rows
// there is no line.
//
// Theorem: labeldp/pipeline.go, disjoint groups. Condition: the group of a row is public, and
// so is how many rows a group has. Relation: one label replaced.
func EstimatePrior(s beam.Scope, o LabelOptions, rows beam.PCollection) beam.PCollection {
	s = s.Scope("EstimatePrior")
	cells := beam.ParDo(s, &cellFn{labelFn{Options: o}}, rows)
	counts := beam.ParDo(s, cellText, beam.CombinePerKey(s, addCounts, cells))
	// An impulse for the key: the histogram is one element, whichever worker makes it.
	return beam.ParDo(s, &priorFn{o}, beam.Impulse(s), beam.SideInput{Input: counts})
}

type cellFn struct{ labelFn }

// ProcessElement counts the label of a row, rounded if it is between two: by draws of its
// own, as the histogram and the release of a label are two releases.
func (fn *cellFn) ProcessElement(r LabelRow) (string, int64) {
	return fmt.Sprintf("%s\x00%06d", r.Group, fn.row.index(r, "round for the histogram")), 1
}

func addCounts(a, b int64) int64 { return a + b }

// cellText is a group, the index of a label and their count as one text.
func cellText(cell string, n int64) string { return fmt.Sprintf("%s\x00%d", cell, n) }

type priorFn struct{ Options LabelOptions }

// ProcessElement adds the noise. It is drawn for these counts and options, so that a retry
// publishes the same histogram, and other data with the same key another.
func (fn *priorFn) ProcessElement(ctx context.Context, _ []byte, cells func(*string) bool, emit func(string)) error {
	var texts []string
	for t := ""; cells(&t); {
		texts = append(texts, t)
	}
	if len(texts) == 0 {
		return nil
	}
	slices.Sort(texts)
	o := fn.Options
	labels := slices.Sorted(slices.Values(o.Labels))
	out := LabelPriors{Epsilon: o.Epsilon, Randomizer: o.Epsilon, Method: o.method(), Labels: labels}
	var counts [][]int64
	for _, t := range texts {
		part := strings.Split(t, "\x00") // a group may hold a zero byte itself
		at := len(part) - 2
		label, _ := strconv.Atoi(part[at])
		n, err := strconv.ParseInt(part[at+1], 10, 64)
		if err != nil {
			return err
		}
		name := strings.Join(part[:at], "\x00")
		if len(out.Groups) == 0 || out.Groups[len(out.Groups)-1].Name != name {
			out.Groups = append(out.Groups, LabelGroup{Name: name})
			counts = append(counts, make([]int64, len(labels)))
		}
		g := len(counts) - 1
		counts[g][label] += n
		out.Groups[g].Rows += n
		out.Rows += n
	}
	if err := fn.price(ctx, &out, counts, strings.Join(texts, "\n")); err != nil {
		return err
	}
	text, err := service.Marshal(out)
	emit(string(text))
	return err
}

// price fills in the priors of the groups and what they cost.
func (fn *priorFn) price(ctx context.Context, out *LabelPriors, counts [][]int64, texts string) error {
	o := fn.Options
	if o.Weights != nil {
		p, err := labeldp.NewPrior(o.Labels, o.Weights)
		if err != nil {
			return err
		}
		r, err := o.design(ctx, p, o.Epsilon)
		if err != nil {
			return err
		}
		for g := range out.Groups {
			out.Groups[g].Prior = p.Probs()
		}
		out.Charge = []Charge{{Mechanism: r.Name(), Epsilon: o.Epsilon, Count: 1}}
		return nil
	}
	d, err := o.Key.draws(ctx)
	if err != nil {
		return err
	}
	options, err := json.Marshal([]any{out.Labels, o.Epsilon, o.PriorEpsilon})
	if err != nil {
		return err
	}
	plan := labeldp.Plan{Labels: out.Labels, Epsilon: o.Epsilon, PriorEpsilon: o.PriorEpsilon, Floor: o.Floor}
	priors, stages, err := plan.GroupPriors(counts, d.of("histogram", string(options), texts))
	if err != nil {
		return err
	}
	for g, p := range priors {
		out.Groups[g].Prior = p.Probs()
	}
	out.PriorEpsilon, out.Randomizer = stages[0].Epsilon, stages[1].Epsilon
	for _, s := range stages {
		out.Charge = append(out.Charge, Charge{Mechanism: s.Mechanism.Name(), Epsilon: s.Epsilon, Count: s.Count})
	}
	return nil
}

// A design is the randomizer of each group, and the report of how it came about.
type design struct {
	Groups map[string]json.RawMessage
	Report LabelPriors
}

type designFn struct{ Options LabelOptions }

// ProcessElement designs a randomizer for each prior, for the side input of all rows.
func (fn *designFn) ProcessElement(ctx context.Context, priors string, emit func(string)) error {
	out := design{Groups: map[string]json.RawMessage{}}
	if err := json.Unmarshal([]byte(priors), &out.Report); err != nil {
		return err
	}
	for i := range out.Report.Groups {
		g := &out.Report.Groups[i]
		p, err := labeldp.NewPrior(out.Report.Labels, g.Prior)
		if err != nil {
			return err
		}
		r, err := fn.Options.design(ctx, p, out.Report.Randomizer)
		if err != nil {
			return err
		}
		if g.Loss, err = labeldp.HalfLoss(r, p); err != nil {
			return err
		}
		if out.Groups[g.Name], err = json.Marshal(r); err != nil {
			return err
		}
	}
	text, err := json.Marshal(out)
	emit(string(text))
	return err
}
