package accountant

import (
	"fmt"
	"math"
	"strings"

	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

// The mechanisms and sampling schemes that a plan can name, one entry each. The
// ranges of the parameters are the constructors' business: an error
// "parameter: problem" from one is given the parameter's line in the plan.

var mechanisms = []entry[profiles.Base]{
	{"gaussian", params{{name: "noise-multiplier"}}, func(v values) (profiles.Base, error) {
		return profiles.NewGaussianMechanism(v.number("noise-multiplier"))
	}},
	{"laplace", params{{name: "noise-multiplier"}}, func(v values) (profiles.Base, error) {
		return profiles.NewLaplaceMechanism(v.number("noise-multiplier"))
	}},
	{"discrete-gaussian", params{{name: "noise-multiplier"}, {name: "sensitivity", kind: whole, preset: 1}, {name: "dimension", kind: whole, preset: 0}},
		func(v values) (profiles.Base, error) {
			switch d := v.whole("dimension"); d {
			case 0: // left out: any number
			case 1:
				return profiles.NewDiscreteGaussianNumber(v.number("noise-multiplier"), v.whole("sensitivity"))
			default:
				return nil, fmt.Errorf("discrete-gaussian: dimension: %d is not 1, for one whole number; leave it out for a vector of any number of them", d)
			}
			return profiles.NewDiscreteGaussianMechanism(v.number("noise-multiplier"), v.whole("sensitivity"))
		}},
	{"discrete-laplace", params{{name: "noise-multiplier"}, {name: "sensitivity", kind: whole, preset: 1}},
		func(v values) (profiles.Base, error) {
			return profiles.NewDiscreteLaplaceMechanism(v.number("noise-multiplier"), v.whole("sensitivity"))
		}},
	{"randomized-response", params{{name: "probability"}, {name: "categories", kind: whole}},
		func(v values) (profiles.Base, error) {
			return profiles.NewRandomizedResponse(v.number("probability"), v.whole("categories"))
		}},
	{"pure", params{{name: "epsilon"}}, func(v values) (profiles.Base, error) {
		return profiles.NewPure(v.number("epsilon"))
	}},
	{"approximate", params{{name: "epsilon"}, {name: "delta"}}, func(v values) (profiles.Base, error) {
		return profiles.NewApproximate(v.number("epsilon"), v.number("delta"))
	}},
	{"finite", params{{name: "p", kind: list}, {name: "q", kind: list}}, func(v values) (profiles.Base, error) {
		return profiles.NewFiniteMechanism(v.list("p"), v.list("q"))
	}},
	{"majority", params{{name: "mechanisms", kind: whole}, {name: "epsilon"}, {name: "allowance"}, {name: "delta", preset: 0.0},
		{name: "output-delta", preset: math.NaN()}, {name: "gamma", kind: word, preset: "optimal"}},
		func(v values) (profiles.Base, error) {
			return newMajority(darrm.Params{Mechanisms: v.whole("mechanisms"), Epsilon: v.number("epsilon"), Delta: v.number("delta"),
				Allowance: v.number("allowance"), OutputDelta: v.number("output-delta")}, v.word("gamma"))
		}},
}

var samplings = []entry[subsample.Scheme]{
	{"poisson", params{{name: "rate"}}, func(v values) (subsample.Scheme, error) {
		return subsample.NewPoisson(v.number("rate"))
	}},
	{"without-replacement", params{{name: "population", kind: whole}, {name: "batch", kind: whole}},
		func(v values) (subsample.Scheme, error) {
			return subsample.NewWithoutReplacement(int64(v.whole("population")), int64(v.whole("batch")))
		}},
	{"with-replacement", params{{name: "population", kind: whole}, {name: "batch", kind: whole}},
		func(v values) (subsample.Scheme, error) {
			return subsample.NewWithReplacement(int64(v.whole("population")), int64(v.whole("batch")))
		}},
	{"must-ow", multistage, stages(subsample.NewMustOW)},
	{"must-wo", multistage, stages(subsample.NewMustWO)},
	{"must-ww", multistage, stages(subsample.NewMustWW)},
}

// The two stages of MUST: a subset of the population, then a batch of the subset.
var multistage = params{{name: "population", kind: whole}, {name: "subset", kind: whole}, {name: "batch", kind: whole}}

func stages(build func(population, subset, batch int64) (subsample.FixedSize, error)) func(values) (subsample.Scheme, error) {
	return func(v values) (subsample.Scheme, error) {
		return build(int64(v.whole("population")), int64(v.whole("subset")), int64(v.whole("batch")))
	}
}

// An entry is something that a plan names, with its parameters.
type entry[T any] struct {
	name   string
	params params
	build  func(values) (T, error)
}

type paramKind int

const (
	number paramKind = iota
	whole            // an int
	list             // of numbers
	word
)

func (k paramKind) String() string {
	return [...]string{"a number", "a whole number", "a list of numbers", "a word"}[k]
}

// A param must be set in the plan unless it has a preset.
type param struct {
	name   string
	kind   paramKind
	preset any
}

type params []param

func (ps params) names() []string {
	names := make([]string, len(ps))
	for i, p := range ps {
		names[i] = p.name
	}
	return names
}

// values holds a float64, an int, a []float64 or a string for each parameter.
type values map[string]any

func (v values) number(name string) float64 { return v[name].(float64) }
func (v values) whole(name string) int      { return v[name].(int) }
func (v values) list(name string) []float64 { return v[name].([]float64) }
func (v values) word(name string) string    { return v[name].(string) }

func names[T any](table []entry[T]) []string {
	ns := make([]string, len(table))
	for i, e := range table {
		ns[i] = e.name
	}
	return ns
}

// parseEntry reads {name: {parameter: value, …}}.
func parseEntry[T any](n *node, what string, table []entry[T]) (T, error) {
	var zero T
	if n.kind != mapNode {
		return zero, n.errorf("%v is not a %s such as {%s: {%s: …}}", n, what, table[0].name, table[0].params[0].name)
	}
	if err := n.checkKeys(names(table)); err != nil {
		return zero, err
	}
	switch len(n.fields) {
	case 0:
		return zero, n.errorf("is empty; must name one of %s", strings.Join(names(table), ", "))
	case 1:
	default:
		return zero, n.errorf("names both %s and %s; must name one %s", n.fields[0].key, n.fields[1].key, what)
	}
	f := n.fields[0]
	for _, e := range table {
		if e.name == f.key {
			return e.parse(f.node)
		}
	}
	panic("unreachable: checkKeys")
}

func (e entry[T]) parse(n *node) (T, error) {
	var zero T
	if n.kind != mapNode {
		return zero, n.errorf("%v is not a mapping with the keys %s", n, strings.Join(e.params.names(), ", "))
	}
	if err := n.checkKeys(e.params.names()); err != nil {
		return zero, err
	}
	vs := values{}
	for _, p := range e.params {
		if n.get(p.name) == nil && p.preset != nil {
			vs[p.name] = p.preset
			continue
		}
		v, err := n.need(p.name, p.kind.String())
		if err != nil {
			return zero, err
		}
		switch p.kind {
		case number:
			vs[p.name], err = v.number()
		case whole:
			vs[p.name], err = v.whole()
		case list:
			vs[p.name], err = v.numbers()
		case word:
			vs[p.name], err = v.name()
		}
		if err != nil {
			return zero, err
		}
	}
	t, err := e.build(vs)
	if err != nil {
		return zero, e.locate(n, err)
	}
	return t, nil
}

// locate gives a constructor's error "gaussian: noise-multiplier: -1 is not …"
// the line and the path of the parameter.
func (e entry[T]) locate(n *node, err error) error {
	msg := strings.TrimPrefix(err.Error(), e.name+": ")
	at, problem, ok := strings.Cut(msg, ": ")
	if !ok {
		return n.errorf("%s", msg)
	}
	name, index, _ := strings.Cut(at, "[")
	v := n.get(name)
	if v == nil {
		return n.errorf("%s", msg)
	}
	var i int
	if _, err := fmt.Sscanf(index, "%d]", &i); err == nil && i >= 0 && i < len(v.items) {
		v = v.items[i]
	}
	return v.errorf("%s", problem)
}
