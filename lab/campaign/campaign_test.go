package campaign

import (
	"context"
	"errors"
	"flag"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/lab/try"
	textplan "github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/subsample"
)

var plans = flag.Uint64("campaign", 40, "random plans that are checked")

// TestCampaign is the campaign itself, some of it; -campaign has it try more, and .ci/run tries others for a minute.
func TestCampaign(t *testing.T) {
	if testing.Short() {
		t.Skip("random plans, for seconds")
	}
	c := campaign{seed: 20261122, n: *plans, laws: 1, ask: answer, narrow: true, most: 5, shrinking: 30 * time.Second}
	c.found = func(number uint64, v *violation) { t.Error(c.failure(number, v)) }
	s := c.run(t.Context())
	if s.Plans != int64(*plans) && len(s.Violations) == 0 {
		t.Errorf("%d plans of %d", s.Plans, *plans)
	}
	total := s.Total()
	if s.Refused*3 > s.Plans || total < 2*s.Plans {
		t.Errorf("%d plans, %d of them refused, %d checks: little was tried", s.Plans, s.Refused, total)
	}
	t.Logf("NOTE: the campaign has tried %d plans, %d answers, %d checks: %d violations", s.Plans, s.Answers, total, len(s.Violations))
}

// changed is an answerer whose answers are changed.
func changed(f func(*accountant.Interval, question)) answerer {
	return func(ctx context.Context, p plan, q question) (accountant.Interval, error) {
		iv, err := answer(ctx, p, q)
		if err == nil {
			f(&iv, q)
			iv.Estimate = min(max(iv.Estimate, iv.Lower), iv.Upper)
		}
		return iv, err
	}
}

// asked asks about another plan.
func asked(f func(plan) plan) answerer {
	return func(ctx context.Context, p plan, q question) (accountant.Interval, error) {
		return answer(ctx, f(p), q)
	}
}

// TestSabotage: bounds that are wrong by a thousandth, by an error term, or by what other
// accountants are known to have got wrong are found within a hundred plans.
func TestSabotage(t *testing.T) {
	everyStep := func(change func(*step)) func(plan) plan {
		return func(p plan) plan {
			p = p.clone()
			each(p.steps, change)
			return p
		}
	}
	for name, ask := range map[string]answerer{
		"upper ends times 0.999": changed(func(iv *accountant.Interval, _ question) {
			if iv.Upper > 0 {
				iv.Upper *= 0.999
				iv.Lower = min(iv.Lower, iv.Upper)
			}
		}),
		"lower ends times 1.001": changed(func(iv *accountant.Interval, q question) {
			if iv.Lower > 0 && !(q.ofEpsilon && iv.Lower > 0.99) {
				iv.Lower *= 1.001
				iv.Upper = max(iv.Lower, iv.Upper)
			}
		}),
		"no error terms": changed(func(iv *accountant.Interval, _ question) {
			b := iv.Budget
			if terms := b.Discretization + b.Quadrature + b.Truncation + b.Aliasing + b.RoundOff; terms > 0 && !math.IsInf(iv.Upper, 0) {
				iv.Upper = max(iv.Upper-terms, iv.Lower)
			}
		}),
		"upper ends of several steps times 1.5, with a warning": func(ctx context.Context, p plan, q question) (accountant.Interval, error) {
			iv, err := answer(ctx, p, q)
			if err == nil && len(p.steps) > 1 && iv.Upper > 0 {
				iv.Upper *= 1.5
				if iv.Warnings = append(iv.Warnings, "wide"); q.ofEpsilon {
					iv.Upper = min(iv.Upper, 1)
				}
			}
			return iv, err
		},
		"a panic": changed(func(*accountant.Interval, question) { panic("of one plan") }),
		"a NaN":   changed(func(iv *accountant.Interval, _ question) { iv.Upper = math.NaN() }),
		"counts are dropped": asked(everyStep(func(s *step) {
			s.count = 1
		})),
		"sampling rates are squared": asked(everyStep(func(s *step) {
			if s.sampling.is("poisson") {
				s.sampling = s.sampling.with("rate", s.sampling.number("rate")*s.sampling.number("rate"))
			}
		})),
		"only the first step counts": asked(func(p plan) plan { p = p.clone(); p.steps = p.steps[:1]; return p }),
		"substitution as removal": asked(func(p plan) plan {
			if p.neighbors == "substitute" {
				p.neighbors = "add-remove"
			}
			return p
		}),
		"samples of a fixed size as Poisson's": asked(everyStep(func(s *step) {
			if s.sampling.is("without-replacement", "with-replacement") {
				s.sampling = entry("poisson", "rate", min(1, s.sampling.number("batch")/s.sampling.number("population")))
			}
		})),
	} {
		t.Run(name, func(t *testing.T) {
			c := campaign{seed: 3, kind: anyPlan, n: 250, laws: 2, most: 1, ask: ask, shrinking: 5 * time.Second}
			var first *violation
			c.found = func(_ uint64, v *violation) { first = v }
			s := c.run(t.Context())
			if first == nil {
				t.Fatalf("goes unnoticed in %d plans", s.Plans)
			}
			t.Logf("after %d plans: %s", s.Plans, c.failure(0, first))
			if steps, ok := first.plan.flat(); ok && len(steps) > 3 {
				t.Errorf("the plan has %d steps: not shrunk", len(steps))
			}
		})
	}
}

