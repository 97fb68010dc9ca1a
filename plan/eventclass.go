package plan

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/profiles"
)

// This file has the classes of events that stand for a mechanism, one row each, with the
// way there and back. It assumes that an event has no keys but those of its row, and
// that a mechanism has been read before it is written as an event.

// The keys of an event of any class, and the one under which an event is inside of
// another.
const (
	classKey  = "class_name"
	moduleKey = "module_name"
	eventKey  = "event"
)

// A reader turns events into nodes of a plan, under a relation.
type reader struct{ relation profiles.Relation }

// class checks the keys that all events have and returns the name of the class.
func (r reader) class(n *node) (string, error) {
	if n.kind != mapNode {
		return "", n.errorf("%v is not an event (a mapping with the key %s)", n, classKey)
	}
	c, err := n.need(classKey, "the class of a DpEvent, such as GaussianDpEvent")
	if err != nil {
		return "", err
	}
	if m := n.get(moduleKey); m != nil {
		if name := m.text[strings.LastIndex(m.text, ".")+1:]; m.kind == listNode || m.kind == mapNode || name != "dp_event" {
			return "", m.errorf("%v is not dp_accounting.dp_event; only the classes of that module are known", m)
		}
	}
	name, err := c.word()
	if err == nil && !priced(name, r.relation) {
		return "", c.errorf("%s is not covered under %v; must be under %s", name, r.relation, relationNames(name))
	}
	return name, err
}

// relationsOf are the relations of the classes that do not have a price under each of
// the three, as in dp_accounting. Batches of a fixed size and the reports of all persons,
// one each, lose one when a record is removed. A mixture is about a record that is there or not. A tree
// needs the steps of all other records to stay where they are, so that the place of
// a removed record must stay empty (docs/guide/matrix.md, what is assumed).
var relationsOf = map[string][]profiles.Relation{
	"SampledWithoutReplacementDpEvent": {profiles.Substitute, profiles.ZeroOut},
	"SampledWithReplacementDpEvent":    {profiles.Substitute, profiles.ZeroOut},
	"RandomizedResponseDpEvent":        {profiles.Substitute, profiles.ZeroOut},
	"MixtureOfGaussiansDpEvent":        {profiles.AddRemove, profiles.ZeroOut},
	treeClass:                          {profiles.ZeroOut},
}

// priced reports whether an event of the class itself has a price under the relation.
func priced(class string, r profiles.Relation) bool {
	relations := relationsOf[class]
	return relations == nil || slices.Contains(relations, r)
}

// relationNames lists the relations under which a class has a price.
func relationNames(class string) string {
	var names []string
	for _, r := range relationsOf[class] {
		names = append(names, r.String())
	}
	return strings.Join(names, " or ")
}

// keys checks that an event has no other keys than those of its class.
func (r reader) keys(n *node, own ...string) error {
	return n.checkKeys(append([]string{moduleKey, classKey}, own...))
}

// refusedClasses are those whose cost this accountant cannot certify, with the reason.
var refusedClasses = map[string]string{
	"UnsupportedDpEvent": "stands for an operation that nobody described",
	"ZCDpEvent":          "is a Rényi bound without a privacy profile; give the mechanism itself",
}

// An eventClass is a class of events that is one mechanism of a plan.
type eventClass struct {
	class string
	keys  []string
	// read returns {mechanism: {key: value, …}}.
	read func(r reader, n *node) (*node, error)
	// write returns the keys of the event of a mechanism's parameters, nil if the class
	// is not for these; a class without it is only read.
	mechanism string
	write     func(parameters *node) *node
}

