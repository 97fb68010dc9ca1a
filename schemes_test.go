package accountant_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
)

var (
	schemePlans = flag.Int("schemes", 15, "random plans of TestSchemesBesideOtherSteps")
	schemeFrom  = flag.Uint64("schemes-from", 0, "the first of them")
)

// A mixture is the law of an output: Gaussian noise of deviation 1 in each coordinate around centres, which have probabilities.
type mixture []center

type center struct {
	p  float64
	at []float64
}

// beside returns the law of two independent outputs.
func (m mixture) beside(o mixture) mixture {
	var out mixture
	for _, a := range m {
		for _, b := range o {
			out = append(out, center{a.p * b.p, append(append([]float64{}, a.at...), b.at...)})
		}
	}
	return out
}

// A world is the laws of what is released of one data set and of its neighbour: Gaussian mixtures, and beside them an outcome
// of a finite mechanism.
type world struct {
	p, q   mixture
	fp, fq []float64
}

func (w world) beside(o world) world {
	return world{w.p.beside(o.p), w.q.beside(o.q), outer(w.fp, o.fp), outer(w.fq, o.fq)}
}

func outer(a, b []float64) []float64 {
	var out []float64
	for _, x := range a {
		for _, y := range b {
			out = append(out, x*y)
		}
	}
	return out
}

func (w world) dimension() int { return len(w.p[0].at) }

// deltas returns δ(ε), the larger one of both directions, and what it may be off. It is a sum over a grid of step h: the
// error of the trapezoidal rule is at most h²/8 times the integral of |f″|, in each coordinate, and the second differences add up
// to that integral times h², kinks included. Twice that is allowed.
func (w world) deltas(epsilons []float64, h float64) (deltas, errors []float64) {
	dim := w.dimension()
	lo, hi := 0.0, 0.0
	for _, m := range []mixture{w.p, w.q} {
		for _, c := range m {
			for _, x := range c.at {
				lo, hi = min(lo, x), max(hi, x)
			}
		}
	}
	n := int((hi-lo+13)/h) + 1
	p, q := w.p.densities(n, lo-6.5, h), w.q.densities(n, lo-6.5, h)
	for _, e := range epsilons {
		best, off := 0.0, 0.0
		for dir, alpha := range []float64{math.Exp(e), math.Exp(-e)} {
			f, sum, bend := make([]float64, len(p)), 0.0, 0.0
			for i := range f {
				for j := range w.fp {
					x := p[i]*w.fp[j] - alpha*q[i]*w.fq[j]
					if dir == 1 {
						x /= -alpha
					}
					f[i] += max(0, x)
				}
				sum += f[i]
			}
			for stride, d := 1, 0; d < dim; stride, d = stride*n, d+1 {
				for i := range f {
					if at := i / stride % n; at > 0 && at < n-1 {
						bend += math.Abs(f[i-stride] - 2*f[i] + f[i+stride])
					}
				}
			}
			best, off = max(best, sum), max(off, bend/4+1e-10)
		}
		deltas, errors = append(deltas, best), append(errors, off)
	}
	return deltas, errors
}

// densities lists the density on a grid of n points in each coordinate, times the volume of a cell.
func (m mixture) densities(n int, from, h float64) []float64 {
	var out []float64
	for i, c := range m {
		part := []float64{c.p}
		for _, x := range c.at {
			next := make([]float64, 0, len(part)*n)
			for k := range n {
				z := from + h*float64(k) - x
				y := h * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
				for _, v := range part {
					next = append(next, v*y)
				}
			}
			part = next
		}
		if i == 0 {
			out = part
			continue
		}
		for j, v := range part {
			out[j] += v
		}
	}
	return out
}

// spikes returns the mixture of r·e_i/σ over all places, of which none is taken with the probability unused.
func spikes(places int, r, sigma, unused float64) mixture {
	var m mixture
	for i := range places {
		at := make([]float64, places)
		at[i] = r / sigma
		m = append(m, center{(1 - unused) / float64(places), at})
	}
	return append(m, center{unused, make([]float64, places)})
}

// A counted is how often each record is in a batch, with its probability.
type counted struct {
	p     float64
	times []int
}

