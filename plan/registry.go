package plan

// The mechanisms and the sampling schemes of plans, a row each: name, keys, constructor.

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/dpaccountant/accountant/choice"
	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/matrix"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/selection"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
	"github.com/dpaccountant/accountant/subsample/shuffler"
)

// The mechanisms and sampling schemes that a plan can name, one entry each. The
// ranges of the parameters are the constructors' business: a fault.Error from one is
// given the parameter's line in the plan. They are functions, so that a program that reads no
// plan is linked without what only plans name (the page's first module).

func mechanisms() []entry[profiles.Mechanism] {
	return []entry[profiles.Mechanism]{
		{"gaussian", append([]string{"noise-multiplier", "standard-deviation"}, contributionKeys...), func(v *values) (profiles.Mechanism, error) {
			noise, err := v.noise("gaussian")
			if err != nil {
				return nil, err
			}
			return profiles.NewGaussianMechanism(noise)
		}},
		{"laplace", append([]string{"noise-multiplier", "scale", "l2-sensitivity"}, contributionKeys...), func(v *values) (profiles.Mechanism, error) {
			noise, err := v.noise("laplace")
			if err != nil {
				return nil, err
			}
			m, err := profiles.NewLaplaceMechanism(noise)
			return v.withL2(m, err)
		}},
		{"gaussian-mixture", []string{"noise-multiplier", "shifts", "probabilities"}, func(v *values) (profiles.Mechanism, error) {
			return subsample.NewGaussianMixture(v.number("noise-multiplier"), v.list("shifts"), v.list("probabilities"))
		}},
		{"discrete-gaussian", []string{"noise-multiplier", "sensitivity", "dimension"}, func(v *values) (profiles.Mechanism, error) {
			noise, dimension := v.number("noise-multiplier"), v.wholeOr("dimension", 0)
			switch dimension {
			case 0: // left out: any number
				return profiles.NewDiscreteGaussianMechanism(noise, v.numberOr("sensitivity", 1))
			case 1:
				return profiles.NewDiscreteGaussianNumber(noise, v.wholeOr("sensitivity", 1))
			}
			return nil, fault.New("dimension", "%d is not 1, for one whole number; leave it out for a vector of any number of them", dimension)
		}},
		{"discrete-laplace", []string{"noise-multiplier", "sensitivity", "l2-sensitivity"}, func(v *values) (profiles.Mechanism, error) {
			m, err := profiles.NewDiscreteLaplaceMechanism(v.number("noise-multiplier"), v.wholeOr("sensitivity", 1))
			return v.withL2(m, err)
		}},
		{"skellam", []string{"standard-deviation", "noise-multiplier", "sensitivity"}, func(v *values) (profiles.Mechanism, error) {
			sensitivity := v.numberOr("sensitivity", 1)
			switch {
			case v.node.get("noise-multiplier") == nil:
				return profiles.NewSkellamMechanism(v.number("standard-deviation"), sensitivity)
			case v.node.get("standard-deviation") != nil:
				return nil, fault.New("noise-multiplier", "is set, not allowed with standard-deviation, which it is times the sensitivity")
			}
			return profiles.NewSkellamMechanism(v.number("noise-multiplier")*sensitivity, sensitivity)
		}},
		{"summed-noise", []string{"noise", "clients", "missing", "standard-deviation", "sensitivity"}, func(v *values) (profiles.Mechanism, error) {
			return profiles.NewSummedNoise(v.word("noise"), int64(v.whole("clients")), int64(v.wholeOr("missing", 0)), v.number("standard-deviation"), v.numberOr("sensitivity", 1))
		}},
		{"randomized-response", []string{"probability", "categories"}, func(v *values) (profiles.Mechanism, error) {
			return profiles.NewRandomizedResponse(v.number("probability"), v.whole("categories"))
		}},
		{"pure", []string{"epsilon"}, func(v *values) (profiles.Mechanism, error) {
			return profiles.NewPure(v.number("epsilon"))
		}},
		{"approximate", []string{"epsilon", "delta"}, func(v *values) (profiles.Mechanism, error) {
			return profiles.NewApproximate(v.number("epsilon"), v.number("delta"))
		}},
		{"finite", []string{"p", "q", "rows"}, func(v *values) (profiles.Mechanism, error) {
			if v.has("rows") {
				rows := ask(v, "rows", "a list of rows of probabilities, one for each value", (*node).rows)
				if v.has("p") || v.has("q") {
					return nil, fault.New("rows", "is set, not allowed with p and q")
				}
				return randomizer(shuffler.NewMatrix(rows))
			}
			return profiles.NewFiniteMechanism(v.list("p"), v.list("q"))
		}},
		{"density", []string{"p", "q", "low", "high", "order", "mass-error", "loss-error", "outside", "grid", "log-p", "log-q", "curvature", "kinks", "density-error"}, newDensity},
		{"exponential", []string{"epsilon"}, func(v *values) (profiles.Mechanism, error) {
			return choice.NewExponential(v.number("epsilon"))
		}},
		{"permute-and-flip", []string{"epsilon"}, func(v *values) (profiles.Mechanism, error) {
			return choice.NewPermuteAndFlip(v.number("epsilon"))
		}},
		{"noisy-max", []string{"noise", "epsilon"}, func(v *values) (profiles.Mechanism, error) {
			return choice.NewNoisyMax(v.word("noise"), v.number("epsilon"))
		}},
		{"threshold", []string{"noise", "standard-deviation", "scale", "threshold", "partitions"}, func(v *values) (profiles.Mechanism, error) {
			noise, scale := v.word("noise"), 1.0
			names := map[string][2]string{"gaussian": {"standard-deviation", "scale"}, "laplace": {"scale", "standard-deviation"}, "discrete-laplace": {"scale", "standard-deviation"}}[noise]
			if names[0] != "" {
				scale = v.number(names[0])
				if v.node.get(names[1]) != nil {
					return nil, fault.New(names[1], "is set, not allowed with %s noise; set %s", noise, names[0])
				}
			}
			return choice.NewThreshold(noise, scale, v.number("threshold"), v.wholeOr("partitions", 1))
		}},
		{"select-partitions", []string{"epsilon", "delta", "partitions"}, func(v *values) (profiles.Mechanism, error) {
			return choice.NewSelectPartitions(v.number("epsilon"), v.number("delta"), v.wholeOr("partitions", 1))
		}},
		{"majority", []string{"mechanisms", "epsilon", "allowance", "delta", "output-delta", "gamma", "voter-epsilons", "voter-deltas", "classes", "answers", "answers-delta"}, func(v *values) (profiles.Mechanism, error) {
			p := darrm.Params{Mechanisms: v.whole("mechanisms"), Epsilon: v.number("epsilon"), Allowance: v.number("allowance"),
				Delta: v.numberOr("delta", 0), OutputDelta: v.numberOr("output-delta", math.NaN()), Classes: v.wholeOr("classes", 0)}
			if err := readVoters(v, &p); err != nil {
				return nil, err
			}
			return newMajority(p, v.wordOr("gamma", "optimal"), v.wholeOr("answers", 1), v.numberOr("answers-delta", 1e-5))
		}},
		{"matrix", matrixKeys, newMatrix},
		{"k-rr", []string{"epsilon", "categories"}, func(v *values) (profiles.Mechanism, error) {
			return randomizer(shuffler.NewKRR(v.number("epsilon"), v.whole("categories")))
		}},
		{"unary", []string{"epsilon", "keep-one", "keep-zero", "categories"}, func(v *values) (profiles.Mechanism, error) {
			categories := v.wholeOr("categories", 0)
			if v.has("keep-one") || v.has("keep-zero") {
				if v.has("epsilon") {
					return nil, fault.New("epsilon", "is set, not allowed with keep-one and keep-zero")
				}
				return randomizer(shuffler.NewUnary(v.number("keep-one"), v.number("keep-zero"), categories))
			}
			return randomizer(shuffler.NewOptimizedUnary(v.number("epsilon"), categories))
		}},
		{"subset-selection", []string{"epsilon", "categories", "size"}, func(v *values) (profiles.Mechanism, error) {
			return randomizer(shuffler.NewSubsetSelection(v.number("epsilon"), v.whole("categories"), v.whole("size")))
		}},
		{"hadamard", []string{"epsilon", "categories"}, func(v *values) (profiles.Mechanism, error) {
			return randomizer(shuffler.NewHadamard(v.number("epsilon"), v.wholeOr("categories", 3)))
		}},
		{"local-hash", []string{"epsilon", "size", "collisions"}, func(v *values) (profiles.Mechanism, error) {
			collisions := v.wordOr("collisions", "any")
			if collisions != "any" && collisions != "pairwise" {
				return nil, fault.New("collisions", "%s", nearest.Value(collisions, []string{"any", "pairwise"}))
			}
			return randomizer(shuffler.NewLocalHash(v.number("epsilon"), v.whole("size"), collisions == "pairwise"))
		}},
	}
}

