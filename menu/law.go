// Laws of the types of a menu on one lattice: the composition of a type's runs, made on a finer lattice by one transform,
// and then made coarse. It assumes laws of single runs as package pld proves them, and returns laws that are above, or
// below, the composition for every α > 0.

package menu

import (
	"context"
	"errors"
	"math"

	"github.com/dpaccountant/accountant/internal/gonumfft"
	"github.com/dpaccountant/accountant/internal/hook"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
	gonum "gonum.org/v1/gonum/dsp/fourier"
)

// A law is a measure on the losses (low + i)·step and at +∞. Above a profile its whole mass is at least 1, below it at
// most 1.
type law struct {
	low  int
	mass []float64
	inf  float64
	// moved bounds by how much losses of the profile differ from those that the law is above or below.
	moved float64
}

// high is the index of the largest loss.
func (l *law) high() int { return l.low + len(l.mass) - 1 }

// tilted returns log Σ m·e^{θ·loss}.
func (l *law) tilted(theta, step float64) float64 {
	top := max(theta*step*float64(l.low), theta*step*float64(l.high()))
	sum := 0.0
	for i, m := range l.mass {
		if m > 0 {
			sum += m * math.Exp(theta*step*float64(l.low+i)-top)
		}
	}
	return xmath.Log(sum) + top
}

// total returns the mass of the finite losses.
func (l *law) total() float64 {
	var s xmath.Sum
	for _, m := range l.mass {
		s.Add(m)
	}
	return s.Value()
}

// Constants that only steer.
const (
	logFar     = -17     // of δ, in logarithm: mass further out need not be placed
	logWrap    = -44     // of tilted mass that may wrap around a transform
	deepBelow  = -50     // log mass of losses below which they count as the smallest
	mostPoints = 1 << 18 // of a lattice of single runs
	slackMass  = 1e-9    // how much mass the errors of a composition may make at its low end
	perVertex  = 100     // what a vertex of a law takes, measured, in the unit of parallel.WithWork
	perPoint   = 1.7     // a point of a transform
)

// A maker makes the laws of the types of one direction. Theta is about the slope of −log δ where it is asked.
type maker struct {
	step, theta float64
	logFar      float64 // log of the mass above a law that may go to +∞
	logWrap     float64 // log of the tilted mass that may wrap around a transform
}

// errFine is why laws are not made: their lattice would have too many points.
var errFine = errors.New("the losses of a type span too many lattice steps")

// single returns the law of one run on the losses i·step, above or below.
func (k maker) single(ctx context.Context, p profiles.Profile, step float64, up bool) (*law, error) {
	var above, below *pld.Law
	ok := false
	if d, isDiscrete := p.(*profiles.Discrete); isDiscrete {
		above, below, ok = pld.OnLattice(d, 0, step)
	}
	if !ok {
		lo, hi := pld.Range(p, k.logFar, deepBelow)
		if lo > hi { // no loss is finite
			lo, hi = 0, 0
		}
		first, last := math.Floor(lo/step), math.Ceil(hi/step)
		if !(last-first < mostPoints) || !(math.Abs(first) < 1e9) || !(math.Abs(last) < 1e9) {
			return nil, errFine
		}
		g := pld.Uniform(0, step, int64(first)-1, int64(last)+1)
		coarse := pld.Coarse(p, k.logFar, deepBelow, 1, nil)
		g.Tilt = min(k.theta, 0.25/step)
		g.LogNorm, _, _ = coarse.Tilted(g.Tilt)
		g.Share = thinShare
		g.Stop = func() bool { return ctx.Err() != nil }
		if above, below = pld.Discretize(p, g); above == nil {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			return nil, errFine
		}
		if err := parallel.Spend(ctx, (perVertex+hook.Cost(p))*float64(len(above.Loss))); err != nil {
			return nil, err
		}
	}
	from := below
	if up {
		from = above
	}
	return dense(from, up)
}

// thinShare is how much of the error of a cell points may be left out for; see pld.Grid.
const thinShare = 1e-4

// dense returns a law of package pld as one without gaps.
func dense(from *pld.Law, up bool) (*law, error) {
	l := &law{moved: from.LossErr}
	if n := len(from.Index); n > 0 {
		l.low = int(from.Index[0])
		l.mass = make([]float64, from.Index[n-1]-from.Index[0]+1)
	} else {
		l.mass = []float64{0}
	}
	round := xmath.ExpDown
	if up {
		round = xmath.ExpUp
	}
	for i, x := range from.LogMass {
		l.mass[from.Index[i]-int64(l.low)] = round(x)
	}
	l.inf = round(from.LogPInf)
	return l, l.settle(up)
}