// TestLaplaceRuns: one run is 1 − e^{(ε−m)/2} on [0, m]; more are the convolution of one fewer with its law, by a sum over fine cells.
// Three are the fewest with a knot inside where signs differ.
func TestLaplaceRuns(t *testing.T) {
	const m = 0.75
	for _, eps := range []float64{0, 0.3, 0.7} {
		got, _ := laplaceRuns(1, wide(m))(oracle.F(eps)).Float64()
		if want := -math.Expm1((eps - m) / 2); math.Abs(got-want) > 1e-15 {
			t.Errorf("one run, ε = %v: %v, want %v", eps, got, want)
		}
	}
	one := func(eps float64) float64 {
		switch {
		case eps >= m:
			return 0
		case eps < -m:
			return -math.Expm1(eps)
		}
		return -math.Expm1((eps - m) / 2)
	}
	two := func(eps float64) float64 {
		d, _ := laplaceRuns(2, wide(m))(oracle.F(eps)).Float64()
		return d
	}
	// δ of one run more is E_P[δ(ε − L)], with atoms ½ at m and ½e^{−m} at −m. The midpoints of n cells miss m²/n².
	for _, c := range []struct {
		runs, cells int
		one         func(eps float64) float64 // run fewer
	}{{2, 100000, one}, {3, 1000, two}} {
		for _, eps := range []float64{0, 0.2, 0.9, 1.4} {
			want := 0.5*c.one(eps-m) + 0.5*math.Exp(-m)*c.one(eps+m)
			n := float64(c.cells)
			for i := range c.cells {
				l := -m + (float64(i)+0.5)*2*m/n
				want += 0.25 * math.Exp((l-m)/2) * c.one(eps-l) * 2 * m / n
			}
			if got, _ := laplaceRuns(c.runs, wide(m))(oracle.F(eps)).Float64(); math.Abs(got-want) > m*m/(n*n) {
				t.Errorf("%d runs, ε = %v: %v, want %v", c.runs, eps, got, want)
			}
		}
	}
}

