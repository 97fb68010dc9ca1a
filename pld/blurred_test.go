package pld_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath/oracle"
	"github.com/dpaccountant/accountant/pld"
	"github.com/dpaccountant/accountant/profiles"
)

// blurred is a finite profile, known exactly, whose tails are off by as much as they admit: each logarithm is
// moved by blur, up, down or to a side that its place decides, and the error that it reports is exactly how far it is off.
type blurred struct {
	loss []float64
	p, q []*big.Float // of the losses
	pInf *big.Float   // the rest of P
	blur float64
	side int // 0 down, 1 up, else by seed and place
	seed byte
	logs map[string]*big.Float // of sums, which are few
}

func newBlurred(loss, p []float64, blur float64, seed byte) *blurred {
	b := &blurred{loss: loss, blur: blur, seed: seed, logs: map[string]*big.Float{}, pInf: oracle.F(1)}
	for i, x := range p {
		b.p = append(b.p, oracle.F(x))
		b.q = append(b.q, oracle.Mul(oracle.F(x), oracle.Exp(oracle.F(-loss[i]))))
		b.pInf = oracle.Sub(b.pInf, oracle.F(x))
	}
	return b
}

// sums returns P(L > ε), Q(L > ε), P(L ≤ ε), Q(L ≤ ε).
func (b *blurred) sums(eps float64) [4]*big.Float {
	s := [4]*big.Float{b.pInf, oracle.F(0), oracle.F(0), oracle.F(1)}
	for i, l := range b.loss {
		if l > eps {
			s[0], s[1] = oracle.Add(s[0], b.p[i]), oracle.Add(s[1], b.q[i])
		} else {
			s[2] = oracle.Add(s[2], b.p[i])
		}
	}
	s[3] = oracle.Sub(s[3], s[1])
	return s
}

func (b *blurred) delta(eps float64) *big.Float {
	s := b.sums(eps)
	return hp(0).Set(oracle.Sub(s[0], oracle.Mul(oracle.Exp(oracle.F(eps)), s[1])))
}

// told returns a logarithm that is wrong by blur, and by how much it is.
func (b *blurred) told(x *big.Float, eps float64, which byte) (l, err float64) {
	if x.Sign() <= 0 {
		return math.Inf(-1), 0
	}
	key := x.Text('p', 0)
	exact := b.logs[key]
	if exact == nil {
		exact = oracle.Log(x)
		b.logs[key] = exact
	}
	l, _ = exact.Float64()
	h := fnv.New32()
	fmt.Fprint(h, eps, which, b.seed)
	if up := h.Sum32() & 1; b.side == 1 || b.side > 1 && up == 0 {
		l = min(0, l+b.blur)
	} else {
		l -= b.blur
	}
	err, _ = oracle.Sub(oracle.F(l), exact).Float64()
	return l, math.Nextafter(math.Abs(err), 1)
}

func (b *blurred) Tails(eps, _ float64) profiles.Tails {
	s := b.sums(eps)
	var t profiles.Tails
	var e [4]float64
	t.P, e[0] = b.told(s[0], eps, 0)
	t.Q, e[1] = b.told(s[1], eps, 1)
	t.PC, e[2] = b.told(s[2], eps, 2)
	t.QC, e[3] = b.told(s[3], eps, 3)
	t.Err, t.ErrC = max(e[0], e[1]), max(e[2], e[3])
	return t
}

func (b *blurred) Support() profiles.Support {
	n := len(b.loss)
	s := profiles.Support{Min: b.loss[0], Max: b.loss[n-1], LogPInf: math.Inf(-1), LogQInf: math.Inf(-1), Spike: math.NaN(), Atoms: b.loss}
	if b.pInf.Sign() > 0 {
		s.LogPInf, _ = oracle.Log(b.pInf).Float64()
	}
	return s
}

// exactDifference is a blurred profile that knows P(L > ε) − Q(L > ε) to the last digits.
type exactDifference struct{ *blurred }

func (b exactDifference) LogTailDifference(eps, _ float64) (logDiff, err float64) {
	s := b.sums(eps)
	d := oracle.Sub(s[0], s[1])
	if d.Sign() <= 0 {
		return math.Inf(-1), 0
	}
	l, _ := oracle.Log(d).Float64()
	return l, 0x1p-53 * (1 + math.Abs(l))
}

