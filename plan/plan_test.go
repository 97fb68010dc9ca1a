package plan

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/profiles"
)

// one returns a plan whose only step has the given lines.
func one(lines ...string) string {
	return "neighbors: add-remove\nsteps:\n  - " + strings.Join(lines, "\n    ") + "\n"
}

const gauss = "mechanism: {gaussian: {noise-multiplier: 1}}"

var allMechanisms = strings.Join(names(mechanisms()), ", ")

// badPlans holds each way to get a plan wrong, with the whole message.
var badPlans = []struct{ name, plan, want string }{
	// The text.
	{"empty", "",
		"line 1: plan: is empty; a plan has the keys neighbors, records-per-person, steps"},
	{"only a comment", "# nothing\n",
		"line 1: plan: is empty; a plan has the keys neighbors, records-per-person, steps"},
	{"not UTF-8", "neighbors: \xff\xfe\n",
		"plan: is not UTF-8 text"},
	{"NUL", "neighbors: \x00\n",
		`line 1: neighbors: "\x00" is not a relation; must be one of add-remove, substitute, zero-out`},
	{"tab indentation", "neighbors: add-remove\nsteps:\n\t- count: 1\n",
		"line 3: plan: is indented with a tab; YAML wants spaces"},
	{"open brace", "neighbors: add-remove\nsteps: [{count: 1\n",
		"line 2: plan: is not valid YAML: could not find flow mapping end token '}'"},
	{"open quote", "neighbors: \"add-remove\nsteps: []\n",
		"line 1: plan: is not valid YAML: could not find end character of double-quoted text"},
	{"stray colon", "neighbors: add-remove: x\n",
		"line 1: plan: is not valid YAML: mapping value is not allowed in this context"},
	{"bad indentation", "neighbors: add-remove\n steps: []\n",
		"line 1: plan: is not valid YAML: mapping value is not allowed in this context"},
	{"second document", one(gauss) + "---\nneighbors: substitute\n",
		"line 5: plan: a second document begins; a plan is a single one"},
	{"anchor", one("mechanism: &m {gaussian: {noise-multiplier: 1}}"),
		"line 3: plan: anchors (&, *) are not allowed; repeat a group with count: and steps:"},
	{"alias", one("mechanism: *m"),
		"line 3: plan: anchors (&, *) are not allowed; repeat a group with count: and steps:"},
	{"merge key", one("<<: {count: 1}"),
		"line 3: plan: merge keys (<<) are not allowed"},
	{"tag", one("mechanism: {gaussian: {noise-multiplier: !!float 1}}"),
		"line 3: plan: tags (!) are not allowed"},
	{"directive", "%YAML 1.2\n---\n" + one(gauss),
		"line 1: plan: directives (%) are not allowed"},
	{"complex key", "? neighbors\n: add-remove\n",
		"line 1: plan: complex keys (?) are not allowed"},
	{"deep flow", "steps: " + strings.Repeat("[", 1000) + strings.Repeat("]", 1000),
		"line 1: plan: is nested more than 64 deep"},
	{"deep block", "steps:\n  " + strings.Repeat("- ", 1000) + "1\n",
		"line 2: plan: is nested more than 64 deep"},
	{"deep mappings", "steps: " + strings.Repeat("{a: ", 1000) + strings.Repeat("}", 1000),
		"line 1: plan: is nested more than 64 deep"},
	{"many keys", strings.Repeat("a: 1\n", 1000),
		"line 101: plan: has a mapping with more than 100 keys"},
	{"too large", "# " + strings.Repeat("x", MaxSize),
		"plan: is larger than 1048576 bytes"},

	// The plan.
	{"a number", "5\n",
		"line 1: plan: 5 is not a plan (a mapping with the keys neighbors, records-per-person, steps)"},
	{"a list", "- a\n- b\n",
		"line 1: plan: a list is not a plan (a mapping with the keys neighbors, records-per-person, steps)"},
	{"unknown key", "neighbors: add-remove\nsetps: []\n",
		`line 2: plan: unknown key "setps"; did you mean "steps"?`},
	{"far-off key", "neighbors: add-remove\ndelta: 1e-5\nsteps: []\n",
		`line 2: plan: unknown key "delta"; must be one of neighbors, records-per-person, steps`},
	{"JSON, unknown key", `{"neighbors": "add-remove", "Steps": []}`,
		`line 1: plan: unknown key "Steps"; did you mean "steps"?`},
	{"duplicate key", "neighbors: add-remove\nneighbors: substitute\nsteps: []\n",
		"line 2: neighbors: is set a second time; the first is on line 1"},
	{"no neighbors", "steps:\n  - " + gauss + "\n",
		"line 1: plan: neighbors is missing; must be add-remove, substitute or zero-out"},
	{"empty neighbors", "neighbors:\nsteps:\n  - " + gauss + "\n",
		"line 1: neighbors: an empty value is not a relation; must be one of add-remove, substitute, zero-out"},
	{"neighbors misspelt", "neighbors: add_remove\nsteps: []\n",
		`line 1: neighbors: "add_remove" is not a relation; did you mean "add-remove"?`},
	{"neighbors unknown", "neighbors: both\nsteps: []\n",
		`line 1: neighbors: "both" is not a relation; must be one of add-remove, substitute, zero-out`},
	{"neighbors a list", "neighbors: [add-remove]\nsteps: []\n",
		"line 1: neighbors: a list is not a relation; must be one of add-remove, substitute, zero-out"},
	{"no steps", "neighbors: add-remove\n",
		"line 1: plan: steps is missing; must be a list of steps"},
	{"null steps", "neighbors: add-remove\nsteps:\n",
		"line 2: steps: an empty value is not a list of steps"},
	{"empty steps", "neighbors: add-remove\nsteps: []\n",
		"line 2: steps: is empty; must list at least one step"},
	{"steps a mapping", "neighbors: add-remove\nsteps: {count: 1}\n",
		"line 2: steps: a mapping is not a list of steps"},
	{"steps a number", "neighbors: add-remove\nsteps: 100\n",
		"line 2: steps: 100 is not a list of steps"},

	// A step.
	{"step a word", "neighbors: add-remove\nsteps: [gaussian]\n",
		`line 2: steps[0]: "gaussian" is not a step (a mapping with the keys name, mechanism, sampling, count, steps, selection, adaptive, disjoint, partition)`},
	{"step empty", "neighbors: add-remove\nsteps:\n  -\n",
		"line 3: steps[0]: an empty value is not a step (a mapping with the keys name, mechanism, sampling, count, steps, selection, adaptive, disjoint, partition)"},
	{"step without mechanism", one("count: 3"),
		"line 3: steps[0]: has neither mechanism nor steps nor disjoint"},
	{"unknown key in step", one(gauss, "cuont: 3"),
		`line 4: steps[0]: unknown key "cuont"; did you mean "count"?`},
	{"mechanism not nested", one("gaussian: {noise-multiplier: 1}"),
		`line 3: steps[0]: unknown key "gaussian"; must be one of name, mechanism, sampling, count, steps, selection, adaptive, disjoint, partition`},
	{"duplicate key in step", one(gauss, "count: 3", "count: 4"),
		"line 5: steps[0].count: is set a second time; the first is on line 4"},
	{"duplicate mechanism", one(gauss, gauss),
		"line 4: steps[0].mechanism: is set a second time; the first is on line 3"},
	{"name a list", one("name: [a]", gauss),
		"line 3: steps[0].name: a list is not text"},
	{"name empty", one("name:", gauss),
		"line 3: steps[0].name: an empty value is not text"},
	{"count zero", one(gauss, "count: 0"),
		"line 4: steps[0].count: 0 is not a whole number in [1, 2^53]"},
	{"count negative", one(gauss, "count: -3"),
		"line 4: steps[0].count: -3 is not a whole number in [1, 2^53]"},
	{"count a fraction", one(gauss, "count: 2.5"),
		"line 4: steps[0].count: 2.5 is not a whole number in [1, 2^53]"},
	{"count nearly whole", one(gauss, "count: 2.0000000000000000001"),
		"line 4: steps[0].count: 2.0000000000000000001 is not a whole number in [1, 2^53]"},
	{"count a word", one(gauss, "count: many"),
		`line 4: steps[0].count: "many" is not a whole number in [1, 2^53]`},
	{"count quoted", one(gauss, `count: "3"`),
		`line 4: steps[0].count: "3" is not a whole number in [1, 2^53] (remove the quotes)`},
	{"count true", one(gauss, "count: true"),
		`line 4: steps[0].count: "true" is not a whole number in [1, 2^53]`},
	{"count a list", one(gauss, "count: [1]"),
		"line 4: steps[0].count: a list is not a whole number in [1, 2^53]"},
	{"count empty", one(gauss, "count:"),
		"line 4: steps[0].count: an empty value is not a whole number in [1, 2^53]"},
	{"count hexadecimal", one(gauss, "count: 0x10"),
		`line 4: steps[0].count: "0x10" is not a whole number in [1, 2^53]`},
	{"count with leading zero", one(gauss, "count: 010"),
		`line 4: steps[0].count: "010" is not a whole number in [1, 2^53]`},
	{"count with underscore", one(gauss, "count: 1_000"),
		`line 4: steps[0].count: "1_000" is not a whole number in [1, 2^53]`},
	{"count 2^53+1", one(gauss, "count: 9007199254740993"),
		"line 4: steps[0].count: 9007199254740993 is not a whole number in [1, 2^53]"},
	{"count 2^53+1 as a float", one(gauss, "count: 9007199254740993.0"),
		"line 4: steps[0].count: 9007199254740993.0 is not a whole number in [1, 2^53]"},
	{"count huge", one(gauss, "count: 1e300"),
		"line 4: steps[0].count: 1e300 is not a whole number in [1, 2^53]"},
	{"count beyond float64", one(gauss, "count: 1e999999999"),
		"line 4: steps[0].count: 1e999999999 is not a whole number in [1, 2^53]"},
	{"count infinite", one(gauss, "count: .inf"),
		"line 4: steps[0].count: .inf is not a whole number in [1, 2^53]"},
	{"count not a number", one(gauss, "count: .nan"),
		"line 4: steps[0].count: .nan is not a whole number in [1, 2^53]"},
	{"count a date", one(gauss, "count: 2026-01-01"),
		`line 4: steps[0].count: "2026-01-01" is not a whole number in [1, 2^53]`},
	{"counts multiply beyond 2^53", one("count: 1e9", "steps:", "  - "+gauss, "    count: 1e9"),
		"line 6: steps[0].steps[0].count: makes more than 2^53 runs (1000000000 in each of 1000000000)"},
	{"counts add beyond 2^53", one(gauss, "count: 9007199254740992") + "  - " + gauss + "\n",
		"line 5: steps[1]: makes the plan longer than 2^53 runs"},
	{"mechanism and steps", one(gauss, "steps: []"),
		"line 4: steps[0].steps: is set beside mechanism; a step has one of the two"},
	{"sampling beside steps", one("sampling: {poisson: {rate: 0.1}}", "steps:", "  - "+gauss),
		"line 3: steps[0].sampling: is set beside steps; set it in each of them"},
	{"sub-plan empty", one("steps: []"),
		"line 3: steps[0].steps: is empty; must list at least one step"},
	{"sub-plan, unknown key", one("steps:", "  - "+gauss, "    rate: 1"),
		`line 5: steps[0].steps[0]: unknown key "rate"; must be one of name, mechanism, sampling, count, steps, selection, adaptive, disjoint, partition`},

	// A mechanism.
	{"mechanism a word", one("mechanism: gaussian"),
		`line 3: steps[0].mechanism: "gaussian" is not a mechanism such as {gaussian: {noise-multiplier: …}}`},
	{"mechanism empty", one("mechanism:"),
		"line 3: steps[0].mechanism: an empty value is not a mechanism such as {gaussian: {noise-multiplier: …}}"},
	{"mechanism a list", one("mechanism: [gaussian]"),
		"line 3: steps[0].mechanism: a list is not a mechanism such as {gaussian: {noise-multiplier: …}}"},
	{"mechanism {}", one("mechanism: {}"),
		"line 3: steps[0].mechanism: is empty; must name one of " + allMechanisms},
	{"mechanism misspelt", one("mechanism: {gausian: {noise-multiplier: 1}}"),
		`line 3: steps[0].mechanism: unknown key "gausian"; did you mean "gaussian"?`},
	{"mechanism capitalized", one("mechanism: {Gaussian: {noise-multiplier: 1}}"),
		`line 3: steps[0].mechanism: unknown key "Gaussian"; did you mean "gaussian"?`},
	{"mechanism unknown", one("mechanism: {staircase: {epsilon: 1}}"),
		`line 3: steps[0].mechanism: unknown key "staircase"; must be one of ` + allMechanisms},
	{"two mechanisms", one("mechanism: {gaussian: {noise-multiplier: 1}, laplace: {noise-multiplier: 1}}"),
		"line 3: steps[0].mechanism: names both gaussian and laplace; must name one mechanism"},
	{"parameters a number", one("mechanism: {gaussian: 1.1}"),
		"line 3: steps[0].mechanism.gaussian: 1.1 is not a mapping with the keys noise-multiplier, standard-deviation, partitions, per-partition, total, clamp"},
	{"parameters empty", one("mechanism: {gaussian: }"),
		"line 3: steps[0].mechanism.gaussian: an empty value is not a mapping with the keys noise-multiplier, standard-deviation, partitions, per-partition, total, clamp"},
	{"parameter missing", one("mechanism: {gaussian: {}}"),
		"line 3: steps[0].mechanism.gaussian: noise-multiplier is missing; must be a number"},
	{"parameter unknown", one("mechanism: {gaussian: {sigma: 1}}"),
		`line 3: steps[0].mechanism.gaussian: unknown key "sigma"; did you mean "noise-multiplier"?`},
	{"decimal comma in a flow mapping", one("mechanism: {gaussian: {noise-multiplier: 1,1}}"),
		`line 3: steps[0].mechanism.gaussian: unknown key "1"; a number has a decimal point, not a comma`},
	{"name of a mechanism as a value", one("mechanism: {kind: gaussian, noise-multiplier: 1}"),
		`line 3: steps[0].mechanism: unknown key "kind"; the name itself is the key, as in mechanism: {gaussian: {noise-multiplier: 1.1}}`},
	{"name of a scheme as a value", one(gauss, "sampling: {scheme: poisson, rate: 0.1}"),
		`line 4: steps[0].sampling: unknown key "scheme"; the name itself is the key, as in sampling: {poisson: {rate: 256/60000}}`},
	{"epochs in place of steps", one(gauss, "epochs: 60"),
		`line 4: steps[0]: unknown key "epochs"; write count, such as count: ceil(60000/256*60) for 60 epochs of 60000 examples in batches of 256`},
	{"count no whole number", one(gauss, "count: 60000/256*60"),
		"line 4: steps[0].count: 60000/256*60 is 14062.5, not a whole number; ceil(…) rounds up, floor(…) down"},
	{"parameter misspelt", one("mechanism: {gaussian: {noise_multiplier: 1}}"),
		`line 3: steps[0].mechanism.gaussian: unknown key "noise_multiplier"; did you mean "noise-multiplier"?`},
	{"parameter twice", one("mechanism: {gaussian: {noise-multiplier: 1, noise-multiplier: 2}}"),
		"line 3: steps[0].mechanism.gaussian.noise-multiplier: is set a second time; the first is on line 3"},
	{"noise negative", one("mechanism: {gaussian: {noise-multiplier: -1}}"),
		"line 3: steps[0].mechanism.gaussian.noise-multiplier: -1 is not in [1e-06, 1e+15]"},
	{"noise zero", one("mechanism: {gaussian: {noise-multiplier: 0}}"),
		"line 3: steps[0].mechanism.gaussian.noise-multiplier: 0 is not in [1e-06, 1e+15]"},
	{"noise infinite", one("mechanism: {gaussian: {noise-multiplier: .inf}}"),
		"line 3: steps[0].mechanism.gaussian.noise-multiplier: +Inf is not in [1e-06, 1e+15]"},
	{"noise not a number", one("mechanism: {gaussian: {noise-multiplier: .NaN}}"),
		"line 3: steps[0].mechanism.gaussian.noise-multiplier: NaN is not in [1e-06, 1e+15]"},
	{"noise a word", one("mechanism: {gaussian: {noise-multiplier: big}}"),
		`line 3: steps[0].mechanism.gaussian.noise-multiplier: "big" is not a number`},
	{"noise quoted", one("mechanism: {gaussian: {noise-multiplier: '1.1'}}"),
		`line 3: steps[0].mechanism.gaussian.noise-multiplier: "1.1" is not a number (remove the quotes)`},
	{"noise with a unit", one("mechanism: {gaussian: {noise-multiplier: 1.1 sigma}}"),
		`line 3: steps[0].mechanism.gaussian.noise-multiplier: "1.1 sigma" is not a number`},
	{"noise with a comma", one("mechanism:", "  gaussian:", "    noise-multiplier: 1,1"),
		`line 5: steps[0].mechanism.gaussian.noise-multiplier: "1,1" is not a number; with a decimal point it is 1.1`},
	{"noise a list", one("mechanism: {gaussian: {noise-multiplier: [1]}}"),
		"line 3: steps[0].mechanism.gaussian.noise-multiplier: a list is not a number"},
	{"noise empty", one("mechanism: {gaussian: {noise-multiplier: }}"),
		"line 3: steps[0].mechanism.gaussian.noise-multiplier: an empty value is not a number"},
	{"noise beyond float64", one("mechanism: {gaussian: {noise-multiplier: 1e400}}"),
		"line 3: steps[0].mechanism.gaussian.noise-multiplier: 1e400 is too large for a 64-bit floating-point number"},
	{"noise below float64", one("mechanism: {laplace: {noise-multiplier: 1e-400}}"),
		"line 3: steps[0].mechanism.laplace.noise-multiplier: 1e-400 is too small for a 64-bit floating-point number"},
	{"noise of many digits", one("mechanism: {gaussian: {noise-multiplier: x" + strings.Repeat("1", 100) + "}}"),
		`line 3: steps[0].mechanism.gaussian.noise-multiplier: "x111111111111111111111111111111111111..." is not a number`},
	{"laplace negative", one("mechanism: {laplace: {noise-multiplier: -0.5}}"),
		"line 3: steps[0].mechanism.laplace.noise-multiplier: -0.5 is not in [1e-06, 1e+15]"},
	{"sensitivity a fraction", one("mechanism: {discrete-gaussian: {noise-multiplier: 1, sensitivity: 0.5}}"),
		"line 3: steps[0].mechanism.discrete-gaussian.sensitivity: 0.5 is not in [1, 31623]: a change of whole numbers has a norm of at least 1"},
	{"Skellam twice", one("mechanism: {skellam: {noise-multiplier: 1, standard-deviation: 4}}"),
		"line 3: steps[0].mechanism.skellam.noise-multiplier: is set, not allowed with standard-deviation, which it is times the sensitivity"},
	{"no noise", one("mechanism: {skellam: {sensitivity: 4}}"),
		"line 3: steps[0].mechanism.skellam: standard-deviation is missing; must be a number"},
	{"L1 above L2 squared", one("mechanism: {discrete-laplace: {noise-multiplier: 20, sensitivity: 3, l2-sensitivity: 1.2}}"),
		"line 3: steps[0].mechanism.discrete-laplace.l2-sensitivity: 1.2 is not at least 1.73205: whole numbers with an L1 norm of 3 may all be 1 or -1"},
	{"all clients missing", one("mechanism: {summed-noise: {noise: skellam, clients: 3, missing: 3, standard-deviation: 4}}"),
		"line 3: steps[0].mechanism.summed-noise.missing: 3 is not in [0, 2]: some client must add noise"},
	{"sensitivity zero", one("mechanism: {discrete-laplace: {noise-multiplier: 1, sensitivity: 0}}"),
		"line 3: steps[0].mechanism.discrete-laplace.sensitivity: 0 is not an integer in [1, 1000000]"},
	{"sensitivity huge", one("mechanism: {discrete-laplace: {noise-multiplier: 1, sensitivity: 1e20}}"),
		"line 3: steps[0].mechanism.discrete-laplace.sensitivity: 1e20 is not a whole number in [-2^53, 2^53]"},
	{"discrete scale", one("mechanism: {discrete-gaussian: {noise-multiplier: 3e4}}"),
		"line 3: steps[0].mechanism.discrete-gaussian.noise-multiplier: 30000 times sensitivity 1 is not at most 20000"},
	{"probability", one("mechanism: {randomized-response: {probability: 1.5, categories: 2}}"),
		"line 3: steps[0].mechanism.randomized-response.probability: 1.5 is not in [0, 1]"},
	{"one category", one("mechanism: {randomized-response: {probability: 0.5, categories: 1}}"),
		"line 3: steps[0].mechanism.randomized-response.categories: 1 is not an integer in [2, 1000000000]"},
	{"categories missing", one("mechanism: {randomized-response: {probability: 0.5}}"),
		"line 3: steps[0].mechanism.randomized-response: categories is missing; must be a whole number"},
	{"pure negative", one("mechanism: {pure: {epsilon: -1}}"),
		"line 3: steps[0].mechanism.pure.epsilon: -1 is not in [0, 1e+06]"},
	{"pure infinite", one("mechanism: {pure: {epsilon: .inf}}"),
		"line 3: steps[0].mechanism.pure.epsilon: +Inf is not in [0, 1e+06]"},
	{"pure with delta", one("mechanism: {pure: {epsilon: 1, delta: 0}}"),
		`line 3: steps[0].mechanism.pure: unknown key "delta"; must be epsilon`},
	{"approximate delta", one("mechanism:", "  approximate:", "    epsilon: 1", "    delta: 1.1"),
		"line 6: steps[0].mechanism.approximate.delta: 1.1 is not in [0, 1]"},
	{"finite p a number", one("mechanism: {finite: {p: 0.5, q: [1]}}"),
		"line 3: steps[0].mechanism.finite.p: 0.5 is not a list of numbers"},
	{"finite p empty", one("mechanism: {finite: {p: [], q: []}}"),
		"line 3: steps[0].mechanism.finite.p: is empty, must list at least one probability"},
	{"finite lengths", one("mechanism: {finite: {p: [1], q: [0.5, 0.5]}}"),
		"line 3: steps[0].mechanism.finite.q: has 2 entries, must have as many as p (1)"},
	{"finite sum", one("mechanism:", "  finite:", "    p: [0.5, 0.4]", "    q: [0.5, 0.5]"),
		"line 5: steps[0].mechanism.finite.p: sums to 0.9, must sum to 1 within 1e-9"},
	{"finite negative", one("mechanism:", "  finite:", "    p:", "      - 1.5", "      - -0.5", "    q: [0.5, 0.5]"),
		"line 6: steps[0].mechanism.finite.p[0]: 1.5 is not a probability in [0, 1]"},
	{"finite a word", one("mechanism:", "  finite:", "    p: [0.5, 0.5]", "    q:", "      - 0.5", "      - half"),
		`line 8: steps[0].mechanism.finite.q[1]: "half" is not a number`},
	{"finite no q", one("mechanism: {finite: {p: [1]}}"),
		"line 3: steps[0].mechanism.finite: q is missing; must be a list of numbers"},

	// Sampling.
	{"sampling a word", one(gauss, "sampling: poisson"),
		`line 4: steps[0].sampling: "poisson" is not a sampling scheme such as {poisson: {rate: …}}`},
	{"sampling a number", one(gauss, "sampling: 0.1"),
		"line 4: steps[0].sampling: 0.1 is not a sampling scheme such as {poisson: {rate: …}}"},
	{"sampling misspelt", one(gauss, "sampling: {poison: {rate: 0.1}}"),
		`line 4: steps[0].sampling: unknown key "poison"; did you mean "poisson"?`},
	{"sampling unknown", one(gauss, "sampling: {shuffled: {rate: 0.1}}"),
		`line 4: steps[0].sampling: unknown key "shuffled"; ` + nearest.Hint("shuffled", names(samplings()))},
	{"rate missing", one(gauss, "sampling: {poisson: {}}"),
		"line 4: steps[0].sampling.poisson: rate is missing; must be a number"},
	{"rate misspelt", one(gauss, "sampling: {poisson: {q: 0.1}}"),
		`line 4: steps[0].sampling.poisson: unknown key "q"; did you mean "rate"?`},
	{"rate above 1", one(gauss, "sampling: {poisson: {rate: 1.5}}"),
		"line 4: steps[0].sampling.poisson.rate: 1.5 is not in [0, 1]"},
	{"rate negative", one(gauss, "sampling: {poisson: {rate: -0.1}}"),
		"line 4: steps[0].sampling.poisson.rate: -0.1 is not in [0, 1]"},
	{"rate a quotient by zero", one(gauss, "sampling: {poisson: {rate: 256/0}}"),
		`line 4: steps[0].sampling.poisson.rate: "256/0" divides by zero`},
	{"rate a quotient above 1", one(gauss, "sampling: {poisson: {rate: 60000/256}}"),
		`line 4: steps[0].sampling.poisson.rate: 234.375 is not in [0, 1]`},
	{"rate a percentage", one(gauss, "sampling: {poisson: {rate: 1%}}"),
		`line 4: steps[0].sampling.poisson.rate: "1%" is not a number; for this percentage write 0.01`},
	{"rate below float64", one(gauss, "sampling: {poisson: {rate: 1e-400}}"),
		"line 4: steps[0].sampling.poisson.rate: 1e-400 is too small for a 64-bit floating-point number"},
}