// newDensity reads a pair of output distributions: a table of cells, or densities on a grid.
func newDensity(v *values) (profiles.Mechanism, error) {
	var t profiles.Table
	if v.has("grid") {
		for _, key := range []string{"p", "q", "low", "high", "order", "mass-error", "loss-error"} {
			if v.has(key) {
				return nil, fault.New(key, "is set, not allowed with grid")
			}
		}
		g := profiles.Grid{At: v.list("grid"), LogP: v.list("log-p"), LogQ: v.list("log-q"), Curvature: v.number("curvature"),
			Kinks: v.listOr("kinks"), Err: v.numberOr("density-error", 0), Outside: v.numberOr("outside", 0)}
		if v.err != nil {
			return nil, v.err
		}
		var err error
		if t, err = g.Table(); err != nil {
			return nil, err
		}
		return profiles.NewTable(t)
	}
	for _, key := range []string{"log-p", "log-q", "curvature", "kinks", "density-error"} {
		if v.has(key) {
			return nil, fault.New(key, "is set, not allowed without grid")
		}
	}
	for _, to := range []struct {
		key  string
		logs *[]float64
	}{{"p", &t.LogP}, {"q", &t.LogQ}} {
		for i, x := range v.list(to.key) {
			if !(x >= 0 && x <= 1.2) {
				return nil, fault.New(fmt.Sprintf("%s[%d]", to.key, i), "%v is not a mass in [0, 1]", x)
			}
			*to.logs = append(*to.logs, xmath.Log(x))
		}
	}
	if v.has("low") || v.has("high") {
		t.Low = ask(v, "low", "a list of losses, or inf and -inf", (*node).losses)
		t.High = ask(v, "high", "a list of losses, or inf and -inf", (*node).losses)
	}
	if order := v.wordOr("order", ""); order == "ascending" {
		t.Ascending = true
	} else if v.has("order") {
		return nil, fault.New("order", "%s", nearest.Value(order, []string{"ascending"}))
	}
	t.MassErr, t.LossErr, t.Outside = v.numberOr("mass-error", 0), v.numberOr("loss-error", 0), v.numberOr("outside", 0)
	if v.err != nil {
		return nil, v.err
	}
	return profiles.NewTable(t)
}

