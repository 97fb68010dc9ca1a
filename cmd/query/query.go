package query

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/plan"
)

// A Query is what is asked, and what it may cost.
type Query struct {
	Epsilon, Delta float64 // the budget of one person
	// Group names the columns whose values make a group; none: the whole table is one.
	Group []string
	// Keys are the groups that the answer has, which are public; nil: which groups exist is private, and the answer
	// has those that are chosen by noise.
	Keys [][]string
	// Person names the column that tells persons apart. A person is counted in at most PerPerson groups, with at
	// most PerGroup rows in each, which are drawn at random. Without such a column PerPerson is how many rows of the
	// table a person has at most: nothing can be dropped, and the promise is for those who keep to it.
	Person              string
	PerPerson, PerGroup int
	Measures            []Measure
	// KeyWeight is the Weight of the choice of groups; 0 is 1.
	KeyWeight float64
}

// A Measure is a number that each group gets.
type Measure struct {
	Kind   string // one of Kinds
	Column string // of the values; none for a count
	// Values are clamped to [Low, High], two numbers that were not taken from the data.
	Low, High float64
	// Cells are the equal parts of [Low, High] that a quantile may tell apart, At its levels in (0, 1).
	Cells int
	At    []float64
	// Weight is by how much less noise this measure gets than others; 0 is 1.
	Weight float64
}

// Kinds are the kinds of measures.
var Kinds = []string{"count", "sum", "mean", "quantile"}

// Limits of a query.
const (
	mostPerPerson = 1_000_000
	mostCells     = 100_000
	mostMeasures  = 100
	mostWeight    = 1e3
)

// Name tells a measure from others: count, sum(amount).
func (m Measure) Name() string {
	if m.Kind == "count" {
		return m.Kind
	}
	return m.Kind + "(" + m.Column + ")"
}

// ParseMeasure reads column:low:high, and of a quantile column:low:high:cells:level, with more levels after more colons.
func ParseMeasure(kind, text string) (Measure, error) {
	parts := strings.Split(text, ":")
	form := "column:low:high"
	fields := 3
	if kind == "quantile" {
		form, fields = "column:low:high:cells:level", 5
	}
	wrong := fault.New(kind, "%s is not %s", nearest.Quote(text), form)
	if len(parts) < fields || kind != "quantile" && len(parts) > fields {
		return Measure{}, wrong
	}
	numbers := make([]float64, len(parts)-1)
	for i, p := range parts[1:] {
		var err error
		if numbers[i], err = decimal.Plain(strings.TrimSpace(p)); err != nil {
			return Measure{}, wrong
		}
	}
	m := Measure{Kind: kind, Column: strings.TrimSpace(parts[0]), Low: numbers[0], High: numbers[1]}
	if kind == "quantile" {
		if m.Cells = int(numbers[2]); float64(m.Cells) != numbers[2] {
			return Measure{}, wrong
		}
		m.At = numbers[3:]
	}
	return m, nil
}

// ParseMeasures reads the measures of a query, a list for each kind but the count.
func ParseMeasures(count bool, sums, means, quantiles []string) (out []Measure, err error) {
	if count {
		out = append(out, Measure{Kind: "count"})
	}
	for i, list := range [][]string{sums, means, quantiles} {
		for _, text := range list {
			m, err := ParseMeasure(Kinds[i+1], text)
			if err != nil {
				return nil, err
			}
			out = append(out, m)
		}
	}
	return out, nil
}

// check returns what is wrong with a query.
func (q *Query) check() error {
	switch {
	case !(q.Epsilon > 0 && q.Epsilon <= 500):
		return fault.New("budget", "%v is not in (0, 500]", q.Epsilon)
	case !(q.Delta >= 0 && q.Delta < 1):
		return fault.New("delta", "%v is not in [0, 1)", q.Delta)
	case q.Delta == 0 && q.private():
		return fault.New("delta", "0 cannot hide which groups exist; set it above 0, or list the groups (keys)")
	case q.PerPerson < 1 || q.PerPerson > mostPerPerson:
		return fault.New("per-person", "%d is not an integer in [1, %d]", q.PerPerson, mostPerPerson)
	case q.PerGroup < 1 || q.PerGroup > mostPerPerson:
		return fault.New("per-group", "%d is not an integer in [1, %d]", q.PerGroup, mostPerPerson)
	case q.Person == "" && q.PerGroup > 1:
		return fault.New("per-group", "%d needs a column of persons (person); without one, per-person limits the rows of the table", q.PerGroup)
	case q.Keys != nil && len(q.Group) == 0:
		return fault.New("keys", "are set without group, the columns that they are values of")
	case q.Keys != nil && len(q.Keys) == 0:
		return fault.New("keys", "lists no group")
	case len(q.Measures) == 0:
		return fault.New("count", "nothing is asked for; ask for a count, sum, mean or quantile")
	case len(q.Measures) > mostMeasures:
		return fault.New("measures", "%d are more than %d", len(q.Measures), mostMeasures)
	case q.KeyWeight != 0 && !q.private():
		return fault.New("weight", "keys has a weight, and no groups are chosen")
	}
	for i, name := range q.Group {
		if name == "" || slices.Contains(q.Group[:i], name) || name == q.Person {
			return fault.New("group", "%s is empty, named twice or the column of persons", nearest.Quote(name))
		}
	}
	for i, k := range q.Keys {
		if len(k) != len(q.Group) {
			return fault.New("keys", "entry %d has %d values for %d columns of group", i+1, len(k), len(q.Group))
		}
	}
	names := map[string]bool{}
	for _, m := range q.Measures {
		if err := m.check(); err != nil {
			return err
		}
		if names[m.Name()] {
			return fault.New(m.Kind, "%s is asked for twice", m.Name())
		}
		names[m.Name()] = true
	}
	return checkWeight("keys", q.KeyWeight)
}