func TestBadPlans(t *testing.T) {
	if n := len(badPlans); n < 60 {
		t.Fatalf("%d cases, want at least 60", n)
	}
	for _, c := range badPlans {
		p, err := Parse(t.Context(), []byte(c.plan))
		switch {
		case err == nil:
			t.Errorf("%s: no error, plan %+v", c.name, p)
		case err.Error() != c.want:
			t.Errorf("%s:\n got %s\nwant %s", c.name, err, c.want)
		case strings.ContainsAny(err.Error(), "\n\r"):
			t.Errorf("%s: error has several lines: %q", c.name, err)
		}
		var pe *Error
		if !errors.As(err, &pe) {
			t.Errorf("%s: error is a %T, want a *Error", c.name, err)
		}
	}
}

func mustParse(t *testing.T, plan string) *accountant.Plan {
	t.Helper()
	p, err := Parse(t.Context(), []byte(plan))
	if err != nil {
		t.Fatalf("%v in\n%s", err, plan)
	}
	return p
}

func TestParse(t *testing.T) {
	p := mustParse(t, `
neighbors: substitute
steps:
  - name: training
    mechanism: {gaussian: {noise-multiplier: 1.5}}
    sampling: {poisson: {rate: 0.25}}
    count: 14062
  - count: 12
    steps:
      - mechanism: {pure: {epsilon: 0.1}}
      - steps:
          - mechanism: {discrete-laplace: {noise-multiplier: 2, sensitivity: 3}}
            sampling: none
            count: 2
`)
	if p.Neighbors != profiles.Substitute {
		t.Errorf("neighbors %v", p.Neighbors)
	}
	if len(p.Steps) != 2 || len(p.Steps[1].Steps) != 2 || len(p.Steps[1].Steps[1].Steps) != 1 {
		t.Fatalf("wrong shape: %+v", p.Steps)
	}
	first, months := p.Steps[0], p.Steps[1]
	if first.Name != "training" || first.Count != 14062 || first.Mechanism.Name() != "gaussian" || first.Sampling.Name() != "poisson" {
		t.Errorf("first step: %+v", first)
	}
	if g, ok := first.Mechanism.(interface{ NoiseMultiplier() float64 }); !ok || g.NoiseMultiplier() != 1/(1/1.5) {
		t.Errorf("noise multiplier of %+v is not 1.5", first.Mechanism)
	}
	if s, ok := first.Sampling.(interface{ Rate() float64 }); !ok || s.Rate() != 0.25 {
		t.Errorf("rate of %+v is not 0.25", first.Sampling)
	}
	if months.Count != 12 || months.Mechanism != nil || months.Sampling != nil {
		t.Errorf("sub-plan: %+v", months)
	}
	if s := months.Steps[0]; s.Count != 1 || s.Mechanism.Name() != "pure" || s.Sampling != nil {
		t.Errorf("step without count: %+v", s)
	}
	if s := months.Steps[1]; s.Count != 1 || s.Steps[0].Count != 2 || s.Steps[0].Sampling != nil {
		t.Errorf("inner sub-plan: %+v", s)
	}
}