// picks returns the law of how often each record is in a batch of fixed size: all orders in which it can be drawn, one by one.
func picks(records, batch int, replaced bool) []counted {
	out := []counted{{1, make([]int, records)}}
	for range batch {
		var next []counted
		for _, c := range out {
			free := 0
			for _, t := range c.times {
				if replaced || t == 0 {
					free++
				}
			}
			for i, t := range c.times {
				if replaced || t == 0 {
					times := append([]int{}, c.times...)
					times[i]++
					next = append(next, counted{c.p / float64(free), times})
				}
			}
		}
		out = next
	}
	return out
}

// stages returns picks of picks: the slots of the first stage are the records of the second.
func stages(records, subset, batch int, first, second bool) []counted {
	var out []counted
	for _, a := range picks(records, subset, first) {
		var slots []int
		for i, t := range a.times {
			for range t {
				slots = append(slots, i)
			}
		}
		for _, b := range picks(len(slots), batch, second) {
			times := make([]int, records)
			for s, t := range b.times {
				times[slots[s]] += t
			}
			out = append(out, counted{a.p * b.p, times})
		}
	}
	return out
}

// sums returns the law of the sum over a batch, of records with these values.
func sums(law []counted, values []float64, sigma float64) mixture {
	total := map[float64]float64{}
	for _, c := range law {
		s := 0.0
		for i, t := range c.times {
			s += float64(t) * values[i]
		}
		total[s] += c.p
	}
	var m mixture
	for s, p := range total {
		m = append(m, center{p, []float64{s / sigma}})
	}
	return m
}

// fixedSize returns the worlds of data sets of records in {−1, 0, 1}. draw is the law of a batch from so many records.
func fixedSize(draw func(records int) []counted, records int, relation string, sigma float64) []world {
	var out []world
	others := 1
	for range records - 1 {
		others *= 3
	}
	one := []float64{1}
	for code := range others {
		values := []float64{1}
		for x := code; len(values) < records; x /= 3 {
			values = append(values, float64(x%3-1))
		}
		p := sums(draw(records), values, sigma)
		changed := append([]float64{}, values...)
		switch relation {
		case "add-remove":
			out = append(out, world{p, sums(draw(records-1), values[1:], sigma), one, one})
			continue
		case "substitute":
			changed[0] = -1
		default:
			changed[0] = 0
		}
		out = append(out, world{p, sums(draw(records), changed, sigma), one, one})
	}
	return out
}

// A step is a line of a plan, the worlds that its lower end may be that of (nil: not listed here), and whether these are all.
type oneStep struct {
	text   string
	worlds []world
}

