// Share draws random plans of the kinds that people run, and asks for their certificates. For each
// kind it reports which share of them the checker of verify/src proves, in how much processor time,
// and why it does not prove the others.
//
//	go run ./lab/verify/share -checker ./verify -n 297 -seed 1
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/try"
)

func main() { try.Main(share) }

func share() {
	checker := flag.String("checker", "", "the `program` that checks certificates")
	n := flag.Int("n", 297, "how many plans")
	seed := flag.Uint64("seed", 1, "of the draw")
	limit := flag.Int("seconds", 10, "of processor time for a certificate")
	only := flag.String("kind", "", "only this kind: one of the table, or threshold, menu, search, persons")
	flag.Parse()
	if *checker == "" {
		try.Check(errors.New("-checker is not set, must be a program such as verify/src makes"))
	}
	t := table{}
	drawn := kinds[:equal]
	if i := slices.IndexFunc(kinds[equal:], func(k kind) bool { return k.name == *only }); i >= 0 {
		drawn = kinds[equal+i : equal+i+1]
	}
	for i := range *n {
		k := drawn[i%len(drawn)]
		if *only != "" && k.name != *only {
			continue
		}
		d := draw{rand.New(rand.NewPCG(*seed, uint64(i)))}
		t.add(k.name, fmt.Sprintf("%s_%03d", k.name, i), check(*checker, certify(d, k), *limit))
	}
	t.print()
}

// A verdict is what the checker says of a certificate.
type verdict struct {
	code    int // -1 if it took too long
	said    string
	seconds float64
}

func check(checker, text string, seconds int) verdict {
	cmd := exec.Command("sh", "-c", fmt.Sprintf("ulimit -t %d; exec %q -", seconds, checker))
	cmd.Stdin = strings.NewReader(text)
	said, err := cmd.Output()
	v := verdict{said: strings.TrimSpace(string(said)), seconds: cmd.ProcessState.UserTime().Seconds()}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		v.code = exit.ExitCode()
	} else {
		try.Check(err)
	}
	return v
}

// A table counts verdicts by kind.
type table map[string]*row

type row struct {
	proved, all int
	seconds     []float64
	reasons     map[string]int
}

func (t table) add(kind, name string, v verdict) {
	r := t[kind]
	if r == nil {
		r = &row{reasons: map[string]int{}}
		t[kind] = r
	}
	r.all++
	r.seconds = append(r.seconds, v.seconds)
	switch v.code {
	case 0:
		r.proved++
	case 1:
		r.reasons["REFUTED: "+v.said]++
	case -1:
		r.reasons["takes too long"]++
	default:
		lines := strings.Split(v.said, "\n")
		r.reasons[fmt.Sprintf("%d, %s", v.code, lines[len(lines)-1])]++
	}
	fmt.Fprintf(os.Stderr, "%s: %d in %.1f s: %s\n", name, v.code, v.seconds, strings.ReplaceAll(v.said, "\n", "; "))
}

func (t table) print() {
	proved, all := 0, 0
	fmt.Println("| kind | proved | median s | longest s | why not |")
	fmt.Println("|---|---|---|---|---|")
	for _, k := range kinds {
		r := t[k.name]
		if r == nil {
			continue
		}
		slices.Sort(r.seconds)
		var why []string
		for s, n := range r.reasons {
			why = append(why, fmt.Sprintf("%d × %s", n, s))
		}
		sort.Strings(why)
		fmt.Printf("| %s | %d of %d | %.2f | %.1f | %s |\n", k.name, r.proved, r.all, r.seconds[len(r.seconds)/2], r.seconds[len(r.seconds)-1], strings.Join(why, "; "))
		proved += r.proved
		all += r.all
	}
	fmt.Printf("\nproved %d of %d\n", proved, all)
}

// certify draws plans of a kind until one has an ε between 0.001 and 100, and returns its certificate.
func certify(d draw, k kind) string {
	for range 100 {
		relation, steps := k.plan(d)
		text := fmt.Sprintf("neighbors: %s\nsteps:\n", relation)
		for _, s := range steps {
			text += "  - " + s + "\n"
		}
		delta := d.log(1e-10, 1e-3)
		if k.zero {
			var q service.DeltaRequest
			q.Plan = service.PlanText(text)
			q.Epsilon = service.Decimals{"0"}
			a := try.Must(service.Ask[service.DeltaAnswer](context.Background(), service.New(nil), q))
			delta = float64(a.Results[0].Delta.Upper) * d.log(1.001, 2)
			if delta > 0.9 {
				continue
			}
		}
		var q service.EpsilonRequest
		q.Plan = service.PlanText(text)
		q.Delta = service.Decimals{service.Decimal(strconv.FormatFloat(delta, 'g', -1, 64))}
		q.Certificate = true
		a, err := service.Ask[service.EpsilonAnswer](context.Background(), service.New(nil), q)
		if err != nil {
			try.Check(fmt.Errorf("%w\n%s", err, text))
		}
		if e := a.Results[0].Epsilon; (float64(e.Upper) >= 1e-3 && float64(e.Upper) <= 100) || k.zero {
			return a.Certificate
		}
	}
	try.Check(fmt.Errorf("a hundred plans of the kind %q had no ε in [0.001, 100]", k.name))
	return ""
}

