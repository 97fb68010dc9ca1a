package main

import (
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/votes"
)

const (
	classes    = 10
	places     = 9
	attributes = 1 + places
	cells      = classes << places
	fits       = 20 // steps of descent after each measurement
)

// A marginal says in which of its cells each cell of the domain is.
type marginal struct {
	of   []uint8 // by cell of the domain
	size int
}

// counts adds the weights of the domain's cells up.
func (m marginal) counts(weights []float64) []float64 {
	c := make([]float64, m.size)
	for i, w := range weights {
		c[m.of[i]] += w
	}
	return c
}

// data are records as cells of the domain, and the marginals that may be measured.
type data struct {
	records      []int
	single       []marginal
	pairs        []marginal
	truth        [][]float64 // counts of the pairs
	truthSingles [][]float64
}

// read returns the digits of lab/selection: a class, then 7 × 7 places of 16 greys. It keeps every second row and column.
func read(from string) *data {
	d := &data{}
	for _, row := range try.Must(votes.Read(from, 0, 15)) {
		cell := row.Label << places
		for i := range places {
			if row.Numbers[(2*(i/3)+1)*7+2*(i%3)+1] >= 4 {
				cell |= 1 << i
			}
		}
		d.records = append(d.records, cell)
	}
	for a := range attributes {
		d.single = append(d.single, project(a))
		for b := range a {
			d.pairs = append(d.pairs, project(a, b))
		}
	}
	whole := make([]float64, cells)
	for _, c := range d.records {
		whole[c]++
	}
	for _, m := range d.pairs {
		d.truth = append(d.truth, m.counts(whole))
	}
	for _, m := range d.single {
		d.truthSingles = append(d.truthSingles, m.counts(whole))
	}
	return d
}

// project returns the marginal of attributes: places, and the class after them.
func project(attributes ...int) marginal {
	m := marginal{of: make([]uint8, cells), size: 1}
	for _, a := range attributes {
		size := 2
		if a == places {
			size = classes
		}
		for i := range m.of {
			value := i >> a
			if a < places {
				value &= 1
			}
			m.of[i] += uint8(value * m.size)
		}
		m.size *= size
	}
	return m
}

// A measurement is what is known of a marginal: its noisy counts with the inverse of their variance.
type measurement struct {
	m      marginal
	counts []float64
	weight float64
}

// model is the distribution that fits the measurements.
type model struct {
	p        []float64
	total    float64
	measured []*measurement
	rate     float64 // of descent
}

// add takes noisy counts into the measurement of the marginal, which it returns or makes.
func (f *model) add(old *measurement, m marginal, noisy []float64, sigma float64) *measurement {
	if old == nil {
		old = &measurement{m: m, counts: make([]float64, m.size)}
		f.measured = append(f.measured, old)
	}
	w := 1 / (sigma * sigma)
	for i := range noisy {
		old.counts[i] = (old.counts[i]*old.weight + noisy[i]*w) / (old.weight + w)
	}
	old.weight += w
	return old
}

// loss returns the weighted squares of a distribution, and the gradient by cell of the domain unless it is nil.
func (f *model) loss(p, gradient []float64) (sum float64) {
	clear(gradient)
	for _, x := range f.measured {
		c := x.m.counts(p)
		for i := range c {
			diff := c[i]*f.total - x.counts[i]
			sum += x.weight * diff * diff / 2
			c[i] = x.weight * diff * f.total
		}
		for i := range gradient {
			gradient[i] += c[x.m.of[i]]
		}
	}
	return sum
}

// fit descends by multiplicative updates. A rate is halved until the loss falls.
func (f *model) fit() {
	gradient, next := make([]float64, cells), make([]float64, cells)
	for range fits {
		loss := f.loss(f.p, gradient)
		mean := 0.0
		for i, g := range gradient {
			mean += f.p[i] * g
		}
		for f.rate *= 2; ; f.rate /= 2 {
			sum := 0.0
			for i, g := range gradient {
				next[i] = f.p[i] * math.Exp(min(f.rate*(mean-g), 50))
				sum += next[i]
			}
			for i := range next {
				next[i] /= sum
			}
			if f.rate < 1e-12 || f.loss(next, nil) < loss {
				break
			}
		}
		f.p, next = next, f.p
	}
}

// A result is what one run of the loop did: rounds of each level, and the error of all two-way marginals.
type result struct {
	rounds [levels]int
	error  float64
}

// loop runs within a budget of units.
func (d *data) loop(s [levels]step, units int, seed uint64) (r result) {
	random := rand.New(rand.NewPCG(seed, 41))
	noisy := func(counts []float64, sigma float64) []float64 {
		out := make([]float64, len(counts))
		for i, c := range counts {
			out[i] = c + sigma*random.NormFloat64()
		}
		return out
	}
	f := &model{p: make([]float64, cells), rate: 1e-3}
	for i := range f.p {
		f.p[i] = 1.0 / cells
	}
	units -= startCost
	// The number of records is secret too: each one-way marginal has a sum, of a variance that grows with its cells.
	weight := 0.0
	for i, m := range d.single {
		x := f.add(nil, m, noisy(d.truthSingles[i], s[0].sigma), s[0].sigma)
		sum := 0.0
		for _, c := range x.counts {
			sum += c
		}
		f.total += sum / float64(m.size)
		weight += 1 / float64(m.size)
	}
	f.total = max(f.total/weight, 1)
	f.fit()
	measured := make([]*measurement, len(d.pairs))
	for level := 0; ; {
		for level >= 0 && s[level].cost > units {
			level-- // the last rounds are the best that fit
		}
		if level < 0 {
			break
		}
		x := s[level]
		units -= x.cost
		r.rounds[level]++
		best, top := 0, math.Inf(-1)
		for i, m := range d.pairs {
			// A record changes this score by at most 1.
			score := distance(d.truth[i], m.counts(f.p), f.total) - math.Sqrt(2/math.Pi)*x.sigma*float64(m.size)
			if score = x.epsilon*score/2 - xmath.Log(random.ExpFloat64()); score > top {
				best, top = i, score
			}
		}
		m := d.pairs[best]
		before := m.counts(f.p)
		measured[best] = f.add(measured[best], m, noisy(d.truth[best], x.sigma), x.sigma)
		f.fit()
		for i := range before {
			before[i] *= f.total
		}
		if level < levels-1 && distance(before, m.counts(f.p), f.total) <= math.Sqrt(2/math.Pi)*x.sigma*float64(m.size) {
			level++
		}
	}
	n := float64(len(d.records))
	for i, m := range d.pairs {
		r.error += distance(d.truth[i], m.counts(f.p), n) / n / float64(len(d.pairs))
	}
	return r
}

// distance returns the L1 distance of counts to shares of a total.
func distance(counts, shares []float64, total float64) (sum float64) {
	for i := range counts {
		sum += math.Abs(counts[i] - shares[i]*total)
	}
	return sum
}