func (n *node) losses() ([]float64, error) { return readList(n, "losses", (*node).loss) }

// loss reads a number that may be infinite.
func (n *node) loss() (float64, error) {
	switch n.text {
	case "inf", "+inf", ".inf":
		return math.Inf(1), nil
	case "-inf", "-.inf":
		return math.Inf(-1), nil
	}
	return n.number()
}

func samplings() []entry[subsample.Scheme] {
	return []entry[subsample.Scheme]{
		{"poisson", []string{"rate"}, func(v *values) (subsample.Scheme, error) {
			return subsample.NewPoisson(v.number("rate"))
		}},
		{"without-replacement", oneStage, func(v *values) (subsample.Scheme, error) {
			return subsample.NewWithoutReplacement(int64(v.whole("population")), int64(v.whole("batch")))
		}},
		{"with-replacement", oneStage, func(v *values) (subsample.Scheme, error) {
			return subsample.NewWithReplacement(int64(v.whole("population")), int64(v.whole("batch")))
		}},
		{"must-ow", twoStages, must(subsample.NewMustOW)},
		{"must-wo", twoStages[:3], must(subsample.NewMustWO)},
		{"must-ww", twoStages, must(subsample.NewMustWW)},
		{"stages", []string{"population", "stages"}, func(v *values) (subsample.Scheme, error) {
			population := int64(v.whole("population"))
			list := ask(v, "stages", "a list of stages, each such as {without-replacement: 100}", (*node).stages)
			if v.err != nil {
				return nil, v.err
			}
			return subsample.NewStages(population, list)
		}},
		{"random-allocation", []string{"steps", "uses", "first", "redraw", "epochs"}, randomAllocation},
		{"balls-in-bins", []string{"bins", "redraw", "epochs"}, ballsInBins},
		{"shuffle", []string{"batches", "unused", "redraw", "epochs"}, shuffle},
		{"truncated-poisson", []string{"rate", "cap", "population"}, func(v *values) (subsample.Scheme, error) {
			return allocation.NewTruncated(v.number("rate"), int64(v.whole("cap")), int64(v.whole("population")))
		}},
		{"fixed-order", []string{"uses"}, func(v *values) (subsample.Scheme, error) {
			return allocation.NewFixed(int64(v.wholeOr("uses", 1)))
		}},
		{"shuffler", []string{"users", "cohort", "cohort-rate", "colluding"}, newShuffler},
	}
}