// A draw makes random plans.
type draw struct{ *rand.Rand }

// log is log-uniform in [lo, hi], with three digits.
func (d draw) log(lo, hi float64) float64 {
	x, _ := strconv.ParseFloat(strconv.FormatFloat(lo*math.Exp(d.Float64()*xmath.Log(hi/lo)), 'g', 3, 64), 64)
	return min(max(x, lo), hi)
}

func (d draw) count(lo, hi float64) int { return int(math.Round(d.log(lo, hi))) }

func (d draw) of(words ...string) string { return words[d.IntN(len(words))] }

func (d draw) relation() string { return d.of("add-remove", "substitute", "zero-out") }

// A kind of plan. Those of zero have a δ at which ε is 0.
type kind struct {
	name string
	zero bool
	plan func(d draw) (relation string, steps []string)
}

// The first so many kinds have equal weight. The others are drawn where -kind names them.
const equal = 9

var kinds = []kind{
	{"gaussian", false, func(d draw) (string, []string) { return d.relation(), d.sampled("gaussian", d.count(1, 1e4)) }},
	{"laplace", false, func(d draw) (string, []string) { return d.relation(), d.sampled("laplace", d.count(1, 1e4)) }},
	{"discrete", false, func(d draw) (string, []string) { return d.relation(), d.sampled("discrete-gaussian", d.count(1, 1e4)) }},
	{"few", false, func(d draw) (string, []string) { return d.relation(), d.sampled(d.of(bases...), d.count(2, 20)) }},
	{"allocation", false, func(d draw) (string, []string) {
		return d.of("add-remove", "zero-out"), []string{fmt.Sprintf("{mechanism: {gaussian: {noise-multiplier: %v}}, sampling: {random-allocation: {steps: %d, redraw: each-epoch}}, count: %d}", d.log(0.5, 4), d.count(2, 300), d.count(1, 10))}
	}},
	{"fixed-size", false, func(d draw) (string, []string) {
		n := d.count(100, 1e5)
		return d.relation(), []string{fmt.Sprintf("{mechanism: {%s: {noise-multiplier: %v}}, sampling: {%s: {population: %d, batch: %d}}, count: %d}",
			d.of("gaussian", "gaussian", "laplace"), d.log(0.5, 5), d.of("without-replacement", "with-replacement"), n, d.count(1, float64(n)/2), d.count(1, 20))}
	}},
	{"exponential", false, func(d draw) (string, []string) {
		steps := []string{fmt.Sprintf("{mechanism: {exponential: {epsilon: %v}}, count: %d}", d.log(0.01, 2), d.count(1, 300))}
		if d.IntN(6) == 0 {
			steps = append(steps, fmt.Sprintf("{mechanism: {gaussian: {noise-multiplier: %v}}, count: %d}", d.log(2, 50), d.count(1, 100)))
		}
		return d.relation(), steps
	}},
	{"matrix", false, func(d draw) (string, []string) { return d.matrix() }},
	{"zero", true, func(d draw) (string, []string) {
		base := d.of(bases...)
		return d.relation(), d.sampled(base, d.count(1, 1000))
	}},
	{"threshold", false, func(d draw) (string, []string) {
		deviation := d.log(1, 10)
		steps := []string{fmt.Sprintf("{mechanism: {threshold: {noise: gaussian, standard-deviation: %v, threshold: %v, partitions: %d}}, count: %d}", deviation, 1+deviation*d.log(4, 8), d.count(1, 8), d.count(1, 10))}
		if d.IntN(2) == 0 {
			steps = append(steps, fmt.Sprintf("{mechanism: {gaussian: {noise-multiplier: %v}}, count: %d}", d.log(2, 20), d.count(1, 20)))
		}
		return "add-remove", steps
	}},
	{"menu", false, func(d draw) (string, []string) {
		return d.relation(), []string{fmt.Sprintf("{adaptive: {units: %d, menu: [{name: a, cost: 1, steps: [{mechanism: {gaussian: {noise-multiplier: %v}}}]}, {name: b, cost: %d, steps: [{mechanism: {laplace: {noise-multiplier: %v}}}]}]}}",
			d.count(4, 30), d.log(4, 20), d.count(2, 4), d.log(3, 10))}
	}},
	{"search", false, func(d draw) (string, []string) {
		law := d.of("geometric", "logarithmic", "negative-binomial, shape: 2")
		return d.relation(), []string{fmt.Sprintf("{selection: {law: %s, mean: %v}, steps: [{mechanism: {gaussian: {noise-multiplier: %v}}, count: %d}]}", law, d.log(3, 50), d.log(2, 10), d.count(1, 10))}
	}},
	{"persons", false, func(d draw) (string, []string) {
		return fmt.Sprintf("%s\nrecords-per-person: %d", d.relation(), d.count(2, 64)), d.sampled("gaussian", d.count(30, 3000))
	}},
}