// The laws are above and below a profile whose tails are wrong by all of the error that they admit: by rounding,
// by a millionth, or by a factor of two and a half. The truth is exact, and only the reading's 4 u are allowed for.
func TestLawsHoldTheErrorsOfTails(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 160 {
		blur := []float64{0, 1e-14, 1e-6, 0.9, 3}[i%5]
		step := []float64{0.5, 0.1, 1e-2, 0x1p-20}[rng.IntN(4)]
		n := 2 + rng.IntN(5)
		loss, p := make([]float64, n), make([]float64, n)
		left := 1.0
		from := float64(rng.IntN(12)-4) * float64(rng.IntN(2)) // far from 0, or about it
		lo := int64(math.Floor(from / step))
		k := lo + 2
		for j := range loss {
			loss[j] = (float64(k) + []float64{0, 0.5, rng.Float64()}[rng.IntN(3)]) * step
			k += 1 + rng.Int64N(3)
			p[j] = math.Round(left*math.Exp(-6*rng.Float64()*rng.Float64())*0x1p40) / 0x1p41
			left -= p[j]
		}
		scale := 1.0
		if rng.IntN(6) == 0 {
			scale = 0x1p-900
		}
		for j := range p { // Q may have at most 1, and deep masses leave nearly all of P at infinity
			p[j] *= math.Ldexp(scale, -int(max(0, math.Ceil(-1.5*loss[0]))))
		}
		b := newBlurred(loss, p, blur, byte(i))
		b.side = rng.IntN(4)
		if rng.IntN(5) < 2 { // no mass at infinity, where Q allows that
			last := oracle.Add(b.p[n-1], b.pInf)
			q := oracle.Mul(last, oracle.Exp(oracle.F(-loss[n-1])))
			total := q
			for _, x := range b.q[:n-1] {
				total = oracle.Add(total, x)
			}
			if total.Cmp(oracle.F(1)) <= 0 {
				b.p[n-1], b.q[n-1], b.pInf = last, q, oracle.F(0)
			}
		}
		var pr profiles.Profile = b
		if rng.IntN(2) == 0 {
			pr = exactDifference{b}
		}
		holds(t, fmt.Sprintf("%d: blur %g, step %g", i, blur, step), b, pr, pld.Uniform(0, step, lo, k+2), rng)
	}
}

// The tail at the last vertex, known to a factor 2.5, counts whole: the mass of the cell before it comes on top, which is
// known from differences.
func TestLawHoldsTheErrorOfItsLastTail(t *testing.T) {
	const step, at = 0x1p-20, 0
	b := newBlurred([]float64{(at - 0.5) * step, (at + 0.5) * step}, []float64{0.7, 0.1}, 0.9, 0)
	holds(t, "last tail", b, exactDifference{b}, pld.Uniform(0, step, at-1, at+1), rand.New(rand.NewPCG(1, 2)))
}

// What moves up in a cell may be known better than the mass of the cell, and is more than it then seems to have.
func TestLawHoldsMassFromDifferences(t *testing.T) {
	const step = 0x1p-20
	b := newBlurred([]float64{-0.05 * step, 0.9 * step}, []float64{0.9, 0.1}, 0.9, 0)
	b.pInf = oracle.F(0)
	holds(t, "differences", b, exactDifference{b}, pld.Uniform(0, step, -1, 1), rand.New(rand.NewPCG(1, 2)))
}

// Losses rounded down to a vertex with an atom have together no more than the mass that there is.
func TestRoundDownAddsNoMass(t *testing.T) {
	b := newBlurred([]float64{0, 0x1p-48}, []float64{0.5, 0.5}, 0, 0)
	holds(t, "round down", b, b, pld.Uniform(0, 1, 0, 1), rand.New(rand.NewPCG(1, 3)))
}

// holds reads the laws of pr, which are to hold b, at places about the grid.
func holds(t *testing.T, name string, b *blurred, pr profiles.Profile, g pld.Grid, rng *rand.Rand) {
	t.Helper()
	up, low := pld.Discretize(pr, g)
	u, l := newReader(up), newReader(low)
	// What rounding takes from the lower law is next to nothing, where tails are known.
	if m := l.total(); b.blur == 0 && m < 1-1e-6 {
		t.Errorf("%s: lower law has mass 1 %+.3g", name, m-1)
	}
	for range 25 {
		eps := g.Step * (float64(g.Lo-1) + []float64{0, 0.5, rng.Float64()}[rng.IntN(3)] + float64(rng.Int64N(g.Hi+2-g.Lo)))
		d := b.delta(eps)
		if x := hp(0).Mul(u.at(eps-up.LossErr), hp(1+4*0x1p-53)); x.Cmp(d) < 0 {
			t.Errorf("%s: upper δ(%v) = %.20g below %.20g (%.3g of it)", name, eps, x, d, ratio(x, d))
		}
		if x := l.at(eps + low.LossErr); x.Cmp(hp(0).Mul(d, hp(1+4*0x1p-53))) > 0 {
			t.Errorf("%s: lower δ(%v) = %.20g above %.20g (%.3g of it)", name, eps, x, d, ratio(x, d))
		}
	}
}
