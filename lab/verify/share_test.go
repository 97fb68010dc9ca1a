package verify

// What share of the plans that people run the checker proves, for docs/reference/certificates.md.

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/cmd/service"
)

var (
	shareOf   = flag.Int("share", 0, "how many plans TestShare draws")
	shareKind = flag.String("kind", "", "the only `kind` that TestShare draws: one of its table, or threshold, menu, search, persons")
)

// shareSeconds is what a certificate may take of processor time.
const shareSeconds = 10

// TestShare draws random plans of the kinds that people run, and asks for their certificates. For each kind it reports which share
// of them the checker proves, in how much processor time, and why it does not prove the others. It fails where one is refuted.
func TestShare(t *testing.T) {
	if *shareOf == 0 {
		t.Skip("-share says of how many plans")
	}
	checker := build(t)
	drawn := shareKinds[:equalKinds]
	if i := slices.IndexFunc(shareKinds[equalKinds:], func(k shared) bool { return k.name == *shareKind }); i >= 0 {
		drawn = shareKinds[equalKinds+i : equalKinds+i+1]
	}
	type row struct {
		proved  int
		seconds []float64
		why     map[string]int
	}
	table := map[string]*row{}
	all := 0
	for i := range *shareOf {
		k := drawn[i%len(drawn)]
		if *shareKind != "" && k.name != *shareKind {
			continue
		}
		text := k.certificate(t, draw{newRand(uint64(i))})
		cmd := exec.Command("sh", "-c", fmt.Sprintf("ulimit -t %d; exec %q -", shareSeconds, checker))
		cmd.Stdin = strings.NewReader(text)
		out, _ := cmd.Output() // its exit code says it
		code, said := cmd.ProcessState.ExitCode(), strings.TrimSpace(string(out))
		r := table[k.name]
		if r == nil {
			r = &row{why: map[string]int{}}
			table[k.name] = r
		}
		r.seconds = append(r.seconds, cmd.ProcessState.UserTime().Seconds())
		switch code {
		case proved:
			r.proved++
			all++
		case refuted:
			t.Errorf("refuted: %s\n%s", said, text)
		case -1:
			r.why["takes too long"]++
		default:
			r.why[fmt.Sprintf("%d, %s", code, said[strings.LastIndexByte(said, '\n')+1:])]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		r := table[name]
		slices.Sort(r.seconds)
		t.Logf("%s: %d of %d, median %.2f s, longest %.1f s, not: %v", name, r.proved, len(r.seconds), r.seconds[len(r.seconds)/2], slices.Max(r.seconds), r.why)
	}
	t.Logf("proved: %d", all)
}

// A shared kind of plan. Those of zero have a δ at which ε is 0.
type shared struct {
	name string
	zero bool
	plan func(d draw) (relation string, steps []string)
}

// nearest is log with the nearest whole number.
func (d draw) nearest(lo, hi float64) int { return int(math.Round(d.log(lo, hi))) }

func (d draw) of(words ...string) string { return words[d.IntN(len(words))] }

// certificate draws plans until one has an ε between 0.001 and 100, and returns its certificate.
func (k shared) certificate(t *testing.T, d draw) string {
	for range 100 {
		relation, steps := k.plan(d)
		text := fmt.Sprintf("neighbors: %s\nsteps:\n  - %s\n", relation, strings.Join(steps, "\n  - "))
		delta := d.log(1e-10, 1e-3)
		if k.zero {
			var q service.DeltaRequest
			q.Plan, q.Epsilon = service.PlanText(text), service.Decimals{"0"}
			a, err := service.Ask[service.DeltaAnswer](t.Context(), service.New(nil), q)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if delta = float64(a.Results[0].Delta.Upper) * d.log(1.001, 2); delta > 0.9 {
				continue
			}
		}
		certificate, a, err := certify(text, delta)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if k.zero || a.Epsilon.Upper >= 1e-3 && a.Epsilon.Upper <= 100 {
			return certificate
		}
	}
	t.Fatalf("a hundred plans of the kind %q had no ε in [0.001, 100]", k.name)
	return ""
}

// The first so many kinds have equal weight. The others are drawn where -kind names them.
const equalKinds = 9

var shareKinds = []shared{
	{"gaussian", false, func(d draw) (string, []string) { return d.relation(), d.onSample("gaussian", d.nearest(1, 1e4)) }},
	{"laplace", false, func(d draw) (string, []string) { return d.relation(), d.onSample("laplace", d.nearest(1, 1e4)) }},
	{"discrete", false, func(d draw) (string, []string) {
		return d.relation(), d.onSample("discrete-gaussian", d.nearest(1, 1e4))
	}},
	{"few", false, func(d draw) (string, []string) { return d.relation(), d.onSample(d.of(bases...), d.nearest(2, 20)) }},
	{"allocation", false, func(d draw) (string, []string) {
		return d.of("add-remove", "zero-out"), []string{fmt.Sprintf("{mechanism: {gaussian: {noise-multiplier: %v}}, sampling: {random-allocation: {steps: %d, redraw: each-epoch}}, count: %d}", d.log(0.5, 4), d.nearest(2, 300), d.nearest(1, 10))}
	}},
	{"fixed-size", false, func(d draw) (string, []string) {
		n := d.nearest(100, 1e5)
		return d.relation(), []string{fmt.Sprintf("{mechanism: {%s: {noise-multiplier: %v}}, sampling: {%s: {population: %d, batch: %d}}, count: %d}",
			d.of("gaussian", "gaussian", "laplace"), d.log(0.5, 5), d.of("without-replacement", "with-replacement"), n, d.nearest(1, float64(n)/2), d.nearest(1, 20))}
	}},
	{"exponential", false, func(d draw) (string, []string) {
		steps := []string{fmt.Sprintf("{mechanism: {exponential: {epsilon: %v}}, count: %d}", d.log(0.01, 2), d.nearest(1, 300))}
		if d.IntN(6) == 0 {
			steps = append(steps, fmt.Sprintf("{mechanism: {gaussian: {noise-multiplier: %v}}, count: %d}", d.log(2, 50), d.nearest(1, 100)))
		}
		return d.relation(), steps
	}},
	{"matrix", false, func(d draw) (string, []string) { return d.matrix() }},
	{"zero", true, func(d draw) (string, []string) {
		base := d.of(bases...)
		return d.relation(), d.onSample(base, d.nearest(1, 1000))
	}},
	{"threshold", false, func(d draw) (string, []string) {
		deviation := d.log(1, 10)
		steps := []string{fmt.Sprintf("{mechanism: {threshold: {noise: gaussian, standard-deviation: %v, threshold: %v, partitions: %d}}, count: %d}", deviation, 1+deviation*d.log(4, 8), d.nearest(1, 8), d.nearest(1, 10))}
		if d.IntN(2) == 0 {
			steps = append(steps, fmt.Sprintf("{mechanism: {gaussian: {noise-multiplier: %v}}, count: %d}", d.log(2, 20), d.nearest(1, 20)))
		}
		return "add-remove", steps
	}},
	{"menu", false, func(d draw) (string, []string) {
		return d.relation(), []string{fmt.Sprintf("{adaptive: {units: %d, menu: [{name: a, cost: 1, steps: [{mechanism: {gaussian: {noise-multiplier: %v}}}]}, {name: b, cost: %d, steps: [{mechanism: {laplace: {noise-multiplier: %v}}}]}]}}",
			d.nearest(4, 30), d.log(4, 20), d.nearest(2, 4), d.log(3, 10))}
	}},
	{"search", false, func(d draw) (string, []string) {
		law := d.of("geometric", "logarithmic", "negative-binomial, shape: 2")
		return d.relation(), []string{fmt.Sprintf("{selection: {law: %s, mean: %v}, steps: [{mechanism: {gaussian: {noise-multiplier: %v}}, count: %d}]}", law, d.log(3, 50), d.log(2, 10), d.nearest(1, 10))}
	}},
	{"persons", false, func(d draw) (string, []string) {
		return fmt.Sprintf("%s\nrecords-per-person: %d", d.relation(), d.nearest(2, 64)), d.onSample("gaussian", d.nearest(30, 3000))
	}},
}

// bases are the mechanisms that run on Poisson samples.
var bases = []string{"gaussian", "laplace", "discrete-gaussian", "discrete-laplace", "pure", "approximate", "randomized-response", "finite"}

// onSample is a mechanism that runs so often on Poisson samples.
func (d draw) onSample(base string, count int) []string {
	noise := d.log(0.5, 5)
	m := map[string]string{
		"gaussian":            fmt.Sprintf("{noise-multiplier: %v}", noise),
		"laplace":             fmt.Sprintf("{noise-multiplier: %v}", noise),
		"discrete-gaussian":   fmt.Sprintf("{noise-multiplier: %v, sensitivity: %d, dimension: 1}", max(1, noise), d.nearest(1, 4)),
		"discrete-laplace":    fmt.Sprintf("{noise-multiplier: %v, sensitivity: %d}", noise, d.nearest(1, 4)),
		"pure":                fmt.Sprintf("{epsilon: %v}", d.log(0.05, 2)),
		"approximate":         fmt.Sprintf("{epsilon: %v, delta: %v}", d.log(0.05, 2), d.log(1e-15, 1e-12)),
		"randomized-response": fmt.Sprintf("{probability: %v, categories: %d}", d.log(0.2, 0.9), d.nearest(2, 8)),
		"finite":              "{p: [0.5, 0.25, 0.25], q: [0.25, 0.25, 0.5]}",
	}[base]
	return []string{fmt.Sprintf("{mechanism: {%s: %s}, sampling: {poisson: {rate: %v}}, count: %d}", base, m, d.log(1e-3, 0.5), count)}
}

// matrix is a run of training with correlated noise.
func (d draw) matrix() (string, []string) {
	n := d.nearest(10, 1000)
	var coefficients []string
	c := 1.0
	for range min(n, d.nearest(2, 12)) {
		coefficients = append(coefficients, strconv.FormatFloat(c, 'g', 4, 64))
		c *= d.log(0.2, 0.95)
	}
	bands := d.nearest(1, float64(n))
	strategy := d.of("{square-root: {bands: "+strconv.Itoa(bands)+"}}", "{toeplitz: {coefficients: ["+strings.Join(coefficients, ", ")+"]}}", "{blt: {scales: [0.2, 0.3], decays: [0.5, 0.97]}}", "{tree: {completion: false}}", "identity")
	separation := d.nearest(1, float64(n))
	schema := d.of("{single: true}", fmt.Sprintf("{epochs: %d}", divisor(d, n)), fmt.Sprintf("{min-separation: %d, at-most: %d}", separation, d.nearest(1, math.Ceil(float64(n)/float64(separation)))))
	if d.IntN(4) == 0 {
		b := min(n, d.nearest(2, 12))
		strategy, schema = fmt.Sprintf("{square-root: {bands: %d}}", b), fmt.Sprintf("{cyclic-poisson: {cycle: %d, rate: %v}}", b, d.log(0.01, 0.5))
		return d.of("add-remove", "zero-out"), []string{fmt.Sprintf("{mechanism: {matrix: {noise-multiplier: %v, steps: %d, strategy: %s, participation: %s}}}", d.log(0.5, 5), n, strategy, schema)}
	}
	return d.relation(), []string{fmt.Sprintf("{mechanism: {matrix: {noise-multiplier: %v, steps: %d, strategy: %s, participation: %s}}}", d.log(1, 30), n, strategy, schema)}
}

// divisor is one of n.
func divisor(d draw, n int) int {
	for {
		if k := d.nearest(1, float64(n)); n%k == 0 {
			return k
		}
	}
}