// TestTruthOfPlans: values known from elsewhere, and outcomes counted against outcomes listed.
func TestTruthOfPlans(t *testing.T) {
	gauss := plan{neighbors: "add-remove", steps: []step{{mechanism: entry("gaussian", "noise-multiplier", 1.0)}}}
	v, ok := truthOf(gauss)
	// Φ(½ − 1) − e·Φ(−½ − 1), by tables of Φ.
	if d, _ := v.at(1).Float64(); !ok || math.Abs(d-0.126936737507) > 1e-11 {
		t.Errorf("σ = 1, ε = 1: δ = %v", d)
	}
	m := entry("finite", "p", []float64{0.5, 0.25, 0.25}, "q", []float64{0.25, 0.25, 0.5})
	counted := plan{neighbors: "add-remove", steps: []step{{mechanism: m, count: 4}}}
	listed := plan{neighbors: "add-remove", steps: []step{{mechanism: m}, {mechanism: m}, {mechanism: m, count: 2}}}
	a, _ := truthOf(counted)
	b, _ := truthOf(listed)
	for _, eps := range []float64{-1, 0, 0.5, 2} {
		if d := new(big.Float).Sub(a.at(eps), b.at(eps)); d.MantExp(nil) > -290 && d.Sign() != 0 {
			t.Errorf("ε = %v: %v and %v", eps, a.at(eps), b.at(eps))
		}
	}
}

// TestTinySamplers: laws of sums that are known.
func TestTinySamplers(t *testing.T) {
	near := func(law, want sums) bool {
		for s := -9; s <= 9; s++ {
			if math.Abs(law[s]-want[s]) > 1e-14 {
				return false
			}
		}
		return true
	}
	records := []int{1, 1, 0, -1}
	wr := sampleSums(entry("with-replacement", "population", int64(4), "batch", int64(2)), records)
	for _, c := range []struct {
		scheme *node
		want   sums
	}{
		{entry("without-replacement", "population", int64(4), "batch", int64(2)), sums{2: 1. / 6, 1: 2. / 6, 0: 2. / 6, -1: 1. / 6}},
		{entry("with-replacement", "population", int64(4), "batch", int64(1)), sums{1: 0.5, 0: 0.25, -1: 0.25}},
		{entry("must-wo", "population", int64(4), "subset", int64(3), "batch", int64(2)), wr}, // in law with replacement
		{entry("must-ow", "population", int64(4), "subset", int64(4), "batch", int64(2)), wr},
		{entry("must-ow", "population", int64(4), "subset", int64(1), "batch", int64(2)), sums{2: 0.5, 0: 0.25, -2: 0.25}},
		{entry("must-ww", "population", int64(4), "subset", int64(1), "batch", int64(2)), sums{2: 0.5, 0: 0.25, -2: 0.25}},
		{entry("poisson", "rate", 1.0), sums{1: 1}},
	} {
		if got := sampleSums(c.scheme, records); !near(got, c.want) {
			t.Errorf("%s: %v, want %v", c.scheme.name, got, c.want)
		}
	}
}

// TestSameOnAllCores: a campaign finds the same, whoever runs its cases.
func TestSameOnAllCores(t *testing.T) {
	c := campaign{seed: 8, n: 6, laws: 1, ask: answer, most: 5}
	cores := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(cores)
	a := c.run(t.Context()).report(false)
	runtime.GOMAXPROCS(4)
	if b := c.run(t.Context()).report(false); a != b {
		t.Errorf("two runs differ:\n%s\n%s", a, b)
	}
}

// TestParts: a campaign that was ended between two parts, or killed while it wrote one, goes on and comes to the same.
func TestParts(t *testing.T) {
	c := campaign{seed: 9, n: 7, laws: 1, ask: answer, most: 5}
	want := c.run(t.Context()).report(false)
	path := filepath.Join(t.TempDir(), "parts")
	first := c
	first.n = 4
	if s := first.inParts(t.Context(), path, 2); s.Plans != 4 {
		t.Fatalf("%+v", s)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-3], 0o600); err != nil { // half of the second part
		t.Fatal(err)
	}
	for range 2 { // the second time nothing is left to do
		s := c.inParts(t.Context(), path, 3)
		if got := s.report(false); got != want || s.Seeds[9] != 7 {
			t.Errorf("in parts:\n%s\nat once:\n%s", got, want)
		}
	}
	if err := os.WriteFile(path, []byte("{}\n[]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := try.Run(func() { c.inParts(t.Context(), path, 3) }); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a file of something else: %v", err)
	}
}