// TestNumbers: however a number is written, it is the same number.
func TestNumbers(t *testing.T) {
	plan := func(noise, count string) *accountant.Plan {
		return mustParse(t, one("mechanism: {gaussian: {noise-multiplier: "+noise+"}}", "count: "+count))
	}
	want := plan("1", "1000")
	for _, noise := range []string{"1.0", "1e0", "1E+0", "+1", "1.", "0.1e1", "10e-1", "1.00000000000000000000"} {
		if got := plan(noise, "1000"); differ(got, want) != "" {
			t.Errorf("noise-multiplier %s is not 1: %+v", noise, got)
		}
	}
	for _, count := range []string{"1000.0", "1e3", "1E3", "1.0e+3", "10000e-1", "+1000"} {
		if got := plan("1", count); differ(got, want) != "" {
			t.Errorf("count %s is not 1000: %+v", count, got)
		}
	}
	if got, want := plan(".5", "1"), plan("0.5", "1"); differ(got, want) != "" {
		t.Errorf(".5 is not 0.5: %+v", got)
	}
	for _, c := range []struct {
		count string
		want  int64
	}{
		{"9007199254740992", 1 << 53},
		{"9007199254740991", 1<<53 - 1},
		{"9007199254740991.0", 1<<53 - 1},
		{"9.007199254740991e15", 1<<53 - 1},
		{"1", 1},
	} {
		if got := plan("1", c.count).Steps[0].Count; got != c.want {
			t.Errorf("count %s = %d, want %d", c.count, got, c.want)
		}
	}
}