// settle makes the whole mass of a law above at least 1, of one below at most 1.
func (l *law) settle(up bool) error {
	total := l.total()
	const slack = 16 * xmath.U // of a compensated sum
	switch {
	case up && !(math.Abs(total+l.inf-1) < 1e-6):
		return errors.New("the tails of a profile are too inexact for a law above it")
	case up:
		l.inf = min(1, l.inf+max(0, 1-l.inf-total*(1-slack)))
	case total*(1+slack)+l.inf > 1:
		scale := (1 - 4*xmath.U) / (total*(1+slack) + l.inf)
		for i := range l.mass {
			l.mass[i] *= scale
		}
		l.inf *= scale
	}
	return nil
}

// part is the law of one run, and how often it runs.
type part struct {
	*law
	count float64
	k     float64 // log Σ m·e^{θ·loss}
}

// law returns the law of the runs of a type, above or below; exact says that single runs are on the lattice.
func (k maker) law(ctx context.Context, runs []profiles.Repeated, exact, up bool) (*law, error) {
	total := int64(0)
	for _, r := range runs {
		total += r.Count
	}
	ratio := 1
	if total > 1 && !exact {
		for ratio = 4; float64(ratio*ratio) < 4*float64(total) && ratio < 128; {
			ratio *= 2
		}
	}
	fine := k.step / float64(ratio)
	parts := make([]part, len(runs))
	for i, r := range runs {
		l, err := k.single(ctx, r.Profile, fine, up)
		if err != nil {
			return nil, err
		}
		parts[i] = part{law: l, count: float64(r.Count), k: l.tilted(k.theta, fine)}
	}
	if total == 1 {
		return parts[0].law, nil
	}
	l, err := k.compose(ctx, parts, fine, up)
	if err != nil || ratio == 1 {
		return l, err
	}
	if up {
		return l.coarseAbove(ratio, fine), nil
	}
	return l.coarseBelow(ratio, fine), nil
}

func sumTilted(parts []part, step, theta float64) float64 {
	sum := 0.0
	for _, p := range parts {
		sum += p.count * p.tilted(theta, step)
	}
	return sum
}

// reach returns where log-mass further out is at most log, and the bound there.
func reach(parts []part, step, theta, log, end, sign float64) (x, mass float64) {
	best, at := math.Inf(1), 0.0
	base := sumTilted(parts, step, theta)
	for t := 1.0 / 16; t*step < 8; t *= 2 {
		if d := (sumTilted(parts, step, theta+sign*t) - base - log) / t; d < best {
			best, at = d, t
		}
	}
	if x = sign * best; sign*x > sign*end {
		return end, math.Inf(-1)
	}
	// A few units of rounding for each run, which the 1e-6 covers.
	return x, sumTilted(parts, step, theta+sign*at) - base - at*best + 1e-6
}

// tailBelow returns a bound of the logarithm of the share of the mass below x.
func tailBelow(parts []part, step, x float64) float64 {
	base, best := sumTilted(parts, step, 0), 0.0
	for t := 1.0 / 16; t*step < 8; t *= 2 {
		best = min(best, sumTilted(parts, step, -t)-base+t*x)
	}
	return best + 1e-6
}