func (n *node) stages() ([]subsample.Stage, error) { return readList(n, "stages", (*node).stage) }

// stage reads a sampling by its size.
func (n *node) stage() (s subsample.Stage, err error) {
	if n.kind != mapNode || len(n.fields) != 1 {
		return s, n.errorf("%v is not a stage such as {without-replacement: 100}", n)
	}
	if err := n.checkKeys([]string{"without-replacement", "with-replacement"}); err != nil {
		return s, err
	}
	size, err := n.fields[0].node.whole()
	return subsample.Stage{Size: int64(size), Distinct: n.fields[0].key == "without-replacement"}, err
}

// randomizer is a local randomizer as a mechanism.
func randomizer(r shuffler.Randomizer, err error) (profiles.Mechanism, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

// newShuffler reads the shuffle model; the scheme shuffle is how a data loader cuts batches.
func newShuffler(v *values) (subsample.Scheme, error) {
	s, err := shuffler.New(int64(v.whole("users")))
	switch {
	case err != nil:
		return nil, err
	case v.has("cohort") && v.has("cohort-rate"):
		return nil, fault.New("cohort", "is set, not allowed with cohort-rate")
	}
	if cohort := v.wholeOr("cohort", 0); v.has("cohort") {
		if s, err = s.WithCohort(int64(cohort)); err != nil {
			return nil, err
		}
	}
	if rate := v.numberOr("cohort-rate", 0); v.has("cohort-rate") {
		if s, err = s.WithCohortRate(rate); err != nil {
			return nil, err
		}
	}
	if s, err = s.WithColluding(int64(v.wholeOr("colluding", 0))); err != nil {
		return nil, err
	}
	return s, nil
}

// A batch of the population; with MUST, a subset of the population, then a batch of the
// subset.
var (
	oneStage  = []string{"population", "batch"}
	twoStages = []string{"population", "subset", "batch", "resamples"}
)

func must(build func(population, subset, batch int64) (subsample.FixedSize, error)) func(*values) (subsample.Scheme, error) {
	return func(v *values) (subsample.Scheme, error) {
		s, err := build(int64(v.whole("population")), int64(v.whole("subset")), int64(v.whole("batch")))
		if r := v.wholeOr("resamples", 1); err == nil && v.err == nil && v.has("resamples") {
			return allocation.NewResampled(s, int64(r))
		}
		return s, err
	}
}

// The key selection: how often a candidate is run of which the best is shown.

var selectionKeys = []string{"law", "mean", "gamma", "shape", "max", "cap"}

// parseSelection reads {law: geometric, mean: 10}: the law of the number of
// candidates that a private selection runs.
func parseSelection(n *node) (*selection.Config, error) {
	if n.kind != mapNode {
		return nil, n.errorf("%v is not a selection such as {law: geometric, mean: 10}", n)
	}
	if err := n.checkKeys(selectionKeys); err != nil {
		return nil, err
	}
	if _, err := n.need("law", "geometric, logarithmic, negative-binomial, poisson, binomial or fixed"); err != nil {
		return nil, err
	}
	v := &values{node: n}
	c := &selection.Config{Law: v.word("law"), Cap: v.wordOr("cap", ""), Mean: v.numberOr("mean", 0), Gamma: v.numberOr("gamma", 0),
		Shape: v.numberOr("shape", 0), Max: v.wholeOr("max", 0)}
	if v.err != nil {
		return nil, v.err
	}
	if _, err := c.Build(); err != nil {
		return nil, n.locate("selection", err)
	}
	return c, nil
}

// This file describes plans to editors, as a JSON Schema that is made from the tables by
// which plans are read. It says which keys there are and of which kind their values are;
// ranges, and which keys go together, are said by Parse alone.

// A schema is a part of a JSON Schema.
type schema map[string]any

// Schema returns the JSON Schema (draft 2020-12) of plans, for editors that complete and
// check YAML or JSON.
func Schema() []byte {
	step := schema{"$ref": "#/$defs/step"}
	steps := schema{"type": "array", "items": step, "minItems": 1}
	var relations []string
	for _, r := range profiles.Relations() {
		relations = append(relations, r.String())
	}
	root := object(planKeys, schema{
		"neighbors":          schema{"enum": relations, "description": "the neighbouring relation"},
		"records-per-person": described("a whole number", "how many records a person has at most"),
		"steps":              steps,
	})
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "plan of differentially private mechanisms"
	root["required"] = []string{"neighbors", "steps"}
	root["$defs"] = schema{"step": object(stepKeys, schema{
		"name":      schema{"type": "string", "description": "free text"},
		"mechanism": oneOf(mechanisms()),
		"sampling":  oneOf(samplings()),
		"count":     described("a whole number", "how many times the step runs, such as 14063 or ceil(60000/256*60)"),
		"steps":     steps,
		"selection": object(selectionKeys, nil),
		"adaptive":  object(adaptiveKeys, schema{"menu": schema{"type": "array", "minItems": 1, "items": object(typeKeys, schema{"steps": steps})}}),
		"disjoint":  schema{"type": "array", "items": step, "minItems": 2, "description": "branches on disjoint parts of the records, in place of mechanism and steps"},
		"partition": schema{"enum": []string{"fixed", "by-record"}, "description": "what decides the branch of a record: its place, or what it is"},
	})}
	data, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("plan: " + err.Error()) // texts, lists and maps alone
	}
	return append(data, '\n')
}

