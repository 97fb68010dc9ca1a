package contour

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/internal/transform"
	"github.com/dpaccountant/accountant/internal/xmath"
)

// A plan fixes a table: the line, the period of the frequencies, the lines of the
// two remainders, and the last frequency.
type plan struct {
	theta, h    float64
	sHigh, sLow float64
	n           int     // the frequencies are 0, h, …, nh
	tol         float64 // wanted error of one log M
	maxNodes    int
}

// lambda is the period 2π/h in ε. h has at most 30 bits, so that kh is exact: the
// theorem needs equidistant frequencies.
func (p plan) lambda() float64 { return 2 * math.Pi / p.h }

// A column is what one factor contributes, without its count.
type column struct {
	re, im, err []float64
	decay       float64 // bound of log |M| at and after frequency n+1
	high, low   float64 // upper bounds of log M(s) at sHigh, sLow
	nodes       int
}

// A table holds the columns of the factors on one line, and their sums.
type table struct {
	plan
	columns []column
	counts  []int64 // what the sums below were made with
	nodes   int64   // of all columns together

	// Sums over the factors. The integrand at ε is
	// e^{re0−θε} Σ_k (a_k + i b_k) e^{i(im_k − kh·ε)}.
	re0       float64
	im, a, b  []float64
	modulus   []float64 // |a + ib|
	mass      float64   // Σ modulus
	quad      float64   // error of the sum that errors of the transforms cause
	round     float64   // error of the sum by floating point, the phase left out
	logTail   float64   // log of the bound of what the frequencies after n add, in units e^{re0−θε}
	logHigh   float64   // upper bounds of log M(sHigh), log M(sLow)
	logLow    float64
	logM0     float64
	logM1     float64
	lastGuess float64 // the ε of the last answer: where the next search starts
}

// extend computes the columns of factors that have none, at the same time, and
// sums again when a factor or a count is new.
func (t *table) extend(ctx context.Context, c *Composition, lines []transform.Line) error {
	first := len(t.columns)
	todo := len(c.factors) - first
	if todo > 0 {
		cols := make([]column, todo)
		errs := make([]error, todo)
		var next atomic.Int64
		parallel.Do(min(todo, runtime.GOMAXPROCS(0)), func(int) {
			for {
				i := int(next.Add(1)) - 1
				if i >= todo || ctx.Err() != nil {
					return
				}
				var line transform.Line
				if lines != nil {
					line = lines[first+i]
				}
				cols[i], errs[i] = newColumn(ctx, c.factors[first+i].Transform, t.plan, line)
			}
		})
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, err := range errs {
			if err != nil {
				return err
			}
		}
		t.columns = append(t.columns, cols...)
		for _, col := range cols {
			t.nodes += int64(col.nodes)
		}
	}
	same := todo == 0 && len(t.counts) == len(c.factors)
	for i := 0; same && i < len(t.counts); i++ {
		same = t.counts[i] == c.factors[i].Count
	}
	if !same {
		t.sum(c)
	}
	return nil
}

// newColumn evaluates one factor. The frequencies beyond the first 64 look at ctx
// from time to time.
func newColumn(ctx context.Context, f transform.Transform, p plan, line transform.Line) (column, error) {
	last := float64(p.n+1) * p.h
	if line == nil {
		var err error
		if line, err = f.Line(p.theta, last, p.tol, p.maxNodes); err != nil {
			return column{}, &NotServed{Reason: err.Error()}
		}
	}
	store := make([]float64, 3*(p.n+1))
	col := column{re: store[:p.n+1], im: store[p.n+1 : 2*p.n+2], err: store[2*p.n+2:], nodes: line.Nodes()}
	for k := range col.re {
		if k&63 == 63 && ctx.Err() != nil {
			return column{}, ctx.Err()
		}
		col.re[k], col.im[k], col.err[k] = line.LogM(float64(k) * p.h)
	}
	col.decay = line.Decay(last)
	col.high = realBound(f, p.sHigh)
	col.low = realBound(f, p.sLow)
	return col, nil
}

// realBound returns an upper bound of log M(s), +Inf where there is none.
func realBound(f transform.Transform, s float64) float64 {
	k, _, err := f.Real(s)
	if b := k + err; !math.IsNaN(b) {
		return b + 2*xmath.U*math.Abs(b)
	}
	return math.Inf(1)
}