// compose returns the composition of the parts on their lattice (docs/theory/adaptive.md, "Blocks").
//
// Tilted by θ and divided by their sums, masses are transformed, raised to their powers and transformed back. Per mass, the
// error of that is at most what slack sums up: each coefficient of a transform has an absolute error of η (package gonumfft,
// for lengths that are powers of 2), and each of k factors passes it on. What lies outside the window wraps into it: it adds
// mass, which is sound above, where the mass itself goes to +∞ too; below, it is taken off everywhere.
func (k maker) compose(ctx context.Context, parts []part, step float64, up bool) (*law, error) {
	low, high, moved, exponent := 0.0, 0.0, 0.0, 0.0
	logTotal, logFinite, logK := 0.0, 0.0, 0.0
	for _, p := range parts {
		low += p.count * float64(p.low)
		high += p.count * float64(p.high())
		moved += p.count * p.moved
		logK += p.count * p.k
		exponent += p.count * xmath.U * (16 + 4*math.Abs(k.theta)*step*math.Abs(float64(max(p.high(), -p.low))) + 4*math.Abs(p.k))
		finite := p.total()
		slack := 16 * xmath.U // of a compensated sum
		if !up {
			slack = -slack
		}
		logTotal += p.count * xmath.Log((finite+p.inf)*(1+slack))
		logFinite += p.count * math.Log1p(-p.inf/(finite+p.inf))
		exponent += p.count * 2 * math.Abs(slack)
	}
	if math.IsInf(logK, -1) { // no finite loss is left
		return &law{mass: []float64{0}, inf: -math.Expm1(logFinite) * math.Exp(logTotal), moved: moved}, nil
	}
	// The window: little mass is outside of it, tilted or not.
	x1, m1 := reach(parts, step, 0, k.logFar, high*step, 1)
	x2, m2 := reach(parts, step, k.theta, k.logWrap, high*step, 1)
	y1, n1 := reach(parts, step, 0, k.logFar, low*step, -1)
	y2, n2 := reach(parts, step, k.theta, k.logWrap, low*step, -1)
	last, first := math.Ceil(max(x1, x2)/step), math.Floor(min(y1, y2)/step)
	outside, wrapped := math.Exp(m1)+math.Exp(n1), math.Exp(m2)+math.Exp(n2) // mass outside the window, as it is and tilted
	if !(last-first < 4*mostPoints) {
		return nil, errFine
	}
	n := 2
	for n < int(last-first)+1 {
		n *= 2
	}
	if err := parallel.Take(ctx, perPoint*float64(n)*float64(len(parts)+1)); err != nil {
		return nil, err
	}
	fft := gonum.NewFFT(n)
	eta := gonumfft.Eta(n) * 1.001 // of masses that sum to 1, up to rounding
	product := make([]complex128, n/2+1)
	most := make([]float64, n/2+1)  // of |product|
	share := make([]float64, n/2+1) // its error over that
	for i := range product {
		product[i], most[i] = 1, 1
	}
	buf := make([]float64, n)
	for _, p := range parts {
		clear(buf)
		for i, m := range p.mass {
			j := p.low + i
			if at := ((j % n) + n) % n; m > 0 {
				buf[at] += m * math.Exp(k.theta*step*float64(j)-p.k)
			}
		}
		z := fft.Coefficients(nil, buf)
		for i, c := range z {
			a := math.Hypot(real(c), imag(c))*(1+4*xmath.U) + eta
			most[i] *= math.Pow(a, p.count)
			share[i] += p.count * (3*xmath.U + eta/a)
			product[i] *= power(c, int64(p.count))
		}
	}
	slack := 0.0
	for i, m := range most {
		e := m * (share[i] + eta + 8*xmath.U)
		if i == 0 || i == n/2 {
			slack += e
		} else {
			slack += 2 * e
		}
	}
	slack = slack / float64(n) * (1 + 1e-6)
	fft.Sequence(buf, product)
	below := 0.0
	if up && k.theta > 0 {
		// Far down, tilting back makes much of the error: there the mass is bounded by Chernoff's bound, and moved up.
		if cut := math.Ceil((logK + xmath.Log(slack/(k.theta*step*slackMass))) / k.theta / step); cut > first && cut < last {
			first = cut
			below = math.Exp(tailBelow(parts, step, first*step) + max(0, logTotal))
		}
	}
	out := &law{low: int(first), mass: make([]float64, int(last-first)+1), moved: moved}
	round := exponent + xmath.U*(16+4*math.Abs(logK)+4*k.theta*max(math.Abs(first), math.Abs(last))*step)
	for i := range out.mass {
		j := out.low + i
		m := buf[((j%n)+n)%n] / float64(n)
		back := logK - k.theta*step*float64(j)
		if up {
			out.mass[i] = (max(0, m) + slack) * xmath.ExpUp(back) * (1 + round)
		} else if m -= slack + wrapped; m > 0 {
			out.mass[i] = m * xmath.ExpDown(back) * (1 - round)
		}
	}
	inf := -math.Expm1(logFinite) * math.Exp(logTotal)
	if up {
		out.mass[0] += below * (1 + 1e-9)
		out.inf = min(1, inf*(1+round)+outside*math.Exp(max(0, logTotal)))
		// What the window has beyond single sums is mass above all the same: the whole is at least 1.
		return out, nil
	}
	out.inf = max(0, inf*(1-round))
	return out, out.settle(false)
}

