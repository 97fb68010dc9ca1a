package campaign

// The samplers of up to five records, enumerated: every data set of records −1, 0 and 1, every
// neighbour of it, and every sample. What is released is the sum of the sample with noise, so that
// its law is a mixture of shifts of the noise.
//
// δ of a pair of such laws is at least what an observer of intervals sees,
// Σ max(P(I) − e^ε·Q(I), 0), whatever the intervals (data processing). That is below the truth, so
// that a proved upper end must be at least as far out.

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// enumerable reports whether a plan is one mechanism on such a sample.
func enumerable(p plan) bool {
	if len(p.steps) != 1 || p.records > 1 {
		return false
	}
	s := p.steps[0]
	if s.sampling == nil || s.selection != nil || !s.mechanism.is("gaussian", "laplace") || s.runs() > 2 {
		return false
	}
	sigma := s.mechanism.number("noise-multiplier")
	return s.sampling.is("poisson", "without-replacement", "with-replacement", "must-ow", "must-wo", "must-ww") && sigma >= 0.3 && sigma <= 10 &&
		s.sampling.whole("population", 1) <= 5 && s.sampling.whole("subset", 1) <= 5 && s.sampling.whole("batch", 1) <= 5
}

// A sums is the law of the sum of a sample: the probability of each sum.
type sums map[int]float64

// subsets returns the law of f of a uniformly drawn subset of a size, as a mixture.
func subsets(records []int, size int64, f func([]int) sums) sums {
	if int(size) > len(records) {
		return sums{}
	}
	return mixture(records, combin.Combinations(len(records), int(size)), f)
}

// sequences returns the law of f of independent draws, as a mixture of all sequences.
func sequences(records []int, n int64, f func([]int) sums) sums {
	if len(records) == 0 {
		return sums{}
	}
	return mixture(records, combin.Cartesian(slices.Repeat([]int{len(records)}, int(n))), f)
}

// mixture returns the law of f of the records at one of some lists of places, all equally likely.
func mixture(records []int, lists [][]int, f func([]int) sums) sums {
	out := sums{}
	for _, places := range lists {
		var chosen []int
		for _, i := range places {
			chosen = append(chosen, records[i])
		}
		for s, p := range f(chosen) {
			out[s] += p / float64(len(lists))
		}
	}
	return out
}

func total(records []int) sums {
	s := 0
	for _, x := range records {
		s += x
	}
	return sums{s: 1}
}

// sampleSums returns the law of the sum of a sample of records; empty if there is no such sample.
func sampleSums(scheme *node, records []int) sums {
	batch, subset := scheme.whole("batch", 1), scheme.whole("subset", 1)
	chosen := func(x []int) sums { return subsets(x, batch, total) }
	drawn := func(x []int) sums { return sequences(x, batch, total) }
	switch scheme.name {
	case "poisson":
		law, q := sums{0: 1}, scheme.number("rate")
		for _, x := range records {
			next := sums{}
			for s, p := range law {
				next[s] += (1 - q) * p
				next[s+x] += q * p
			}
			law = next
		}
		return law
	case "without-replacement":
		return chosen(records)
	case "with-replacement":
		return drawn(records)
	case "must-ow":
		return subsets(records, subset, drawn)
	case "must-wo":
		return sequences(records, subset, chosen)
	case "must-ww":
		return sequences(records, subset, drawn)
	}
	return nil
}