// object is a mapping of these keys, of which some have a schema.
func object(keys []string, known schema) schema {
	properties := schema{}
	for _, key := range keys {
		properties[key] = schema{}
		if s, ok := known[key]; ok {
			properties[key] = s
		}
	}
	return schema{"type": "object", "properties": properties, "additionalProperties": false}
}

// oneOf is a mapping with one key, the name of an entry.
func oneOf[T any](table []entry[T]) schema {
	kinds := schema{}
	for _, e := range table {
		kinds[e.name] = object(e.keys, e.schema())
	}
	return schema{"type": "object", "properties": kinds, "additionalProperties": false, "minProperties": 1, "maxProperties": 1}
}

// schema returns what the parameters of an entry are, as far as building it without any
// asks for them.
func (e entry[T]) schema() schema {
	known := schema{}
	v := &values{node: &node{kind: mapNode}, asked: func(key, what string) { known[key] = described(what, "") }}
	_, _ = e.build(v)
	return known
}

// described is the schema of a value as messages call it. A number may be an expression,
// which JSON has as a string.
func described(what, text string) schema {
	s := schema{}
	switch what {
	case "a number":
		s["type"] = []string{"number", "string"}
	case "a whole number":
		s["type"] = []string{"integer", "string"}
	case "a list of numbers":
		s["type"], s["items"] = "array", schema{"type": []string{"number", "string"}}
	case "a word":
		s["type"] = "string"
	}
	if text != "" {
		s["description"] = text
	}
	return s
}

// The mechanism majority in plans. Its noise function is optimised when the plan is asked about, and
// not when it is read; until then it is what its parameters say.