// drawStep returns a random step of the relation. Noise is on one record's largest contribution.
func drawStep(r *rand.Rand, kind int, relation string) (s oneStep) {
	sigma := math.Round(10*math.Exp(r.Float64()*1.6-0.4)) / 10
	noise := fmt.Sprintf("mechanism: {gaussian: {noise-multiplier: %v}}, sampling: ", sigma)
	one := []float64{1}
	q := map[string]float64{"add-remove": 0, "zero-out": 0, "substitute": -1}[relation] // what the record is replaced by
	pick := func(xs ...string) string { return xs[r.IntN(len(xs))] }
	switch kind {
	case 0:
		rate := float64(1+r.IntN(9)) / 10
		s.text = noise + fmt.Sprintf("{poisson: {rate: %v}}", rate)
		s.worlds = []world{{spikes(1, 1, sigma, 1-rate), spikes(1, q, sigma, 1-rate), one, one}}
	case 1, 2, 3, 4, 5:
		const records = 4
		subset, batch := 2+r.IntN(2), 1+r.IntN(2)
		name := []string{"without-replacement", "with-replacement", "must-ow", "must-wo", "must-ww"}[kind-1]
		draw := func(n int) []counted { return picks(n, batch, kind == 2) }
		if kind > 2 {
			draw = func(n int) []counted { return stages(n, subset, batch, kind != 3, kind != 4) }
			s.text = noise + fmt.Sprintf("{%s: {population: %d, subset: %d, batch: %d}}", name, records, subset, batch)
		} else {
			s.text = noise + fmt.Sprintf("{%s: {population: %d, batch: %d}}", name, records, batch)
		}
		s.worlds = fixedSize(draw, records, relation, sigma)
	case 6:
		places := 1 + r.IntN(3)
		s.text = noise + fmt.Sprintf("{random-allocation: {steps: %d}}", places)
		s.worlds = []world{{spikes(places, 1, sigma, 0), spikes(places, q, sigma, 0), one, one}}
	case 7:
		places, epochs := 1+r.IntN(2), 1+r.IntN(2)
		redraw := pick("once", "each-epoch")
		s.text = noise + fmt.Sprintf("{balls-in-bins: {bins: %d, redraw: %s, epochs: %d}}", places, redraw, epochs)
		s.worlds = drawn(places, epochs, redraw == "once", 1, q, sigma, 0)
	case 8:
		places, epochs := 1+r.IntN(3), 1
		if places < 3 {
			epochs = 2
		}
		redraw, unused := pick("once", "each-epoch"), float64(r.IntN(2))*0.25
		s.text = noise + fmt.Sprintf("{shuffle: {batches: %d, unused: %v, redraw: %s, epochs: %d}}", places, unused, redraw, epochs)
		// Others that contribute nothing, or the opposite of the record.
		s.worlds = drawn(places, epochs, redraw == "once", 1, q, sigma, unused)
		if relation != "add-remove" {
			s.worlds = append(s.worlds, drawn(places, epochs, redraw == "once", 2, q+1, sigma, unused)...)
		}
	case 9:
		population := 2 + r.IntN(6)
		s.text = noise + fmt.Sprintf("{truncated-poisson: {rate: %v, cap: %d, population: %d}}", float64(1+r.IntN(9))/10, 1+r.IntN(population), population)
	case 10:
		if relation != "add-remove" {
			uses := 1 + r.IntN(4)
			s.text = noise + fmt.Sprintf("{fixed-order: {uses: %d}}", uses)
			s.worlds = []world{{spikes(1, 1, sigma/math.Sqrt(float64(uses)), 0), spikes(1, q, sigma/math.Sqrt(float64(uses)), 0), one, one}}
			return s
		}
		fallthrough
	case 11:
		s.text = fmt.Sprintf("mechanism: {gaussian: {noise-multiplier: %v}}", sigma)
		s.worlds = []world{{spikes(1, 1, sigma, 0), spikes(1, q, sigma, 0), one, one}}
	case 12:
		s.text = "mechanism: {finite: {p: [0.5, 0.375, 0.125], q: [0.125, 0.375, 0.5]}}"
		nothing := mixture{{1, nil}}
		s.worlds = []world{{nothing, nothing, []float64{0.5, 0.375, 0.125}, []float64{0.125, 0.375, 0.5}}}
	case 13:
		uses := 1 + r.IntN(2)
		s.text = noise + fmt.Sprintf("{random-allocation: {steps: %d, uses: %d}}", uses+1+r.IntN(2), uses)
		if relation == "substitute" && uses > 1 {
			return drawStep(r, 6, relation)
		}
	case 14:
		s.text = "mechanism: {laplace: {noise-multiplier: 2}}, sampling: {poisson: {rate: 0.25}}"
	}
	return s
}

// drawn returns the world of epochs in which the record is p in one place and its neighbour q, drawn once or each time.
func drawn(places, epochs int, once bool, p, q, sigma, unused float64) []world {
	one := []float64{1}
	if once {
		sigma /= math.Sqrt(float64(epochs))
		epochs = 1
	}
	w := world{spikes(places, p, sigma, unused), spikes(places, q, sigma, unused), one, one}
	all := w
	for range epochs - 1 {
		all = all.beside(w)
	}
	return []world{all}
}

// TestShuffleBesideOtherSteps: TestSchemesBesideOtherSteps of shuffled batches, under each relation.
func TestShuffleBesideOtherSteps(t *testing.T) {
	listed := map[uint64]int{}
	for seed := range uint64(15) {
		if besideOtherSteps(t, seed, 8, seed) {
			listed[seed%3]++
		}
	}
	if len(listed) < 3 || listed[0]+listed[1]+listed[2] < 9 {
		t.Errorf("plans whose data sets are listed, by relation: %v", listed)
	}
}