// TestTextOfPlans: what is printed for a failure is a plan, or refused by name.
func TestTextOfPlans(t *testing.T) {
	for i := range uint64(2000) {
		p, q := caseOf(5, i, []string{"", ordinary, extreme}[i%3])
		_, err := textplan.Parse(t.Context(), []byte(p.text()))
		var line *textplan.Error
		if err != nil && (!errors.As(err, &line) || strings.Contains(err.Error(), "unknown key") || strings.Contains(err.Error(), "YAML")) {
			t.Fatalf("%v: %v\n%s", q, err, p.text())
		}
	}
}

// TestSchedules: they are plans, and have what a schedule is to have.
func TestSchedules(t *testing.T) {
	least, most := 1600, 2
	for i := range uint64(200) {
		text, delta := Schedule(1, i)
		p, err := textplan.Parse(t.Context(), text)
		if err != nil {
			t.Fatalf("%d: %v\n%s", i, err, text)
		}
		n := len(p.Steps)
		least, most = min(least, n), max(most, n)
		if n < 2 || n > 1600 || !(delta >= 1e-12 && delta <= 1e-5) {
			t.Errorf("%d: %d steps, δ = %v", i, n, delta)
		}
		seen := map[any]bool{}
		for _, s := range p.Steps {
			q, ok := s.Sampling.(subsample.Poisson)
			if seen[[2]any{s.Mechanism, q}] = true; !ok || !(q.Rate() >= 1e-4 && q.Rate() <= 0.1) || s.Count < 1 || s.Count > 1000 {
				t.Fatalf("%d: %+v", i, s)
			}
		}
		if len(seen) < 2 || 10*len(seen) < 9*n {
			t.Errorf("%d: %d of %d steps are distinct", i, len(seen), n)
		}
	}
	if least > 4 || most < 1200 {
		t.Errorf("from %d to %d steps", least, most)
	}
}

// TestTruthNextToZero: where nothing or next to nothing is shown, 1 − e^ε of a tiny ε is known, though not as a difference.
func TestTruthNextToZero(t *testing.T) {
	c := gaussianCurve(oracle.F(1e-3))
	nothing := withOutcomes([]outcome{{one, one}}, nil)
	same := truth{nothing, nothing}
	rare := withOutcomes([]outcome{{oracle.F(3e-152), oracle.F(1e-160)}, {oracle.F(0.5), oracle.F(0.5)}, {oracle.F(0.5), oracle.F(0.5)}}, nil)
	for _, x := range []struct {
		of   truth
		want float64
	}{{same, 1e-152}, {truth{rare, rare}, 4e-152}, {truth{c, c}, 3.99e-4}} {
		got, _ := x.of.at(-1e-152).Float64()
		if !(math.Abs(got-x.want) <= 1e-3*x.want) {
			t.Errorf("δ(−1e-152) is %v, want %v", got, x.want)
		}
	}
}

// TestTruthOfMenusAndBranches: the truth of a menu is that of the specification's example, which is known by hand, answers are
// held against it, and answers about a part of the menu or of the branches are found.
func TestTruthOfMenusAndBranches(t *testing.T) {
	kappa := math.E / (1 + math.E) // of randomized response with a loss of 1
	flip := entry("finite", "p", []float64{kappa, 1 - kappa}, "q", []float64{1 - kappa, kappa})
	gives := entry("finite", "p", []float64{0.1, 0.9, 0}, "q", []float64{0, 0.9, 0.1})
	types := []step{{cost: 1, steps: []step{{mechanism: flip}}}, {cost: 1, steps: []step{{mechanism: gives}}}}
	menu := plan{neighbors: "add-remove", steps: []step{{units: 2, steps: types}}}
	fork := plan{neighbors: "add-remove", steps: []step{{partition: "fixed", steps: []step{{mechanism: gives}, {mechanism: flip, count: 2}}}, {mechanism: flip}}}
	v, ok := truthOf(menu)
	if !ok {
		t.Fatal("no truth of a menu")
	}
	if d, _ := v.at(1).Float64(); math.Abs(d-0.364728854284041) > 1e-14 {
		t.Errorf("two units: δ(1) = %.15f", d)
	}
	part := func(p plan) plan {
		p = p.clone()
		if s := &p.steps[0]; s.units > 0 {
			s.steps = s.steps[1:]
		} else {
			p.steps[0] = s.steps[0]
		}
		return p
	}
	fewer := func(p plan) plan {
		p = p.clone()
		p.steps[0].units--
		return p
	}
	for _, c := range []struct {
		name string
		plan plan
		ask  answerer
		ok   bool
	}{
		{"a menu", menu, answer, true}, {"branches", fork, answer, true},
		{"the last type only", menu, asked(part), false}, {"the first branch only", fork, asked(part), false},
		{"one unit fewer", menu, asked(fewer), false},
	} {
		for _, eps := range []float64{-0.5, 0.2, 1, 1.5} {
			err := newExaminer(c.ask, 1, 0).examine(t.Context(), c.plan, question{ofEpsilon: true, epsilon: eps, accuracy: 1e-3})
			if (err == nil) != c.ok {
				t.Errorf("%s at ε = %v: %v", c.name, eps, err)
			}
		}
	}
}