// eventClasses are read by class; a mechanism is written as the first that takes it.
var eventClasses = []eventClass{
	renamed("GaussianDpEvent", "gaussian", "noise-multiplier", "noise_multiplier").byContributions(),
	renamed("LaplaceDpEvent", "laplace", "noise-multiplier", "noise_multiplier").byContributions(),
	renamed("RandomizedResponseDpEvent", "randomized-response", "probability", "noise_parameter", "categories", "num_buckets"),
	renamed("EpsilonDeltaDpEvent", "approximate", "epsilon", "epsilon", "delta", "delta"),
	renamed("ExponentialMechanismDpEvent", "exponential", "epsilon", "epsilon"),
	renamed("PermuteAndFlipDpEvent", "permute-and-flip", "epsilon", "epsilon"),
	{"DiscreteLaplaceDpEvent", []string{"noise_parameter", "sensitivity"}, reader.discreteLaplace, "discrete-laplace", func(p *node) *node {
		// Rounded to less noise, as all that is not exact.
		b := valueOf(p, "noise-multiplier") * valueOf(p, "sensitivity")
		return p.mapping("noise_parameter", p.more(1/b, 4), "sensitivity", p.orOne("sensitivity"))
	}},
	{"DiscreteGaussianDpEvent", []string{"sigma", "sensitivity", "dimension"}, reader.discreteGaussian, "discrete-gaussian", func(p *node) *node {
		sigma, dimension := p.get("noise-multiplier"), p.scalarLike("null")
		if s := valueOf(p, "sensitivity"); s != 1 {
			sigma = p.less(valueOf(p, "noise-multiplier")*s, 2)
		}
		if d := p.get("dimension"); d != nil && valueOf(p, "dimension") == 1 {
			dimension = d
		}
		return p.mapping("sigma", sigma, "sensitivity", p.orOne("sensitivity"), "dimension", dimension)
	}},
	{"MixtureOfGaussiansDpEvent", []string{"standard_deviation", "sensitivities", "sampling_probs"}, reader.mixture, "gaussian-mixture", func(p *node) *node {
		return p.mapping("standard_deviation", p.get("noise-multiplier"), "sensitivities", p.get("shifts"), "sampling_probs", p.get("probabilities"))
	}},
	{"NonPrivateDpEvent", nil, func(_ reader, n *node) (*node, error) { return n.finite("1 0", "0 1"), nil }, "finite", func(p *node) *node {
		return p.whenFinite("1 0", "0 1")
	}},
	{"NoOpDpEvent", nil, func(_ reader, n *node) (*node, error) { return n.finite("1", "1"), nil }, "finite", func(p *node) *node {
		return p.whenFinite("1", "1")
	}},
	// Pure ε is (ε, 0), and a mechanism that is read from it is pure.
	{"EpsilonDeltaDpEvent", nil, nil, "pure", func(p *node) *node {
		return p.mapping("epsilon", p.get("epsilon"), "delta", p.scalarLike("0"))
	}},
	// This one is read only: a plan has no mechanism of that name.
	{treeClass, []string{"noise_multiplier", "step_counts"}, reader.tree, "", nil},
}

// renamed is a class whose keys are those of a mechanism by other names; pairs are a key of the mechanism and that of the event, in turn.
func renamed(class, mechanism string, pairs ...string) eventClass {
	c := eventClass{class: class, mechanism: mechanism}
	for i := 1; i < len(pairs); i += 2 {
		c.keys = append(c.keys, pairs[i])
	}
	c.read = func(r reader, n *node) (*node, error) {
		p, err := r.taken(n, nil, pairs...)
		if err != nil {
			return nil, err
		}
		if d := p.get("delta"); mechanism == "approximate" && d.kind == scalarNode && d.text != "" && valueOf(p, "delta") == 0 {
			return n.mapping("pure", n.mapping("epsilon", p.get("epsilon"))), nil
		}
		return n.mapping(mechanism, p), nil
	}
	c.write = func(p *node) *node {
		e := p.mapping()
		for i, key := range c.keys {
			e.fields = append(e.fields, field{key, p.line, p.get(pairs[2*i])})
		}
		return e
	}
	return c
}

// byContributions is a class of noise that a plan may give by its scale and the limits on
// contributions, of which an event has the quotient.
func (c eventClass) byContributions() eventClass {
	same := c.write
	c.write = func(p *node) *node {
		if p.get(noiseScales[c.mechanism].key) == nil {
			return same(p)
		}
		x, _ := (&values{node: p}).noise(c.mechanism) // read before without an error
		return p.mapping("noise_multiplier", p.scalarLike(decimal.Short(x)))
	}
	return c
}