// bases are the mechanisms that run on Poisson samples.
var bases = []string{"gaussian", "laplace", "discrete-gaussian", "discrete-laplace", "pure", "approximate", "randomized-response", "finite"}

// sampled is a mechanism that runs so often on Poisson samples.
func (d draw) sampled(base string, count int) []string {
	noise := d.log(0.5, 5)
	m := map[string]string{
		"gaussian":            fmt.Sprintf("{noise-multiplier: %v}", noise),
		"laplace":             fmt.Sprintf("{noise-multiplier: %v}", noise),
		"discrete-gaussian":   fmt.Sprintf("{noise-multiplier: %v, sensitivity: %d, dimension: 1}", max(1, noise), d.count(1, 4)),
		"discrete-laplace":    fmt.Sprintf("{noise-multiplier: %v, sensitivity: %d}", noise, d.count(1, 4)),
		"pure":                fmt.Sprintf("{epsilon: %v}", d.log(0.05, 2)),
		"approximate":         fmt.Sprintf("{epsilon: %v, delta: %v}", d.log(0.05, 2), d.log(1e-15, 1e-12)),
		"randomized-response": fmt.Sprintf("{probability: %v, categories: %d}", d.log(0.2, 0.9), d.count(2, 8)),
		"finite":              "{p: [0.5, 0.25, 0.25], q: [0.25, 0.25, 0.5]}",
	}[base]
	return []string{fmt.Sprintf("{mechanism: {%s: %s}, sampling: {poisson: {rate: %v}}, count: %d}", base, m, d.log(1e-3, 0.5), count)}
}

// matrix is a run of training with correlated noise.
func (d draw) matrix() (string, []string) {
	n := d.count(10, 1000)
	var coefficients []string
	c := 1.0
	for range min(n, d.count(2, 12)) {
		coefficients = append(coefficients, strconv.FormatFloat(c, 'g', 4, 64))
		c *= d.log(0.2, 0.95)
	}
	bands := d.count(1, float64(n))
	strategy := d.of("{square-root: {bands: "+strconv.Itoa(bands)+"}}", "{toeplitz: {coefficients: ["+strings.Join(coefficients, ", ")+"]}}", "{blt: {scales: [0.2, 0.3], decays: [0.5, 0.97]}}", "{tree: {completion: false}}", "identity")
	separation := d.count(1, float64(n))
	schema := d.of("{single: true}", fmt.Sprintf("{epochs: %d}", divisor(d, n)), fmt.Sprintf("{min-separation: %d, at-most: %d}", separation, d.count(1, math.Ceil(float64(n)/float64(separation)))))
	if d.IntN(4) == 0 {
		b := min(n, d.count(2, 12))
		strategy, schema = fmt.Sprintf("{square-root: {bands: %d}}", b), fmt.Sprintf("{cyclic-poisson: {cycle: %d, rate: %v}}", b, d.log(0.01, 0.5))
		return d.of("add-remove", "zero-out"), []string{fmt.Sprintf("{mechanism: {matrix: {noise-multiplier: %v, steps: %d, strategy: %s, participation: %s}}}", d.log(0.5, 5), n, strategy, schema)}
	}
	return d.relation(), []string{fmt.Sprintf("{mechanism: {matrix: {noise-multiplier: %v, steps: %d, strategy: %s, participation: %s}}}", d.log(1, 30), n, strategy, schema)}
}

// divisor is one of n.
func divisor(d draw, n int) int {
	for {
		if k := d.count(1, float64(n)); n%k == 0 {
			return k
		}
	}
}
