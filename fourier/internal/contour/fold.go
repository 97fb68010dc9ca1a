// Theorem 10 (folding). Let every loss lie in aZ + b, λ = Na, s_k = θ + ikh with h = 2π/λ, and C(s) = 1 − e^{−sa}. Then the sum
// of Theorem 2 over all k is one over a single period: with y the distance from ε to the first lattice point above it,
//
//	S(ε) = (1/N) Σ_{k<N} M(s_k) e^{−s_k(ε+y)} · (α + β·e^{−s_k a}) / (C(s_k)·C(s_k+1)),
//	α = 1 − e^{−y},    β = e^{−y}(1 − e^{−(a−y)}).
//
// Proof. M(s)e^{−sε} at s_k + 2πim/a is that at s_k times e^{2πimy/a}. e^{−zx} on (0, a), continued with period a, has the Fourier
// coefficients C(z)/(a(z + 2πim/a)), so Σ_m e^{2πimy/a}/(z + 2πim/a) = a·e^{−zy}/C(z); with 1/(s(s+1)) = 1/s − 1/(s+1) the series
// over m converges absolutely and is continuous in y. The two terms together are C(z+1) − e^{−y}C(z) = α + βe^{−za} over C(z)C(z+1). ∎
//
// Nothing is cut: aliasing is that of Theorem 2, and there is no truncation. α and β are the weights of the lattice points next to ε, as δ of
// losses on a lattice is linear in e^ε between two of them; nothing is subtracted. All errors are those at one point times α + βe^{−θa}.
//
// It assumes laws on lattices of one step. What it returns holds for any line and any N: where the choice was bad, the errors are large.

package contour