func (m Measure) check() error {
	switch {
	case !slices.Contains(Kinds, m.Kind):
		return fault.New("kind", "%s", nearest.Value(m.Kind, Kinds))
	case m.Kind == "count":
		return checkWeight(m.Name(), m.Weight)
	case m.Column == "":
		return fault.New(m.Kind, "names no column")
	case !(m.Low < m.High) || math.Abs(m.Low) > 1e100 || math.Abs(m.High) > 1e100:
		return fault.New(m.Kind, "[%v, %v] of %s is not a range within [-1e100, 1e100]", m.Low, m.High, nearest.Quote(m.Column))
	case m.High-m.Low < 1e-100:
		return fault.New(m.Kind, "[%v, %v] of %s is shorter than 1e-100", m.Low, m.High, nearest.Quote(m.Column))
	case m.Kind == "quantile" && (m.Cells < 2 || m.Cells > mostCells):
		return fault.New(m.Kind, "%d cells of %s are not an integer in [2, %d]", m.Cells, nearest.Quote(m.Column), mostCells)
	case m.Kind == "quantile" && len(m.At) == 0:
		return fault.New(m.Kind, "of %s has no level", nearest.Quote(m.Column))
	}
	for _, level := range m.At {
		if !(level > 0 && level < 1) {
			return fault.New(m.Kind, "level %v of %s is not in (0, 1)", level, nearest.Quote(m.Column))
		}
	}
	return checkWeight(m.Name(), m.Weight)
}

func checkWeight(name string, w float64) error {
	if w != 0 && !(w >= 1/mostWeight && w <= mostWeight) {
		return fault.New("weight", "%v of %s is not in [%v, %v]", w, name, 1/mostWeight, mostWeight)
	}
	return nil
}

// private reports whether the groups that exist are to be hidden.
func (q *Query) private() bool { return q.Keys == nil && len(q.Group) > 0 }

// A part is a vector of numbers that gets noise of its own: the counts of all groups, the sums of one column.
type part struct {
	name  string  // count, sum(amount)
	bound float64 // of what a row adds to an entry
	cells int     // entries of a group, of which a row is in one
	m     *Measure
	scale float64 // of the noise, once the budget is split
	rest  float64 // one over the weight
}

// parts returns the vectors that the measures are made of. A mean is of a sum about the middle and of the count.
func (q *Query) parts() []part {
	var out []part
	counted := -1
	for i := range q.Measures {
		m := &q.Measures[i]
		rest := 1.0
		if m.Weight != 0 {
			rest = 1 / m.Weight
		}
		if m.Kind == "count" || m.Kind == "mean" {
			if counted < 0 {
				counted = len(out)
				out = append(out, part{name: "count", bound: 1, cells: 1, rest: rest})
			}
			out[counted].rest = min(out[counted].rest, rest)
		}
		switch m.Kind {
		case "sum":
			out = append(out, part{name: m.Name(), bound: max(math.Abs(m.Low), math.Abs(m.High)), cells: 1, m: m, rest: rest})
		case "mean":
			out = append(out, part{name: m.Name(), bound: (m.High - m.Low) / 2, cells: 1, m: m, rest: rest})
		case "quantile":
			out = append(out, part{name: m.Name(), bound: 1, cells: m.Cells, m: m, rest: rest})
		}
	}
	return out
}

// sensitivity is the norm of what a person adds to the entries of a part, of order 2, or 1 where δ is 0.
func (q *Query) sensitivity(p part) float64 {
	n := float64(q.PerPerson)
	switch {
	case q.Person == "": // all rows may be in one entry
		return n * p.bound
	case q.Delta > 0:
		n = math.Sqrt(n)
	}
	return n * float64(q.PerGroup) * p.bound * (1 + 0x1p-51)
}