// power returns c^n by squaring: at most n−1 roundings of √5·u each, and as many as log n more.
func power(c complex128, n int64) complex128 {
	out := complex(1, 0)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out *= c
		}
		c *= c
	}
	return out
}

// floorDiv returns a/b rounded down.
func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// coarseAbove returns a law above on every ratio-th point: each mass is split between the points next to it so that its P-
// and its Q-mass stay, which is a chord of its profile.
func (l *law) coarseAbove(ratio int, fine float64) *law {
	first, last := floorDiv(l.low, ratio), floorDiv(l.high(), ratio)+1
	out := &law{low: first, mass: make([]float64, last-first+1), inf: l.inf, moved: l.moved}
	one := -math.Expm1(-fine * float64(ratio))
	split := make([]float64, ratio)
	for s := range split {
		split[s] = -math.Expm1(-fine*float64(s)) / one
	}
	for i, m := range l.mass {
		q := floorDiv(l.low+i, ratio)
		up := m * split[l.low+i-q*ratio]
		out.mass[q-first] += (m - up) + 8*xmath.U*m
		out.mass[q-first+1] += up * (1 + 8*xmath.U)
	}
	round := 1 + xmath.U*float64(2*ratio+8)
	for i := range out.mass {
		out.mass[i] *= round
	}
	return out
}

// coarseBelow returns a law below on every ratio-th point. From the top down, a point t gets all mass above it that has no
// place yet, which loses to e^t·Q, and as much of the half cell below, nearest first, as makes up for that: a sum of
// outcomes that cannot be told apart, of which P is still at least e^t·Q, and which then counts as t.
func (l *law) coarseBelow(ratio int, fine float64) *law {
	first, last := floorDiv(l.low, ratio), floorDiv(l.high(), ratio)
	out := &law{low: first, mass: make([]float64, last-first+1), inf: l.inf, moved: l.moved}
	at, rest := len(l.mass)-1, 0.0 // the next mass without a place, of which so much is left
	if at >= 0 {
		rest = l.mass[at]
	}
	next := func() {
		if at--; at >= 0 {
			rest = l.mass[at]
		}
	}
	for q := last; q >= first; q-- {
		sum, gain := 0.0, 0.0
		for ; at >= 0 && l.low+at > q*ratio; next() {
			sum += rest
			gain += rest * -math.Expm1(-fine*float64(l.low+at-q*ratio))
		}
		gain *= 1 - 1e-12 // rounding of up to 2·128 terms
		for ; at >= 0 && l.low+at >= q*ratio-ratio/2; next() {
			cost := rest * math.Expm1(fine*float64(q*ratio-l.low-at)) * (1 + 1e-13)
			if cost > gain {
				took := rest * (gain / cost) * (1 - 1e-13)
				sum += took
				rest -= took
				rest *= 1 - 2*xmath.U
				gain = 0
				break
			}
			sum += rest
			gain -= cost
		}
		out.mass[q-first] = sum * (1 - 1e-13)
	}
	return out
}

// trim takes the largest losses in, as far as their mass is at most e^log: see cut.
func (l *law) trim(log float64, up bool) {
	sum, most, top := 0.0, math.Exp(log), l.high()
	for ; top > l.low && sum+l.mass[top-l.low] <= most; top-- {
		sum += l.mass[top-l.low]
	}
	l.cutAbove(top, up)
}

// cut takes losses further out than span steps in: what is above goes to +∞ in a law above, to the end in one below; what
// is below goes to the end, or away.
func (l *law) cut(span int, up bool) {
	l.cutAbove(max(span, l.low), up)
	l.cutBelow(min(-span-l.low, len(l.mass)-1), up)
}

// cutBelow takes the first losses in: to the next one, or away.
func (l *law) cutBelow(under int, up bool) {
	if under <= 0 {
		return
	}
	sum := 0.0
	for _, x := range l.mass[:under] {
		sum += x
	}
	l.mass = l.mass[under:]
	l.low += under
	if up {
		l.mass[0] += sum * (1 + xmath.U*float64(under+8))
	}
}