// neighbours returns the laws of the sums of all pairs of neighbouring data sets.
func neighbours(scheme *node, relation string) [][2]sums {
	n := int(scheme.whole("population", 3))
	var out [][2]sums
	known := map[[3]int]sums{}
	of := func(counts [3]int) sums { // of records that are −1, 0 and 1: their order does not matter
		law, ok := known[counts]
		if !ok {
			var records []int
			for i, n := range counts {
				records = append(records, slices.Repeat([]int{i - 1}, n)...)
			}
			law = sampleSums(scheme, records)
			known[counts] = law
		}
		return law
	}
	for minus := range n {
		for zeros := range n - minus {
			rest := [3]int{minus, zeros, n - 1 - minus - zeros}
			with := func(x int) sums {
				counts := rest
				counts[x+1]++
				return of(counts)
			}
			for x := -1; x <= 1; x++ {
				for y := -1; y <= 1; y++ {
					a, b := with(x), sums(nil)
					switch {
					case relation == "add-remove" && y == 0:
						b = of(rest)
					case relation == "zero-out" && y == 0 && x != 0: // an empty place adds nothing
						b = with(0)
					case relation == "substitute" && x != y:
						b = with(y)
					}
					if len(a) > 0 && len(b) > 0 {
						out = append(out, [2]sums{a, b}, [2]sums{b, a})
					}
				}
			}
		}
	}
	return out
}

// Intervals of the observer.
const (
	cellsOfOne = 1500
	cellsOfTwo = 60 // of each of two outputs
)

// An observer has the probabilities of n intervals and the two beyond them, for each shift of the
// noise from −reach to reach.
type observer struct {
	reach int
	cells [][]float64
}

func newObserver(laplace bool, sigma float64, reach, n int) observer {
	above, tails := func(x float64) float64 { return math.Erfc(x/(sigma*math.Sqrt2)) / 2 }, 12*sigma
	if laplace {
		above, tails = distuv.Laplace{Scale: sigma}.Survival, 30*sigma
	}
	lo := -float64(reach) - tails
	step := -2 * lo / float64(n)
	o := observer{reach: reach}
	for shift := -reach; shift <= reach; shift++ {
		out := make([]float64, n+2)
		for i := range out {
			// The half line on the side of less mass, so that differences keep their digits.
			a, b := lo+float64(i-1)*step-float64(shift), lo+float64(i)*step-float64(shift)
			switch {
			case i == 0:
				out[i] = above(-b)
			case i == n+1:
				out[i] = above(a)
			case a+b > 0:
				out[i] = above(a) - above(b)
			default:
				out[i] = above(-b) - above(-a)
			}
		}
		o.cells = append(o.cells, out)
	}
	return o
}

// of returns the probabilities of the intervals under a law of sums.
func (o observer) of(law sums) []float64 {
	out := make([]float64, len(o.cells[0]))
	for s := -o.reach; s <= o.reach; s++ { // in order: the same rounding each time
		if w := law[s]; w > 0 {
			for i, p := range o.cells[s+o.reach] {
				out[i] += w * p
			}
		}
	}
	return out
}

// seen is what the observer of intervals has for δ(ε), at most the truth; and more is what the
// cells at a change of sign may hide, so that the truth is at most about seen + more.
func seen(a, b []float64, runs int64, eps float64) (delta, more float64) {
	e := math.Exp(eps)
	if runs == 1 {
		last := 0.0
		for i := range a {
			d := a[i] - e*b[i]
			if delta += max(d, 0); d*last < 0 {
				more += math.Abs(d) + math.Abs(last)
			}
			if d != 0 {
				last = d
			}
		}
		return delta, more
	}
	for i := range a {
		for j := range a {
			delta += max(a[i]*a[j]-e*b[i]*b[j], 0)
		}
	}
	return delta, math.Inf(1)
}

// worstSeen returns the largest δ(ε) that the observer sees over pairs of neighbours.
func worstSeen(s step, pairs [][2]sums, eps float64) (delta, atMost float64) {
	n := cellsOfOne
	if s.runs() == 2 {
		n = cellsOfTwo
	}
	reach := int(max(s.sampling.whole("batch", 3), 1))
	o := newObserver(s.mechanism.is("laplace"), s.mechanism.number("noise-multiplier"), reach, n)
	if len(pairs) == 0 { // nothing can be drawn without the record
		return 0, math.Inf(1)
	}
	for _, pair := range pairs {
		d, more := seen(o.of(pair[0]), o.of(pair[1]), s.runs(), eps)
		delta, atMost = max(delta, d), max(atMost, d+more)
	}
	return delta, atMost
}