// keyShare is the part of δ that the choice of groups gets.
const keyShare = 0.5

// text returns the plan of the query, with noise so many times as large as by weights.
func (q *Query) text(parts []part, keyEpsilon float64) []byte {
	var b strings.Builder
	b.WriteString("neighbors: add-remove\nsteps:\n")
	if q.private() {
		fmt.Fprintf(&b, "  - name: keys\n    mechanism: {select-partitions: {epsilon: %s, delta: %s, partitions: %d}}\n",
			decimal.Short(keyEpsilon), decimal.Short(q.keyDelta()), q.PerPerson)
	}
	for _, p := range parts {
		noise := "laplace: {scale"
		if q.Delta > 0 {
			noise = "gaussian: {standard-deviation"
		}
		limits := fmt.Sprintf("partitions: %d", q.PerPerson)
		if q.Person == "" {
			limits = fmt.Sprintf("total: %d", q.PerPerson)
		}
		each := decimal.Short(float64(q.PerGroup) * p.bound)
		if p.m != nil && p.m.Kind == "sum" {
			each = fmt.Sprintf("%d, clamp: [%s, %s]", q.PerGroup, decimal.Short(p.m.Low), decimal.Short(p.m.High))
		}
		fmt.Fprintf(&b, "  - name: %s\n    mechanism: {%s: %s, %s, per-partition: %s}}\n", yamlText(p.name), noise, decimal.Short(p.scale), limits, each)
	}
	return []byte(b.String())
}

// yamlText quotes a text.
func yamlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// keyDelta is δ of the choice of one group.
func (q *Query) keyDelta() float64 { return q.Delta * keyShare / float64(q.PerPerson) }

// A Price is the noise that the budget pays for.
type Price struct {
	Plan    []byte // what is spent
	Epsilon accountant.Interval
	Noise   []Noise
	Paid    Paid
}

// Paid is what the noise is drawn with: its scale for each part, and ε of the choice of groups.
type Paid struct {
	Scales     []float64
	KeyEpsilon float64
}

// Noise is that of one vector.
type Noise struct {
	Name string
	Law  string  // gaussian or laplace
	SD   float64 // standard deviation of each entry
}

// Price splits the budget by the weights.
func (q *Query) Price(ctx context.Context, opts ...accountant.Options) (*Price, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	parts := q.parts()
	for i := range parts {
		parts[i].scale = q.sensitivity(parts[i]) * parts[i].rest
	}
	keys := 0.0
	if q.private() {
		// As far apart, in one group, as the counts of two neighbours are.
		keys = 1 / math.Sqrt(float64(q.PerPerson))
		if q.KeyWeight != 0 {
			keys *= q.KeyWeight
		}
	}
	p, err := plan.Parse(ctx, q.text(parts, keys))
	if err != nil {
		return nil, fmt.Errorf("the plan of the query: %w", err)
	}
	c, err := accountant.Calibrate(ctx, p, accountant.Goal{Epsilon: q.Epsilon, Delta: q.Delta, Solve: accountant.NoiseMultiplier}, opts...)
	if err != nil {
		return nil, fault.Rename(err, func(field string) string {
			if field == "epsilon" {
				return "budget"
			}
			return field
		})
	}
	settings := c.Settings
	if q.private() {
		keys, settings = settings[0].Value, settings[1:]
	}
	for i, s := range settings {
		parts[i].scale *= s.Value / s.Before * (1 + 0x1p-50)
	}
	out := &Price{Plan: q.text(parts, keys), Paid: Paid{KeyEpsilon: keys}}
	// What is spent is what is written.
	if p, err = plan.Parse(ctx, out.Plan); err != nil {
		return nil, fmt.Errorf("the plan of the query: %w", err)
	}
	a := p.Accountant(opts...)
	if err := a.AddPlan(ctx, p); err != nil {
		return nil, err
	}
	if out.Epsilon, err = a.Epsilon(ctx, q.Delta); err != nil {
		return nil, err
	}
	if out.Epsilon.Upper > q.Epsilon*(1+1e-9) {
		return nil, fmt.Errorf("internal error: the plan of the query costs %v of %v", out.Epsilon.Upper, q.Epsilon)
	}
	for _, x := range parts {
		out.Paid.Scales = append(out.Paid.Scales, x.scale)
		n := Noise{Name: x.name, Law: "gaussian", SD: x.scale}
		if q.Delta == 0 {
			n.Law, n.SD = "laplace", math.Sqrt2*x.scale
		}
		out.Noise = append(out.Noise, n)
	}
	return out, nil
}