// differ compares plans, the unexported fields of their mechanisms included.
func differ(got, want *accountant.Plan) string {
	return cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true }))
}

// TestJSON: JSON is a subset, tabs and escapes included.
func TestJSON(t *testing.T) {
	got := mustParse(t, "{\n\t\"neighbors\": \"add-remove\",\n\t\"steps\": [\n\t\t{\"name\": \"\\u03b5\\/\\ud83d\\ude00\", \"mechanism\":"+
		"{\"approximate\":{\"epsilon\":1E0,\"delta\":1e-5}},\"sampling\":\"none\",\"count\":3}\n\t]\n}\n")
	want := mustParse(t, "\ufeffneighbors: add-remove\r\nsteps:\r\n- name: ε/😀\r\n  mechanism: {approximate: {epsilon: 1, delta: 0.00001}}\r\n  count: 3\r\n")
	if diff := differ(got, want); diff != "" {
		t.Errorf("JSON differs from YAML (-YAML +JSON):\n%s", diff)
	}
}

// TestRegistry: each entry builds something that goes by the entry's name.
func TestRegistry(t *testing.T) {
	sample := map[string]string{
		"noise-multiplier": "2", "sensitivity": "1", "dimension": "1", "probability": "0.5", "categories": "3",
		"shifts": "[0, 1]", "probabilities": "[0.5, 0.5]",
		"epsilon": "1", "delta": "1e-3", "p": "[0.5, 0.5]", "q": "[0.25, 0.75]", "rate": "0.5",
		"mechanisms": "3", "allowance": "2", "output-delta": "1e-2", "gamma": "constant",
		"voter-epsilons": "[1, 0.5, 0.5]", "voter-deltas": "[1e-3, 0, 0]", "classes": "2", "answers": "3", "answers-delta": "1e-4",
		"population": "1000", "subset": "100", "batch": "50", "resamples": "3",
		"steps": "10", "uses": "1", "first": "4", "redraw": "each-epoch", "epochs": "2", "bins": "10",
		"batches": "10", "unused": "0.1", "cap": "600",
		"strategy": "identity", "participation": "{single: true}",
		"noise": "gumbel", "partitions": "1",
		"users": "100", "colluding": "3", "size": "2", "collisions": "pairwise",
	}
	// Where keys exclude each other.
	whole := map[string]string{"discrete-laplace": "{discrete-laplace: {noise-multiplier: 20, sensitivity: 30, l2-sensitivity: 6}}", "skellam": "{skellam: {standard-deviation: 3, sensitivity: 1.5}}",
		"summed-noise": "{summed-noise: {noise: skellam, clients: 3, missing: 1, standard-deviation: 4, sensitivity: 2}}", "gaussian": "{gaussian: {standard-deviation: 3, partitions: 2, per-partition: 1}}", "laplace": "{laplace: {scale: 3, total: 2, l2-sensitivity: 0.8}}",
		"density": "{density: {p: [0.5, 0.5], q: [0.25, 0.75], low: [-inf, -1], high: [1, inf], mass-error: 1e-9, loss-error: 0.1, outside: 1e-12}}",
		"finite":  "{finite: {p: [0.5, 0.5], q: [0.25, 0.75]}}", "unary": "{unary: {keep-one: 0.5, keep-zero: 0.2, categories: 4}}",
		"shuffler":  "{shuffler: {users: 100, cohort: 20, colluding: 3}}",
		"stages":    "{stages: {population: 100, stages: [{with-replacement: 40}, {without-replacement: 20}, {with-replacement: 30}]}}",
		"threshold": "{threshold: {noise: gaussian, standard-deviation: 4, threshold: 20, partitions: 3}}"}
	text := func(name string, keys []string) string {
		if all, ok := whole[name]; ok {
			return all
		}
		var kvs []string
		for _, k := range keys {
			v, ok := sample[k]
			if !ok {
				t.Fatalf("%s: no sample of %s", name, k)
			}
			kvs = append(kvs, k+": "+v)
		}
		return "{" + name + ": {" + strings.Join(kvs, ", ") + "}}"
	}
	for _, e := range mechanisms() {
		t.Run(e.name, func(t *testing.T) {
			p := mustParse(t, one("mechanism: "+text(e.name, e.keys)))
			if got := p.Steps[0].Mechanism.Name(); got != e.name {
				t.Errorf("mechanism is named %q", got)
			}
		})
	}
	for _, e := range samplings() {
		t.Run(e.name, func(t *testing.T) {
			p := mustParse(t, one(gauss, "sampling: "+text(e.name, e.keys)))
			if got := p.Steps[0].Sampling.Name(); got != e.name && e.name != "balls-in-bins" && e.name != "stages" { // other names of random-allocation, and of what they collapse to
				t.Errorf("scheme is named %q", got)
			}
		})
	}
}

func TestExamples(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../examples/*.yaml", "../examples/*.json", "../examples/*/*.yaml"} {
		some, err := filepath.Glob(pattern)
		if err != nil || len(some) == 0 {
			t.Fatalf("no examples %s: %v", pattern, err)
		}
		files = append(files, some...)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Dir(f) == "../examples/menus" {
			_, err = ParseMenu(t.Context(), data)
		} else {
			_, err = Parse(t.Context(), data)
		}
		if err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}