// trimBelow takes in the smallest losses that have at most a share of the tilted mass where they go. What a transform holds
// at the low end is multiplied by e^{θ|loss|}, and its errors with it.
func (l *law) trimBelow(theta, step, share float64, up bool) {
	most, sum, under := xmath.Log(share)+l.tilted(theta, step), 0.0, 0
	for i, x := range l.mass[:len(l.mass)-1] {
		if sum += x; xmath.Log(sum)+theta*step*float64(l.low+i+1) > most {
			break
		}
		under = i + 1
	}
	l.cutBelow(under, up)
}

// cutAbove takes losses above top in; top is a loss of the law.
func (l *law) cutAbove(top int, up bool) {
	over := l.high() - top
	if over <= 0 {
		return
	}
	n, sum := len(l.mass)-over, 0.0
	for _, x := range l.mass[n:] {
		sum += x
	}
	l.mass = l.mass[:n]
	if up {
		l.inf = min(1, l.inf+sum*(1+xmath.U*float64(over+8)))
	} else {
		l.mass[n-1] += sum * (1 - xmath.U*float64(over+8))
	}
}

// scout is what is known of a type before it has a lattice: cumulants, roughly.
type scout struct {
	laws  []*pld.Law
	count []float64
	noInf float64 // log of the P-mass at finite losses
}

func newScout(runs []profiles.Repeated) *scout {
	s := &scout{}
	for _, r := range runs {
		l := pld.Coarse(r.Profile, -70, deepBelow, 0.2, nil)
		s.laws, s.count = append(s.laws, l), append(s.count, float64(r.Count))
		if !math.IsInf(r.Profile.Support().LogPInf, -1) {
			s.noInf += float64(r.Count) * math.Log1p(-math.Exp(r.Profile.Support().LogPInf))
		}
	}
	return s
}

// k returns the cumulant at θ, and the mean and variance of the tilted loss.
func (s *scout) k(theta float64) (k, mean, variance float64) {
	for i, l := range s.laws {
		a, b, c := l.Tilted(theta)
		k, mean, variance = k+s.count[i]*a, mean+s.count[i]*b, variance+s.count[i]*c
	}
	return k, mean, variance
}

// logDelta returns about log δ(ε) of n runs, by a saddle point, which proves nothing.
func (s *scout) logDelta(n, epsilon float64) float64 {
	best, _ := least(1e-3, func(theta float64) float64 {
		k, _, v := s.k(theta)
		bound := n*k - theta*epsilon
		return min(bound, bound-xmath.Log(theta*(1+theta))-0.5*xmath.Log(2*math.Pi*n*v+1e-300))
	})
	return xmath.LogAdd(best, xmath.Log(-math.Expm1(n*s.noInf)))
}

// least returns the least value of f that a search meets for θ in [1e-2, 1e4], and where: to tol of θ, relatively.
func least(tol float64, f func(theta float64) float64) (value, at float64) {
	value = math.Inf(1)
	xmath.GoldenSection(func(logTheta float64) float64 {
		theta := math.Exp(logTheta)
		y := f(theta)
		if y < value {
			value, at = y, theta
		}
		return y
	}, xmath.Log(1e-2), xmath.Log(1e4), tol)
	return value, at
}

// runs returns about how often the type alone may run within a budget, a real number.
func (s *scout) runs(epsilon, delta float64) float64 {
	n, _ := xmath.BisectLog(1e-3, 1e9, 40, func(n float64) bool { return s.logDelta(n, epsilon) <= xmath.Log(delta) })
	return n
}

// Proof (docs/theory/adaptive.md §4): blocks.
//
// A type of many runs has the composition of their laws on a finer lattice, made by one transform of length N, a power
// of 2. Masses are tilted by e^{θl} and divided by their sum; a coefficient then has an error of η
// (`internal/gonumfft`), and a product of k_i-th powers one of Σ k_i(3u + η/a_i)·Π a_i^{k_i}, a_i = |coefficient| + η.
// Their sum over N, and η of the way back, is the error of every tilted mass: added above, taken off below. Mass
// outside the window, by Chernoff's bound, goes to +∞ above; what wraps into the window is positive, so sound above,
// and is taken off every mass below. Low down, where tilting back multiplies the error, the law above ends: what is
// below, by Chernoff's bound, moves up to its end. On the coarse lattice a mass is split between two points so that P-
// and Q-mass stay (a chord, above); below, mass above a point t is merged with as much below it, nearest first, as
// keeps P ≥ e^tQ, and counts as t (outcomes that are not told apart).
