package darrm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// labelAnswer is the law of the answer, by all vote vectors: mechanism i votes for label c
// with probability p[i][c].
func labelAnswer(g Gamma, p [][]float64) []float64 {
	k, labels := len(p), len(p[0])
	out := make([]float64, labels)
	votes := make([]int, labels)
	var vote func(i int, prob float64)
	vote = func(i int, prob float64) {
		if prob == 0 {
			return
		}
		if i < k {
			for c := range labels {
				votes[c]++
				vote(i+1, prob*p[i][c])
				votes[c]--
			}
			return
		}
		told := 0.0
		for c, n := range votes {
			if 2*n > k {
				told = g[n]
				out[c] += prob * told
			}
		}
		for c := range out {
			out[c] += prob * (1 - told) / float64(labels)
		}
	}
	vote(0, 1)
	return out
}

// Many labels: the worst P(S) − e^B·P'(S) over all sets of labels and all tuples of extreme
// mechanisms, by enumeration of families, votes and sets; and random ε-DP mechanisms stay
// below.
func TestLabelsByEnumeration(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, c := range []struct {
		k, labels int
		eps, out  float64
	}{{2, 3, .5, 0}, {3, 3, .3, 0}, {3, 3, 1, .02}, {3, 4, .5, .02}, {4, 3, .5, .01}} {
		if testing.Short() && c.k*c.labels > 9 {
			continue
		}
		p := Params{Mechanisms: c.k, Epsilon: c.eps, Allowance: 1.5, OutputDelta: c.out, Classes: c.labels}
		g := randomGamma(rng, c.k, false)
		cert, err := Certify(t.Context(), p, g)
		if err != nil {
			t.Fatal(err)
		}
		e := math.Exp(p.budget())
		excess := func(a, b []float64) float64 {
			worst := math.Inf(-1)
			for set := 1; set < 1<<c.labels-1; set++ {
				v := 0.0
				for l := range c.labels {
					if set>>l&1 == 1 {
						v += a[l] - e*b[l]
					}
				}
				if c.out > 0 || set&(set-1) == 0 {
					worst = max(worst, v-c.out)
				}
			}
			return worst
		}
		a := 1 / (1 + math.Exp(-c.eps))
		want := math.Inf(-1)
		on, off := make([][]float64, c.k), make([][]float64, c.k)
		var family func(i int)
		family = func(i int) {
			if i == c.k {
				want = max(want, excess(labelAnswer(g, on), labelAnswer(g, off)))
				return
			}
			for x := range c.labels {
				for y := range c.labels {
					on[i], off[i] = make([]float64, c.labels), make([]float64, c.labels)
					on[i][x], off[i][y] = on[i][x]+a, off[i][y]+a
					on[i][y], off[i][x] = on[i][y]+1-a, off[i][x]+1-a
					family(i + 1)
				}
			}
		}
		family(0)
		if math.Abs(cert.Excess-want) > 1e-12 {
			t.Errorf("%+v: excess %v, want %v", c, cert.Excess, want)
		}
		for range 300 {
			for i := range c.k {
				on[i], off[i] = privateLaws(rng, c.labels, c.eps)
			}
			if v := excess(labelAnswer(g, on), labelAnswer(g, off)); v > cert.Excess {
				t.Errorf("%+v: excess %v above %v", c, v, cert.Excess)
			}
		}
	}
}

// privateLaws returns two laws on so many labels with ratios within e^{±ε}.
func privateLaws(rng *rand.Rand, labels int, eps float64) (p, q []float64) {
	for {
		p, q = make([]float64, labels), make([]float64, labels)
		sp, sq := 0.0, 0.0
		for c := range p {
			p[c] = rng.ExpFloat64()
			q[c] = p[c] * math.Exp(eps*(2*rng.Float64()-1))
			sp, sq = sp+p[c], sq+q[c]
		}
		ok := true
		for c := range p {
			p[c], q[c] = p[c]/sp, q[c]/sq
			ok = ok && math.Abs(math.Log(p[c]/q[c])) <= eps
		}
		if ok {
			return p, q
		}
	}
}

// Two labels by the two programs are the same problem, and (ε, Δ) is charged.
func TestLabelsAgainstTwo(t *testing.T) {
	p := pure(5, .4, 2)
	g := Gamma{1, .8, .3, .3, .8, 1}
	binary, err := Certify(t.Context(), p, g)
	if err != nil {
		t.Fatal(err)
	}
	p.Classes = 2
	c := newChecker(t.Context(), p, true)
	c.table = newLabelTable(p, c.s)
	c.rel, c.abs = c.table.tableError(), c.table.underflow()
	labels, err := c.certify(g)
	if err != nil || math.Abs(labels.MaxF-binary.MaxF) > 1e-11 {
		t.Errorf("max f %v, want %v: %v", labels.MaxF, binary.MaxF, err)
	}
	q := Params{Mechanisms: 3, Epsilon: .4, Delta: 1e-3, Allowance: 2, Classes: 3}.WithDefaultDelta()
	q.OutputDelta += .01
	cert, err := Certify(t.Context(), q, Gamma{.2, .1, .1, .2})
	if err != nil || !cert.Certified || !(cert.Attained < cert.MaxF) {
		t.Errorf("%+v, %v", cert, err)
	}
}

// The optimum for ten labels keeps its budget, is a bound, and beats the best constant.
func TestLabelsOptimum(t *testing.T) {
	p := Params{Mechanisms: 9, Epsilon: .5, Allowance: 3, Classes: 10}
	r, err := Optimize(t.Context(), p, Surrogate{.75}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := BestConstant(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Certificate.Certified || r.Value < c*r.Best-1e-9 || r.Gap > 1e-6 {
		t.Errorf("constant %v, %+v", c, r)
	}
	t.Logf("constant %v, value %v of %v, %v", c*r.Best, r.Value, r.Best, r.Gamma.right())
	for l := range r.Gamma {
		r.Gamma[l] = min(1, r.Gamma[l]*1.001)
	}
	if cert, err := Certify(t.Context(), p, r.Gamma); err != nil || cert.Certified {
		t.Errorf("a larger noise function is certified: %v", err)
	}
}

// The law of ReleaseLabel is that of the certificate's model.
func TestReleaseLabel(t *testing.T) {
	g := Gamma{1, .5, .5, 1}
	for _, c := range []struct {
		votes []int
		law   []float64
	}{{[]int{1, 1, 2}, []float64{1. / 6, 4. / 6, 1. / 6}}, {[]int{0, 1, 2}, []float64{1. / 3, 1. / 3, 1. / 3}}, {[]int{2, 2, 2}, []float64{0, 0, 1}}} {
		seen := make([]float64, 3)
		const n = 6000
		for range n {
			l, err := ReleaseLabel(g, c.votes, 3, nil)
			if err != nil {
				t.Fatal(err)
			}
			seen[l]++
		}
		for l, want := range c.law {
			if math.Abs(seen[l]-n*want) > 6*math.Sqrt(n*want*(1-want))+1e-9 {
				t.Errorf("votes %v: label %d %v times of %d, want %v", c.votes, l, seen[l], n, want)
			}
		}
	}
	if _, err := ReleaseLabel(g, []int{0, 1, 3}, 3, nil); err == nil {
		t.Error("label 3 of 3 is accepted")
	}
}