// TestSchemesBesideOtherSteps: every way to draw batches, beside one or two other steps.
func TestSchemesBesideOtherSteps(t *testing.T) {
	listed := map[int]int{}
	for seed := *schemeFrom; seed < *schemeFrom+uint64(*schemePlans); seed++ {
		if kind := int(seed % 15); besideOtherSteps(t, seed, kind, seed+seed/15) {
			listed[kind]++
		}
	}
	t.Log("plans whose data sets are listed, by scheme:", listed)
}

// besideOtherSteps checks a random plan: the lower end is never above the upper one, nor above δ of the data sets that the
// attacks are on, where these are few enough to be listed, with all places, orders and batches; and the upper end is not below
// that. It reports whether they were listed.
func besideOtherSteps(t *testing.T, seed uint64, kind int, relations uint64) bool {
	epsilons := []float64{0, 0.7, 2}
	r := rand.New(rand.NewPCG(seed, 43))
	relation := []string{"add-remove", "zero-out", "substitute"}[relations%3]
	first := drawStep(r, kind, relation)
	large := len(first.worlds) > 0 && first.worlds[0].dimension() > 2
	other := []int{11, 12, 12, 0}[r.IntN(4)]
	if large {
		other = 12
	}
	steps := []oneStep{first, drawStep(r, other, relation)}
	if !large && r.IntN(3) == 0 {
		steps = append(steps, drawStep(r, r.IntN(15), relation))
	}
	worlds := []world{{mixture{{1, nil}}, mixture{{1, nil}}, []float64{1}, []float64{1}}}
	text := "neighbors: " + relation + "\nsteps:\n"
	for _, s := range steps {
		text += "- {" + s.text + "}\n"
		var next []world
		for _, a := range worlds {
			for _, b := range s.worlds {
				next = append(next, a.beside(b))
			}
		}
		worlds = next
	}
	p, err := plan.Parse(t.Context(), []byte(text))
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, text)
	}
	a := p.Accountant(accountant.Options{Accuracy: 0.05})
	if err := a.AddPlan(t.Context(), p); err != nil {
		t.Errorf("seed %d: %v\n%s", seed, err, text)
		return false
	}
	var low, high []float64
	asked := append([]float64{}, epsilons...)
	for _, eps := range epsilons {
		d, err := a.Delta(t.Context(), eps)
		if err != nil || !(d.Lower <= d.Upper && d.Lower >= 0 && d.Upper <= 1) {
			t.Errorf("seed %d: δ(%v) in [%v, %v], %v\n%s", seed, eps, d.Lower, d.Upper, err, text)
		}
		low, high = append(low, d.Lower), append(high, d.Upper)
	}
	for _, delta := range []float64{0.1, 1e-3} {
		e, err := a.Epsilon(t.Context(), delta)
		if err != nil || !(e.Lower <= e.Upper) {
			t.Errorf("seed %d: ε(%v) in [%v, %v], %v\n%s", seed, delta, e.Lower, e.Upper, err, text)
		}
		if math.IsInf(e.Lower, 0) || math.IsInf(e.Upper, 0) {
			continue
		}
		// The truth reaches δ at the lower end, and not at the upper one.
		asked = append(asked, e.Lower, e.Upper)
		low, high = append(low, delta, 0), append(high, 1, delta)
	}
	if len(worlds) == 0 || worlds[0].dimension() > 3 || len(worlds) > 30 {
		return false
	}
	h := []float64{1, 0.01, 0.05, 0.15}[worlds[0].dimension()]
	best, off := make([]float64, len(asked)), make([]float64, len(asked))
	for _, w := range worlds {
		deltas, errors := w.deltas(asked, h)
		for i := range asked {
			best[i], off[i] = max(best[i], deltas[i]), max(off[i], errors[i])
		}
	}
	for i, eps := range asked {
		if best[i] < low[i]-off[i] || best[i] > high[i]+off[i] {
			t.Errorf("seed %d: δ(%v) is %v ± %.2g, between %v and %v was said\n%s", seed, eps, best[i], off[i], low[i], high[i], text)
		}
		if off[i] > 0.2*best[i]+1e-5 {
			t.Errorf("seed %d: δ(%v) is %v ± %v", seed, eps, best[i], off[i])
		}
	}
	return true
}