import (
	"context"
	"errors"
	"math"
	"math/bits"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// readings returns what has been read since it was asked, in terms of a column.
func (t *table) readings() int64 {
	if t.folded == nil {
		return 0
	}
	n := t.folded.reads * foldRead * int64(len(t.folded.freqs))
	t.folded.reads = 0
	return n
}

// A lattice is what tables of laws may use.
type lattice struct {
	step   float64 // of all laws
	points int     // of a transform, at the most
	fft    FFT
}

// Fold says that all factors are laws on lattices of one step, whose transforms may have so many points.
func (c *Composition) Fold(step float64, points int, fft FFT) {
	c.lattice = &lattice{step, points, fft}
}

// A folded is the part of a table that laws on a lattice have in place of columns.
type folded struct {
	theta, step float64
	n           int64
	freqs       []freq

	// log M(θ) as a label, and the position Σ T_j(o_j + c_jΔ) of index 0, both as
	// unevaluated double-length sums.
	label, origin xmath.Sum

	energy  float64 // Σ_j E_j T_j, for the FFT's error (docs/theory/accuracy.md §7)
	rho     float64 // Σ_j T_j ρ_j: the relative error of the tilted masses
	spill   float64 // Σ_j T_j R_j: error of masses too small for ρ_j
	mass    float64 // bound of the log of any product of transforms
	reach   float64 // Σ_j T_j |losses|, for the rounding of the origin
	dropped bool

	// Σ|terms| at a lattice point, and the errors of the transforms, of floating point and of frequencies left out.
	modulus, quad, round, tail float64
	reads                      int64
}

// Of transforms with more points than a quarter of what the memory limit allows, one works at
// a time, so that sums asked together take no more memory than one.
var long = make(chan struct{}, 1)

// foldTerms is what a point of the transform of one law, and its power, take in terms of a column; foldRead what a reading of a
// kept frequency does, and directTerm a term that is summed directly.
const (
	foldTerms  = meter.PerPoint / meter.PerTerm
	foldRead   = meter.PerRead / meter.PerTerm
	directTerm = 1 / meter.PerTerm
)

// fold makes a table of laws on a line.
func (c *Composition) fold(ctx context.Context, l choice, g goal) (*table, error) {
	points := l.lambda * longer / c.lattice.step
	if !(points < 1<<45) {
		return nil, &NotServed{Reason: "too many frequencies", Work: 1 << 45}
	}
	n := max(2, int64(points)+1)
	if n < math.MaxInt32 {
		n = int64(c.lattice.fft.Length(int(n)))
	}
	f := &folded{theta: l.theta, step: c.lattice.step, n: n}
	spent, err := f.fill(ctx, c, g)
	var not *NotServed
	if errors.As(err, &not) {
		not.spent = int64(spent)
	}
	if err != nil {
		return nil, err
	}
	t := c.tableOf(f, l, g.eps)
	t.terms = spent
	return t, nil
}

// tableOf makes the table of frequencies that count.
func (c *Composition) tableOf(f *folded, l choice, eps float64) *table {
	f.finish()
	t := &table{plan: plan{theta: l.theta, h: 2 * math.Pi / (float64(f.n) * f.step), sHigh: l.sHigh, sLow: l.sLow, n: len(f.freqs)},
		lastGuess: eps, folded: f, re0: f.label.Value()}
	for _, x := range c.factors {
		t.sums.counts = append(t.sums.counts, x.Count)
		t.sums.bounds(x, realBound(x.Transform, t.sHigh), realBound(x.Transform, t.sLow))
	}
	t.ends(t.sums.share())
	t.logHigh, t.logLow = t.logHigh+f.rho, t.logLow+f.rho
	return t
}

// fill finds the frequencies that count, and returns what that took: by direct sums where these are few and a transform would be
// long or too inaccurate.
func (f *folded) fill(ctx context.Context, c *Composition, g goal) (spent float64, err error) {
	spectra := f.tilt(c.factors)
	work, points := float64(g.work), float64(f.n)
	price := foldTerms * points * float64(len(spectra))
	whole := f.n <= int64(c.lattice.points)
	if points > directPoints || c.runs() >= directRuns {
		most := work / directTerm / directShare
		if whole && c.runs() < directRuns {
			most = min(most, 1.5*points) // as much as the transform
		}
		left := most
		try := *f
		if try.direct(ctx, spectra, &left) {
			*f = try
			return directTerm * (most - left), nil
		}
		spent = directTerm * (most - left)
	}
	switch {
	case !whole:
		return spent, &NotServed{Reason: "too many points for the memory", Memory: true}
	case price > work-spent:
		return spent, &NotServed{Reason: "too many frequencies", Work: int64(min(price, 1e18))}
	case f.n > int64(c.lattice.points/4):
		select {
		case long <- struct{}{}:
			defer func() { <-long }()
		case <-ctx.Done():
			return spent, ctx.Err()
		}
	}
	if !f.multiply(ctx, spectra, c.lattice.fft) {
		return spent, ctx.Err()
	}
	return spent + price, nil
}

// finish turns the logarithms of the kept products into terms of the sum, and adds up their errors.
func (f *folded) finish() {
	const u = xmath.U
	n, a := float64(f.n), f.step
	var normB float64
	for i := range f.freqs {
		p := &f.freqs[i]
		m := math.Exp(p.re)
		sin, cos := math.Sincos(p.im)
		zr, zi := m*cos, m*sin
		abs := math.Exp(p.abs) * (1 + 1e-12)
		turn := 2 * math.Pi * float64(p.k) / n
		half := math.Sin(turn / 2)
		sin, cos = math.Sincos(turn)
		// As the transform is, all are conjugate.
		r0, i0, e0 := pole(f.theta*a, half, sin)
		r1, i1, e1 := pole((f.theta+1)*a, half, sin)
		size := (r0*r0 + i0*i0) * (r1*r1 + i1*i1)
		weight := 2.0
		if p.k == 0 || 2*p.k == f.n {
			weight = 1
		}
		gr, gi := (r0*r1-i0*i1)/size*weight/n, -(r0*i1+i0*r1)/size*weight/n
		down := math.Exp(-f.theta * a)
		p.re, p.im = zr*gr-zi*gi, zr*gi+zi*gr
		p.nextR, p.nextI = down*(p.re*cos-p.im*sin), down*(p.im*cos+p.re*sin)
		x := math.Hypot(gr, gi) * abs
		f.modulus += x
		f.round += x * (p.pow + 8*u*(1+math.Abs(xmath.Log(max(m, 1e-300)))) + e0 + e1 + u*(80+4*math.Abs(f.theta)*a))
		normB += x * x * p.b / weight
	}
	sums := 1 + 1e-9 + 2*u*float64(len(f.freqs))
	f.quad = math.Sqrt(f.energy*normB) * sums
	f.round *= sums
	// Of all frequencies Σ|1/(C(s)C(s+1))|/N, by Cauchy and Schwarz.
	f.tail = f.spill
	if f.dropped {
		f.tail += math.Exp(dropLog)
	}
	f.tail *= 2 * math.Exp(f.mass) * f.poles(f.theta) * f.poles(f.theta+1)
}

// pole returns C(s) at sa = x + iω, conjugate, and its relative error, given sin(ω/2) and sin ω.
func pole(x, half, sin float64) (re, im, err float64) {
	e, one := math.Exp(-x), -math.Expm1(-x)
	re, im = one+2*e*half*half, -e*sin
	return re, im, xmath.U * (12 + 2*math.Abs(x)) * (math.Abs(one) + 2*e*half*half + e*math.Abs(sin)) / math.Hypot(re, im)
}

// poles returns an upper bound of √((1/N)Σ|C(s)|^{−2}): with r = e^{−sa} that is (1+r^N)/((1−r²)(1−r^N)), and r > 1 over r is that of 1/r.
func (f *folded) poles(s float64) float64 {
	x := math.Abs(s) * f.step
	end := x * float64(f.n)
	v := math.Sqrt((1+math.Exp(-end))/(math.Expm1(-2*x)*math.Expm1(-end))) * (1 + 1e-9)
	if s < 0 {
		v *= math.Exp(-x)
	}
	return v
}

// place returns the first lattice point above ε: its distance and its index.
func (f *folded) place(eps float64) (y float64, j0 int64, ok bool) {
	gap := f.origin
	gap.Add(-eps)
	d := f.step
	q := -gap.Value() / d
	if !(math.Abs(q) < 1<<50) {
		return 0, 0, false
	}
	j := math.Floor(q) + 1
	rest := gap
	rest.AddProduct(j, d)
	y = rest.Value()
	for y <= 0 {
		y += d
		j++
	}
	for y > d {
		y -= d
		j--
	}
	j0 = int64(math.Mod(j, float64(f.n)))
	if j0 < 0 {
		j0 += f.n
	}
	return y, j0, true
}

// A folding is what the frequencies of laws say about one ε: the sum and its derivative over e^label, and the errors of a reading.
type folding struct {
	s, ds, label               float64
	modulus, quad, round, tail float64
	moved                      float64 // of the logarithm: by rounded masses, losses and label
}

// at reads the frequencies; ok is false too far away to place ε in a lattice cell.
func (f *folded) at(eps float64) (r folding, ok bool) {
	y, j0, ok := f.place(eps)
	if !ok {
		return r, false
	}
	f.reads++
	label := f.label
	label.AddProduct(-f.theta, eps)
	r.label = label.Value()
	var here, next xmath.Sum
	for i := range f.freqs {
		p := &f.freqs[i]
		// ω·j0, reduced in integers.
		hi, lo := bits.Mul64(uint64(p.k), uint64(j0))
		_, rem := bits.Div64(hi%uint64(f.n), lo, uint64(f.n))
		sin, cos := math.Sincos(2 * math.Pi * float64(rem) / float64(f.n))
		here.Add(p.re*cos - p.im*sin)
		next.Add(p.nextR*cos - p.nextI*sin)
	}
	scale := math.Exp(-f.theta * y)
	alpha, beta := -math.Expm1(-y), -math.Exp(-y)*math.Expm1(y-f.step)
	r.s = scale * (alpha*here.Value() + beta*next.Value())
	r.ds = -scale * math.Exp(-y) * (here.Value() - next.Value())
	weight := scale * (alpha + beta*math.Exp(-f.theta*f.step)) * (1 + 1e-12)
	r.modulus, r.quad, r.round, r.tail = weight*f.modulus, weight*f.quad, weight*f.round, weight*f.tail
	place := 4*xmath.U*(math.Abs(y)+math.Abs(eps)*1e-16) + 1e-30*f.reach
	r.moved = f.rho*(1+1e-6) + 2*xmath.U*math.Abs(r.label) + 8*xmath.U + (1+math.Abs(f.theta))*place
	return r, true
}