// A majority is one release of a private majority. Its noise function takes a
// linear program, so that it is computed when the profile is first asked for,
// not when a plan is read.
type majority struct {
	params  darrm.Params
	noise   string  // one of noiseFunctions
	answers int     // taken together
	delta   float64 // at which they are priced best

	lock  sync.Mutex
	known darrm.Gamma // what find returned, nil so far
}

var noiseFunctions = []string{"optimal", "subsampling", "double", "constant"}

// find computes the noise function.
func (m *majority) find(ctx context.Context) (darrm.Gamma, error) {
	votes := darrm.Subsampling
	switch m.noise {
	case "optimal":
		r, err := darrm.Optimize(ctx, m.params, darrm.Surrogate{Mean: 0.75}, darrm.Options{})
		if err != nil {
			return nil, err
		}
		return r.Gamma, nil
	case "constant":
		c, _, err := darrm.BestConstant(ctx, m.params)
		if err != nil {
			return nil, err
		}
		return darrm.Constant(m.params.Mechanisms, c)
	case "double":
		votes = darrm.DoubleSubsampling
	}
	return votes(m.params.Mechanisms, int(m.params.Allowance))
}

// gamma returns the noise function, found once.
func (m *majority) gamma(ctx context.Context) (darrm.Gamma, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.known == nil {
		g, err := m.find(ctx)
		if err != nil {
			return nil, err
		}
		m.known = g
	}
	return m.known, nil
}

// Answer releases an answer to each query, a row of votes of all mechanisms. It is an error to ask for more
// answers than the mechanism is priced for.
func (m *majority) Answer(ctx context.Context, queries [][]int, src rand.Source) ([]int, error) {
	if len(queries) > m.answers {
		return nil, fault.New("answers", "%d are more than %d, which are priced together", len(queries), m.answers)
	}
	g, err := m.gamma(ctx)
	if err != nil {
		return nil, fault.In("majority", err)
	}
	out := make([]int, len(queries))
	for i, votes := range queries {
		if m.params.Classes > 2 {
			out[i], err = darrm.ReleaseLabel(g, votes, m.params.Classes, src)
		} else {
			out[i], err = releaseBit(g, votes, src)
		}
		if err != nil {
			return nil, fault.In(fmt.Sprintf("queries[%d]", i), err)
		}
	}
	return out, nil
}

// releaseBit is darrm.Release for votes that are 0 or 1.
func releaseBit(g darrm.Gamma, votes []int, src rand.Source) (int, error) {
	yes := make([]bool, len(votes))
	for i, v := range votes {
		if v != 0 && v != 1 {
			return 0, fault.New(fmt.Sprintf("votes[%d]", i), "%d is not 0 or 1", v)
		}
		yes[i] = v == 1
	}
	if bit, err := darrm.Release(g, yes, src); err != nil || !bit {
		return 0, err
	}
	return 1, nil
}

// readVoters reads what each mechanism is private for, where they are unlike.
func readVoters(v *values, p *darrm.Params) error {
	if !v.has("voter-epsilons") {
		if v.has("voter-deltas") {
			return fault.New("voter-deltas", "is set without voter-epsilons")
		}
		return nil
	}
	epsilons := v.list("voter-epsilons")
	deltas := make([]float64, len(epsilons))
	if v.has("voter-deltas") {
		if deltas = v.list("voter-deltas"); len(deltas) != len(epsilons) {
			return fault.New("voter-deltas", "has %d entries, must have as many as voter-epsilons (%d)", len(deltas), len(epsilons))
		}
	}
	p.Voters = darrm.Group(epsilons, deltas)
	if math.IsNaN(p.OutputDelta) {
		p.OutputDelta = 0
		for _, d := range deltas {
			p.Delta = max(p.Delta, d)
		}
		*p = p.WithDefaultDelta()
	}
	return nil
}

