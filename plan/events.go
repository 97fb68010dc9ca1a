package plan

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/profiles"
)

// This file reads the events of dp_accounting (google/differential-privacy): what
// DpEvent.to_named_tuple has, as nested JSON objects with the key class_name. It turns
// their nodes into those of a plan, with the places that they had, so that whatever is
// wrong is told at the event. eventclass.go has the classes that stand for mechanisms.

// eventFileKeys are those of the object around an event that names the relation, which
// events themselves do not.
var eventFileKeys = []string{"neighbors", eventKey}

// isEvents reports whether the text is an event rather than a plan.
func isEvents(root *node) bool {
	return root.kind == mapNode && (root.get(classKey) != nil || root.get(eventKey) != nil)
}

// planOfEvents returns the plan that an event, or an object with an event and the
// relation, stands for. An event alone is under add-remove, the relation that
// dp_accounting presumes; if it holds a class that is not priced under that one, it is
// under substitute, else under zero-out.
func planOfEvents(root *node) (*node, error) {
	event, at := root, root
	var relation profiles.Relation
	if root.get(classKey) != nil {
		relations := []profiles.Relation{profiles.AddRemove, profiles.Substitute, profiles.ZeroOut}
		relation = relations[max(0, slices.IndexFunc(relations, func(r profiles.Relation) bool { return pricedUnder(root, r) }))]
	} else {
		if err := root.checkKeys(eventFileKeys); err != nil {
			return nil, err
		}
		var err error
		if at, err = root.need("neighbors", "add-remove, substitute or zero-out"); err != nil {
			return nil, err
		}
		if relation, err = parseNeighbors(at); err != nil {
			return nil, err
		}
		event = root.get(eventKey)
	}
	steps, err := reader{relation}.steps(event)
	if err != nil {
		return nil, err
	}
	return root.mapping("neighbors", at.scalarLike(relation.String()), "steps", event.listOf(steps)), nil
}

// pricedUnder reports whether every event inside n has a price under the relation.
func pricedUnder(n *node, r profiles.Relation) bool {
	for _, inner := range n.all() {
		if c := inner.get(classKey); c != nil && !priced(c.text, r) {
			return false
		}
	}
	return true
}

// composed returns the events of a composition.
func (r reader) composed(n *node) ([]*node, error) {
	if err := r.keys(n, "events"); err != nil {
		return nil, err
	}
	events, err := n.need("events", "a list of events")
	if err != nil {
		return nil, err
	}
	if events.kind != listNode || len(events.items) == 0 {
		return nil, events.errorf("%v is not a list of at least one event", events)
	}
	return events.items, nil
}