// mechanism returns the mechanism that an event of a class stands for.
func (r reader) mechanism(n *node, class string) (*node, error) {
	var known []string
	for _, c := range eventClasses {
		if c.read == nil {
			continue
		}
		if c.class == class {
			if err := r.keys(n, c.keys...); err != nil {
				return nil, err
			}
			return c.read(r, n)
		}
		known = append(known, c.class)
	}
	at := n.get(classKey)
	if why, ok := refusedClasses[class]; ok {
		return nil, at.errorf("%s %s", class, why)
	}
	if slices.Contains(compositeClasses, class) {
		return nil, at.errorf("%s is not covered inside of a sample", class)
	}
	known = append(append(known, compositeClasses...), slices.Collect(maps.Keys(refusedClasses))...)
	slices.Sort(known)
	hint := "give the event of a mechanism that dp_accounting has"
	if best := nearest.Word(class, known); best != "" {
		hint = "did you mean " + best + "?"
	}
	return nil, at.errorf("%s is not a known class of events; %s", nearest.Quote(class), hint)
}

// compositeClasses are the events that hold others.
var compositeClasses = []string{"ComposedDpEvent", "SelfComposedDpEvent", "RepeatAndSelectDpEvent", "PoissonSampledDpEvent",
	"SampledWithoutReplacementDpEvent", "SampledWithReplacementDpEvent", truncatedClass}

// truncatedClass is a mechanism and its sampling in one event; treeClass has steps, and batches.
const (
	truncatedClass = "TruncatedSubsampledGaussianDpEvent"
	treeClass      = "SingleEpochTreeAggregationDpEvent"
)

// discreteLaplace has noise ∝ e^{−a|x|}: of scale 1/a, which is the noise multiplier
// times the sensitivity.
func (r reader) discreteLaplace(n *node) (*node, error) {
	v := values{node: n}
	a, s := v.number("noise_parameter"), v.whole("sensitivity")
	if v.err != nil {
		return nil, v.err
	}
	at := n.get("noise_parameter")
	if !(a > 0) {
		return nil, at.errorf("%v is not above 0", at)
	}
	p := n.mapping("noise-multiplier", at.less(1/(a*float64(s)), 4))
	return n.mapping("discrete-laplace", p.withSensitivity(n, s)), nil
}

// discreteGaussian has σ where a plan has σ over the sensitivity. A vector of d numbers
// is one of any number of them if the worst vector has no more than d: one whose squares
// add up to the square of the sensitivity, or of twice it under substitution.
func (r reader) discreteGaussian(n *node) (*node, error) {
	v := values{node: n}
	sigma, s := v.number("sigma"), v.wholeOr("sensitivity", 1)
	if v.err != nil {
		return nil, v.err
	}
	noise := n.get("sigma")
	if s != 1 {
		noise = noise.less(sigma/float64(s), 2)
	}
	p := n.mapping("noise-multiplier", noise).withSensitivity(n, s)
	if d := n.get("dimension"); d != nil && !d.isNull() {
		x, err := d.whole()
		if err != nil {
			return nil, err
		}
		enough := float64(s) * float64(s)
		if r.relation == profiles.Substitute {
			enough *= 4
		}
		switch {
		case x == 1:
			p.fields = append(p.fields, field{"dimension", d.line, d})
		case float64(x) < enough:
			return nil, d.errorf("%v is not 1, null or at least %v: what fewer numbers cost is not covered", d, enough)
		}
	}
	return n.mapping("discrete-gaussian", p), nil
}

// withSensitivity adds the sensitivity of an event, unless it is 1.
func (n *node) withSensitivity(event *node, s int) *node {
	if at := event.get("sensitivity"); at != nil && s != 1 {
		n.fields = append(n.fields, field{"sensitivity", at.line, at})
	}
	return n
}