// newMajority returns the majority with the noise function of a name, as the
// command majority computes it. A NaN outputDelta is 1 − (1−Δ)^m.
func newMajority(p darrm.Params, gamma string, answers int, delta float64) (*majority, error) {
	if answers < 1 || answers > 10000 || answers > 1 && p.Classes > 2 {
		return nil, fault.New("answers", "%d is not in [1, 10000], or not 1 with many classes", answers)
	}
	if !(delta >= 1e-100 && delta < 1) {
		return nil, fault.New("answers-delta", "%v is not in [1e-100, 1)", delta)
	}
	if (p.Voters != nil || p.Classes > 2) && (gamma == "subsampling" || gamma == "double") {
		return nil, fault.New("gamma", "%q is not optimal or constant, which unlike voters or many classes take", gamma)
	}
	if math.IsNaN(p.OutputDelta) {
		p.OutputDelta = 0
		p = p.WithDefaultDelta()
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	if !slices.Contains(noiseFunctions, gamma) {
		return nil, fault.New("gamma", "%s", nearest.Value(gamma, noiseFunctions))
	}
	return &majority{params: p, noise: gamma, answers: answers, delta: delta}, nil
}

// Name implements profiles.Mechanism.
func (m *majority) Name() string { return "majority" }

// Pair implements profiles.Mechanism; no single pair of data sets attains the
// profile.
func (m *majority) Pair(profiles.Relation) (profiles.Profile, error) {
	return nil, fault.New("majority", "has no attained pair, it can only run on the whole data set")
}

// Bounds implements profiles.Compound. Nothing but the noise function counts,
// so that what is charged can be less than the allowance.
func (m *majority) Bounds(ctx context.Context, r profiles.Relation) (profiles.Bounds, error) {
	g, err := m.gamma(ctx)
	if err != nil {
		return profiles.Bounds{}, fault.In("majority", err)
	}
	return m.params.Mechanism(ctx, r, g, m.answers, m.delta)
}

// The mechanism matrix in plans: its strategies and schemas as keys.

// This file reads the mechanism matrix, whose strategy and participation have keys of
// their own: {square-root: {bands: 8}} and {min-separation: 100, at-most: 20}.

var matrixKeys = []string{"noise-multiplier", "steps", "strategy", "participation"}

func newMatrix(v *values) (profiles.Mechanism, error) {
	c := matrix.Config{NoiseMultiplier: v.number("noise-multiplier"), Steps: v.whole("steps")}
	c.Strategy = ask(v, "strategy", "identity, or a matrix such as {square-root: {bands: 8}}", func(n *node) (matrix.Strategy, error) { return parseStrategy(n, c.Steps) })
	c.Participation = ask(v, "participation", "a schema such as {min-separation: 100, at-most: 20}", parseParticipation)
	if v.err != nil {
		return nil, v.err
	}
	return matrix.New(c)
}

// parseStrategy reads a matrix for a number of steps.
func parseStrategy(n *node, steps int) (matrix.Strategy, error) {
	if n.isWord("identity") {
		return matrix.Identity(), nil
	}
	if f := n.get("file"); f != nil {
		return matrix.Strategy{}, f.errorf("is not read here; put what it has in its place")
	}
	if n.kind != mapNode {
		return matrix.Strategy{}, n.errorf("%v is not a strategy: identity, {square-root: {bands: 8}}, {toeplitz: {coefficients: [1, 0.5]}}, {blt: {scales: [0.2, 0.3], decays: [0.5, 0.97]}}, {tree: {completion: false}} or {banded: {rows: [[1], [0.5, 1]]}}", n)
	}
	return parseEntry(n, "strategy", strategies(steps))
}

// strategies is the table of matrices for a number of steps.
func strategies(steps int) []entry[matrix.Strategy] {
	return []entry[matrix.Strategy]{
		{"square-root", []string{"bands"}, func(v *values) (matrix.Strategy, error) {
			return matrix.SquareRoot(v.wholeOr("bands", steps))
		}},
		{"toeplitz", []string{"coefficients"}, func(v *values) (matrix.Strategy, error) {
			return matrix.Toeplitz(v.list("coefficients"))
		}},
		{"blt", []string{"scales", "decays"}, func(v *values) (matrix.Strategy, error) {
			return matrix.BLT(v.list("scales"), v.list("decays"))
		}},
		{"tree", []string{"completion"}, func(v *values) (matrix.Strategy, error) {
			return matrix.Tree(v.node.get("completion") != nil && v.flag("completion")), nil
		}},
		{"banded", []string{"rows", "file"}, func(v *values) (matrix.Strategy, error) {
			if f := v.node.get("file"); f != nil && v.err == nil {
				v.err = f.errorf("is not read here; list the rows instead")
			}
			return matrix.Rows(ask(v, "rows", "a list of rows", (*node).rows))
		}},
	}
}

var (
	participationKeys = []string{"single", "epochs", "min-separation", "at-most", "cyclic-poisson", "b-min-sep", "poisson", "balls-in-bins"}
	schemaKeys        = slices.DeleteFunc(slices.Clone(participationKeys), func(key string) bool { return key == "at-most" })
	// drawnSchemas are those with keys of their own.
	drawnSchemas = []entry[matrix.Participation]{
		{"poisson", []string{"rate", "delta"}, func(v *values) (matrix.Participation, error) {
			return matrix.Poisson(v.number("rate"), v.number("delta"))
		}},
		{"b-min-sep", []string{"separation", "rate"}, func(v *values) (matrix.Participation, error) {
			return matrix.BMinSep(v.whole("separation"), v.number("rate"))
		}},
		{"cyclic-poisson", []string{"cycle", "rate"}, func(v *values) (matrix.Participation, error) {
			return matrix.CyclicPoisson(v.whole("cycle"), v.number("rate"))
		}},
	}
)

// ParseParticipation reads the schema of a matrix mechanism as a plan has it, without the plan around:
// {min-separation: 100, at-most: 20}.
func ParseParticipation(ctx context.Context, text []byte) (matrix.Participation, error) {
	root, err := parseYAML(ctx, text)
	if err != nil {
		return matrix.Participation{}, err
	}
	if root == nil {
		return matrix.Participation{}, &Error{Problem: "is empty; must be a schema such as {min-separation: 100, at-most: 20}"}
	}
	return parseParticipation(root)
}

// parseParticipation reads {single: true}, {epochs: 20}, {min-separation: 100, at-most: 20},
// {cyclic-poisson: {cycle: 8, rate: 0.05}}, {b-min-sep: {separation: 8, rate: 0.01}}, {poisson: {rate: 0.01, delta: 1e-8}} or
// {balls-in-bins: 100}.
func parseParticipation(n *node) (p matrix.Participation, err error) {
	if n.kind != mapNode {
		return p, n.errorf("%v is not a schema such as {min-separation: 100, at-most: 20}", n)
	}
	if err := n.checkKeys(participationKeys); err != nil {
		return p, err
	}
	given := slices.DeleteFunc(slices.Clone(schemaKeys), func(key string) bool { return n.get(key) == nil })
	switch {
	case len(given) == 0:
		return p, n.errorf("has no schema; must have one of %s", strings.Join(schemaKeys, ", "))
	case len(given) > 1:
		return p, n.errorf("has more than one schema; must have one of %s", strings.Join(schemaKeys, ", "))
	case given[0] != "min-separation" && n.get("at-most") != nil:
		return p, n.get("at-most").errorf("is set without min-separation")
	}
	for _, e := range drawnSchemas {
		if e.name == given[0] {
			return e.parse(n.get(e.name))
		}
	}
	v := &values{node: n}
	switch given[0] {
	case "single":
		if !v.flag("single") && v.err == nil {
			return p, n.get("single").errorf("must be true, or left out")
		}
		p = matrix.Single()
	case "balls-in-bins":
		if p, err = matrix.BallsInBins(v.whole("balls-in-bins")); err != nil {
			err = fault.Rename(err, func(string) string { return "balls-in-bins" })
		}
	case "epochs":
		p, err = matrix.Epochs(v.whole("epochs"))
	default:
		p, err = matrix.MinSeparation(v.whole("min-separation"), v.whole("at-most"))
	}
	switch {
	case v.err != nil:
		return p, v.err
	case err != nil:
		return p, n.locate("participation", err)
	}
	return p, nil
}

// flag asks for true or false.
func (v *values) flag(key string) bool { return ask(v, key, "true or false", (*node).flag) }

func (n *node) flag() (bool, error) {
	if n.kind == scalarNode && (n.text == "true" || n.text == "false") {
		return n.text == "true", nil
	}
	return false, n.errorf("%v is not true or false", n)
}

func (n *node) rows() ([][]float64, error) { return readList(n, "rows", (*node).list) }