// phaseError bounds, in units of u, the error of one term of the frequency sum that
// does not grow with its exponent and phase: exp 2, sine and cosine 2, products and
// the complex division 11 make 15; the compensated sum adds 2.
const phaseError = 24

// sum adds the columns, each times its count, in their order.
func (t *table) sum(c *Composition) {
	const u = xmath.U
	n := t.n + 1
	if t.im == nil {
		store := make([]float64, 4*n)
		t.im, t.a, t.b, t.modulus = store[:n], store[n:2*n], store[2*n:3*n], store[3*n:]
	}
	t.counts = t.counts[:0]
	var large float64 // a count above 2^53 is rounded
	for _, f := range c.factors {
		t.counts = append(t.counts, f.Count)
		if f.Count > 1<<53 {
			large = u
		}
	}
	// The products are exact, the sums compensated: the error is 2u of the result and
	// m²u² of the sum of moduli.
	m := float64(len(c.factors))
	share := 4*m*m*u*u + large

	t.mass, t.quad, t.round = 0, 0, 0
	for k := range t.im {
		var re, im, eta, abs xmath.Sum
		bound := 0.0 // of log |M|, where it is not known better
		proved := true
		for i := range t.columns {
			col, count := &t.columns[i], float64(c.factors[i].Count)
			re.AddProduct(count, col.re[k])
			im.AddProduct(count, col.im[k])
			abs.Add(count * (math.Abs(col.re[k]) + math.Abs(col.im[k])))
			if math.IsInf(col.err[k], 0) {
				proved = false
			} else {
				eta.Add(count * col.err[k])
			}
		}
		x, y := re.Value(), im.Value()
		if k == 0 {
			t.re0 = x
		}
		rounding := c.scale.rounding * (2*u*(math.Abs(x)+math.Abs(y)) + share*abs.Value())
		transform := c.scale.transform * eta.Value() * (1 + 8*u)
		bound = x + transform + rounding
		f := float64(k) * t.h
		weight := t.h / math.Pi
		if k == 0 {
			weight /= 2
		}
		p := t.theta * (1 + t.theta)
		d := (t.theta*t.theta + f*f) * ((1+t.theta)*(1+t.theta) + f*f)
		t.im[k], t.a[k], t.b[k], t.modulus[k] = y, 0, 0, 0
		if !(proved && transform+rounding < 0.5) {
			// Nothing is known about the phase: the term is left out, and its bound counted.
			t.quad += weight * math.Exp(bound-t.re0) / math.Sqrt(d) * (1 + 64*u + 4*u*math.Abs(bound-t.re0))
			continue
		}
		e := weight * math.Exp(x-t.re0)
		t.a[k] = e * (p - f*f) / d
		t.b[k] = -e * f * (2*t.theta + 1) / d
		t.modulus[k] = e / math.Sqrt(d)
		t.mass += t.modulus[k]
		t.quad += t.modulus[k] * math.Expm1(transform) * 1.000001
		t.round += t.modulus[k] * (2*rounding + c.scale.rounding*u*(phaseError+4*math.Abs(x-t.re0)))
	}
	t.mass *= 1 + 1e-12 // plain sums of at most 2^23 positive terms
	t.quad *= 1 + 1e-8
	t.round *= 1 + 1e-8

	t.logTail = t.total(func(col *column) float64 { return col.decay }) - t.re0
	t.logTail += 4*u*(math.Abs(t.logTail)+math.Abs(t.re0)+1) - math.Log(math.Pi*float64(t.n)*t.h)
	t.logHigh = t.total(func(col *column) float64 { return col.high })
	t.logLow = t.total(func(col *column) float64 { return col.low })
	t.logM0, t.logM1 = c.finite()
}

// total is ΣT_i f(column i), rounded up.
func (t *table) total(f func(*column) float64) float64 {
	var s xmath.Sum
	var abs float64
	for i := range t.columns {
		x := f(&t.columns[i])
		if math.IsInf(x, 0) || math.IsNaN(x) {
			if x < 0 {
				return x
			}
			return math.Inf(1)
		}
		p := float64(t.counts[i]) * x
		s.Add(p)
		abs += math.Abs(p)
	}
	return s.Value() + 4*xmath.U*abs
}