// mixture has shifts that are whole multiples of one number, the unit of the noise. Each is
// raised to that multiple of the largest quotient, by the rounding of floating point: a pair
// with larger shifts dominates (Kahane's inequality, subsample/persons.go).
func (r reader) mixture(n *node) (*node, error) {
	v := values{node: n}
	sigma, sensitivities := v.number("standard_deviation"), v.list("sensitivities")
	probabilities := ask(&v, "sampling_probs", "a list of numbers", func(n *node) (*node, error) {
		_, err := n.list()
		return n, err
	})
	if v.err != nil {
		return nil, v.err
	}
	at := n.get("sensitivities")
	if len(sensitivities) == 0 {
		return nil, at.errorf("%v is not a list of at least one number", at)
	}
	least := math.Inf(1)
	for i, s := range sensitivities {
		if !(s >= 0 && s <= math.MaxFloat64) {
			return nil, at.items[i].errorf("%v is not in [0, +Inf)", at.items[i])
		}
		if s > 0 {
			least = min(least, s)
		}
	}
	unit, shifts := 1.0, make([]*node, len(sensitivities))
	for i := range shifts {
		shifts[i] = at.scalarLike("0")
	}
	if least < math.Inf(1) {
		multiples, err := multiplesOf(least, sensitivities)
		if err != nil {
			return nil, at.errorf("%v", err)
		}
		unit = 0
		for i, m := range multiples {
			if shifts[i] = at.scalarLike(decimal.Short(m)); m > 0 {
				unit = max(unit, sensitivities[i]/m)
			}
		}
	}
	exact := math.FMA(sigma/unit, unit, -sigma) == 0
	for i, s := range sensitivities {
		exact = exact && math.FMA(valueOf(at.mapping("m", shifts[i]), "m"), unit, -s) == 0
	}
	noise := n.get("standard_deviation")
	switch {
	case exact && unit != 1:
		noise = noise.scalarLike(decimal.Short(sigma / unit))
	case unit != 1:
		noise = noise.less(sigma/unit, 3)
	}
	return n.mapping("gaussian-mixture", n.mapping("noise-multiplier", noise, "shifts", at.listOf(shifts), "probabilities", probabilities)), nil
}

// multiplesOf returns whole numbers in proportion to the numbers, of which the least above 0 is
// given, as small as they can be.
func multiplesOf(least float64, of []float64) ([]float64, error) {
	const parts, rounding = 64, 1e-12 // numbers of a file have been rounded
next:
	for j := 1; j <= parts; j++ {
		out := make([]float64, len(of))
		for i, s := range of {
			x := s / least * float64(j)
			if out[i] = math.Round(x); !(math.Abs(x-out[i]) <= rounding*x) {
				continue next
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("are not whole multiples of one number, the least of them or a 2nd to %dth of it: not covered", parts)
}

// tree is one Gaussian mechanism: a record that takes part in one step moves the nodes
// above its leaf, at most ⌊log₂ n⌋+1 in a tree of n steps whose nodes are released when
// they are complete, each by at most the sensitivity, so that the whole by its √ in L2.
func (r reader) tree(n *node) (*node, error) {
	v := values{node: n}
	noise := v.number("noise_multiplier")
	if v.err != nil {
		return nil, v.err
	}
	counts, err := n.need("step_counts", "a whole number or a list of them")
	if err != nil {
		return nil, err
	}
	items := counts.items
	if counts.kind != listNode {
		items = []*node{counts}
	}
	if len(items) == 0 {
		return nil, counts.errorf("is empty; must list at least one number of steps")
	}
	depth := 0
	for _, item := range items {
		steps, err := item.count()
		if err != nil {
			return nil, err
		}
		d := 0
		for ; steps > 0; steps /= 2 {
			d++
		}
		depth = max(depth, d)
	}
	at := n.get("noise_multiplier")
	if depth > 1 {
		at = at.less(noise/math.Sqrt(float64(depth)), 3)
	}
	return n.mapping("gaussian", n.mapping("noise-multiplier", at)), nil
}

// finite returns a mechanism with these probabilities.
func (n *node) finite(p, q string) *node {
	return n.mapping("finite", n.mapping("p", n.numbersOf(p), "q", n.numbersOf(q)))
}

// whenFinite returns an event without keys if the probabilities are these.
func (n *node) whenFinite(p, q string) *node {
	v := &values{node: n}
	for _, f := range n.finite(p, q).get("finite").fields {
		if want, _ := f.node.list(); !slices.Equal(v.listOr(f.key), want) {
			return nil
		}
	}
	return n.mapping()
}