// steps returns an event as a list of steps: those of a composition, else one.
func (r reader) steps(n *node) ([]*node, error) {
	class, err := r.class(n)
	if err != nil {
		return nil, err
	}
	if class != "ComposedDpEvent" {
		s, err := r.step(n)
		return []*node{s}, err
	}
	events, err := r.composed(n)
	if err != nil {
		return nil, err
	}
	var all []*node
	for _, e := range events {
		s, err := r.step(e)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// step returns an event as one step.
func (r reader) step(n *node) (*node, error) {
	class, err := r.class(n)
	if err != nil {
		return nil, err
	}
	switch class {
	case "ComposedDpEvent":
		steps, err := r.steps(n)
		return n.mapping("steps", n.listOf(steps)), err
	case "SelfComposedDpEvent":
		return r.wrapped(n, "count", []string{"count"}, func() (*node, error) {
			return n.need("count", "a whole number in [1, 2^53]")
		})
	case "RepeatAndSelectDpEvent":
		return r.wrapped(n, "selection", []string{"mean", "shape"}, func() (*node, error) { return r.selection(n) })
	case "PoissonSampledDpEvent":
		return r.sampled(n, "poisson", "rate", "sampling_probability")
	case "SampledWithoutReplacementDpEvent":
		return r.sampled(n, "without-replacement", "population", "source_dataset_size", "batch", "sample_size")
	case "SampledWithReplacementDpEvent":
		return r.sampled(n, "with-replacement", "population", "source_dataset_size", "batch", "sample_size")
	case truncatedClass:
		return r.truncated(n)
	}
	m, err := r.mechanism(n, class)
	return n.mapping("mechanism", m), err
}

// taken returns a mapping of the values of an event's keys; pairs are a key of the plan and that of the event, in turn. Besides these
// the event has the keys of more.
func (r reader) taken(n *node, more []string, pairs ...string) (*node, error) {
	p := n.mapping()
	for i := 1; i < len(pairs); i += 2 {
		more = append(more, pairs[i])
	}
	if err := r.keys(n, more...); err != nil {
		return nil, err
	}
	for i := 0; i < len(pairs); i += 2 {
		v, err := n.need(pairs[i+1], "a number")
		if err != nil {
			return nil, err
		}
		p.fields = append(p.fields, field{pairs[i], v.line, v})
	}
	return p, nil
}

// truncated returns the step of Gaussian noise on Poisson batches with a cap.
func (r reader) truncated(n *node) (*node, error) {
	parameters, err := r.taken(n, []string{"noise_multiplier"}, "rate", "sampling_probability", "cap", "truncated_batch_size", "population", "dataset_size")
	if err != nil {
		return nil, err
	}
	noise, err := n.need("noise_multiplier", "a number")
	if err != nil {
		return nil, err
	}
	return n.mapping("mechanism", n.mapping("gaussian", n.mapping("noise-multiplier", noise)), "sampling", n.mapping("truncated-poisson", parameters)), nil
}

// wrapped returns the step of the event inside of n with one more key; as a group of its
// own where it has a key of that kind already, which would be read as inside of this one.
func (r reader) wrapped(n *node, key string, own []string, value func() (*node, error)) (*node, error) {
	if err := r.keys(n, append(own, eventKey)...); err != nil {
		return nil, err
	}
	v, err := value()
	if err != nil {
		return nil, err
	}
	inner, err := n.need(eventKey, "an event")
	if err != nil {
		return nil, err
	}
	s, err := r.step(inner)
	if err != nil {
		return nil, err
	}
	// A count is outermost in a step, the selection inside of it.
	if s.get("count") != nil || key == "selection" && s.get("selection") != nil {
		s = n.mapping("steps", inner.listOf([]*node{s}))
	}
	s.fields = append(s.fields, field{key, v.line, v})
	return s, nil
}

// selection returns the law of the number of runs: the shape of the family of truncated
// negative binomial laws, in which 0 is logarithmic, 1 geometric and ∞ Poisson.
func (r reader) selection(n *node) (*node, error) {
	mean, err := n.need("mean", "a number")
	if err != nil {
		return nil, err
	}
	shape, err := n.need("shape", "a number, or Infinity")
	if err != nil {
		return nil, err
	}
	x := math.Inf(1)
	if shape.text != "Infinity" { // as Python writes it
		if x, err = shape.number(); err != nil {
			return nil, err
		}
	}
	law := "poisson"
	switch {
	case math.IsInf(x, 1):
	case x == 0:
		law = "logarithmic"
	case x == 1:
		law = "geometric"
	case x < 0:
		return nil, shape.errorf("%v is not in [0, Infinity]", shape)
	default:
		return n.mapping("law", shape.scalarLike("negative-binomial"), "mean", mean, "shape", shape), nil
	}
	return n.mapping("law", shape.scalarLike(law), "mean", mean), nil
}

// sampled returns the step of a mechanism that runs on a sample; pairs are a key of the
// scheme and the key of the event that it stands for.
func (r reader) sampled(n *node, scheme string, pairs ...string) (*node, error) {
	parameters, err := r.taken(n, []string{eventKey}, pairs...)
	if err != nil {
		return nil, err
	}
	inner, err := n.need(eventKey, "an event")
	if err != nil {
		return nil, err
	}
	class, err := r.class(inner)
	if err != nil {
		return nil, err
	}
	var m *node
	switch class {
	case "ComposedDpEvent", "SelfComposedDpEvent":
		m, err = r.gaussians(inner)
	default:
		m, err = r.mechanism(inner, class)
	}
	return n.mapping("mechanism", m, "sampling", n.mapping(scheme, parameters)), err
}

// gaussians returns several Gaussian mechanisms on the same sample as the one that they
// are: independent Gaussian noise on the parts of one vector, which has the sum of their
// 1/σ² as its own.
func (r reader) gaussians(n *node) (*node, error) {
	terms, err := r.precisions(n, 1)
	if err != nil {
		return nil, err
	}
	sum := 0.0
	for _, t := range terms {
		sum += t
	}
	// Each term has at most three roundings, each sum one and the root and quotient two
	// more, u = 2^-53 each; the root halves what comes before it.
	return n.mapping("gaussian", n.mapping("noise-multiplier", n.less(1/math.Sqrt(sum), len(terms)+8))), nil
}

// precisions returns times/σ² of each Gaussian mechanism in a composition.
func (r reader) precisions(n *node, times float64) ([]float64, error) {
	class, err := r.class(n)
	if err != nil {
		return nil, err
	}
	switch class {
	case "GaussianDpEvent":
		p, err := r.taken(n, nil, "noise-multiplier", "noise_multiplier")
		if err != nil {
			return nil, err
		}
		v := &values{node: p}
		x := v.number("noise-multiplier")
		if v.err != nil {
			return nil, v.err
		}
		if _, err := profiles.NewGaussianMechanism(x); err != nil {
			return nil, p.locate("gaussian", err)
		}
		return []float64{times / x / x}, nil
	case "SelfComposedDpEvent":
		if err := r.keys(n, "count", eventKey); err != nil {
			return nil, err
		}
		v := &values{node: n}
		count := ask(v, "count", "a whole number in [1, 2^53]", (*node).count)
		all := ask(v, eventKey, "an event", func(n *node) ([]float64, error) { return r.precisions(n, times*float64(count)) })
		return all, v.err
	case "ComposedDpEvent":
		events, err := r.composed(n)
		if err != nil {
			return nil, err
		}
		var all []float64
		for _, e := range events {
			some, err := r.precisions(e, times)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
		return all, nil
	}
	return nil, n.get(classKey).errorf("%s is not covered inside of one sample with others; only GaussianDpEvent is", nearest.Quote(class))
}