// TestWorkOfOrdinaryPlans: a limit of work that makes an ordinary answer wide, or leaves none, is found.
func TestWorkOfOrdinaryPlans(t *testing.T) {
	little := func(ctx context.Context, p plan, q question) (accountant.Interval, error) {
		q.work = 3e4
		return answer(ctx, p, q)
	}
	for _, p := range []plan{
		{neighbors: "add-remove", steps: []step{{mechanism: entry("gaussian", "noise-multiplier", 1.0), sampling: entry("random-allocation", "steps", int64(20))}}},
		{neighbors: "add-remove", steps: []step{{units: 1000, steps: []step{{cost: 1, steps: []step{{mechanism: entry("laplace", "noise-multiplier", 3.0)}}}}}}},
	} {
		var v *violation
		if err := newExaminer(little, 1, 0).examine(t.Context(), p, question{delta: 1e-6, accuracy: 1e-3, ordinary: true}); !errors.As(err, &v) || v.check != ordinaryCheck {
			t.Errorf("%v\n%s", err, p.text())
		}
	}
}

// TestNarrow: a wide ordinary answer is a violation if it is asked for, and is told in any case.
func TestNarrow(t *testing.T) {
	little := func(ctx context.Context, p plan, q question) (accountant.Interval, error) {
		q.work = 3e4
		return answer(ctx, p, q)
	}
	for _, narrow := range []bool{false, true} {
		s := campaign{seed: 2, kind: ordinary, n: 6, ask: little, most: 100, narrow: narrow}.run(t.Context())
		found, other := s.Wide, s.Violations
		if narrow {
			found, other = other, found
		}
		if len(found) == 0 || len(other) > 0 || !strings.Contains(s.report(false), found[0]) {
			t.Errorf("narrow %v: %d wide answers, %d violations", narrow, len(s.Wide), len(s.Violations))
		}
	}
}

// TestRefusedDraws: of the plans that people run next to none is refused as it stands.
func TestRefusedDraws(t *testing.T) {
	for kind, most := range map[string]int{ordinary: 2, extreme: 50} {
		refused, parts := 0, map[string]int{}
		for i := range uint64(300) {
			p, _ := caseOf(11, i, kind)
			if _, err := textplan.Parse(t.Context(), []byte(p.text())); err != nil {
				refused++
			}
			each(p.steps, func(s *step) {
				switch {
				case s.units > 0:
					parts["menu"]++
				case s.partition != "":
					parts["branches"]++
				case s.selection != nil:
					parts["search"]++
				case s.sampling.is("shuffler"):
					parts["shuffler"]++
				}
			})
			if p.records > 1 {
				parts["persons"]++
			}
		}
		if refused > most {
			t.Errorf("%s: %d of 300 plans are refused", kind, refused)
		}
		for _, name := range []string{"menu", "branches", "search", "shuffler", "persons"} {
			if parts[name] < 5 {
				t.Errorf("%s: only %d of 300 plans have %s", kind, parts[name], name)
			}
		}
	}
}
