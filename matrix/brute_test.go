package matrix

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/profiles"
)

// dense returns C of a strategy, m×n.
func dense(s Strategy, n int) [][]float64 {
	var rows [][]float64
	switch {
	case s.kind == tree:
		t := newBinary(n, s.completion)
		for l := range t.levels() {
			for a := range t.n >> l {
				r := make([]float64, n)
				for j := a << l; j < min(n, (a+1)<<l); j++ {
					r[j] = 1
				}
				rows = append(rows, r)
			}
		}
	case s.kind == banded:
		for _, x := range s.rows {
			r := make([]float64, n)
			copy(r[x.from:], x.values)
			rows = append(rows, r)
		}
	default:
		c, _ := s.toeplitzCoefficients(n)
		for i := range n {
			r := make([]float64, n)
			for j := range i + 1 {
				if i-j < len(c) {
					r[j] = c[i-j].hi
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// patterns calls f with every pattern of a schema.
func patterns(n int, p Participation, f func([]int)) {
	b, k := p.over(n)
	if p.kind == epochs {
		for j := range b {
			f(stride(j, b, k, n))
		}
		return
	}
	for set := 1; set < 1<<n; set++ {
		var pattern []int
		for i := range n {
			if set>>i&1 == 1 {
				pattern = append(pattern, i)
			}
		}
		ok := len(pattern) <= k
		for i := 1; i < len(pattern); i++ {
			ok = ok && pattern[i]-pattern[i-1] >= b
		}
		if ok {
			f(pattern)
		}
	}
}

// bruteForce returns the largest |Σ u_i c_i| over patterns and signs, and the root of the
// largest Σ |X_ij|: the sensitivity is between the two.
func bruteForce(c [][]float64, n int, p Participation) (reached, bound float64) {
	patterns(n, p, func(pattern []int) {
		sum := 0.0
		for _, i := range pattern {
			for _, j := range pattern {
				x := 0.0
				for _, r := range c {
					x += r[i] * r[j]
				}
				sum += math.Abs(x)
			}
		}
		bound = max(bound, math.Sqrt(sum))
		for signs := range 1 << (len(pattern) - 1) {
			sum := 0.0
			for _, r := range c {
				v := 0.0
				for s, i := range pattern {
					if signs>>s&1 == 1 {
						v -= r[i]
					} else {
						v += r[i]
					}
				}
				sum += v * v
			}
			reached = max(reached, math.Sqrt(sum))
		}
	})
	return
}

// randomStrategy returns a matrix of n steps: non-negative, of mixed signs, or banded.
func randomStrategy(r *rand.Rand, n int) Strategy {
	sign := func() float64 {
		return 1
	}
	if r.IntN(2) == 0 {
		sign = func() float64 { return float64(2*r.IntN(2) - 1) }
	}
	switch r.IntN(6) {
	case 0:
		c := make([]float64, 1+r.IntN(n))
		for i := range c {
			c[i] = sign() * (0.01 + r.Float64())
		}
		return must(Toeplitz(c))
	case 1:
		return rooted(1 + r.IntN(n))
	case 2:
		return must(BLT([]float64{r.Float64(), r.Float64()}, []float64{r.Float64(), r.Float64()}))
	case 3:
		return Tree(r.IntN(2) == 0)
	}
	bands := 1 + r.IntN(n)
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
		for j := max(0, i-bands+1); j <= i; j++ {
			rows[i][j] = sign() * (0.01 + r.Float64())
		}
	}
	return must(Rows(rows))
}

// TestSensitivityBruteForce: lower ≤ what all patterns and signs reach, upper ≥ that and, where
// the sensitivity is said to be exact, equal.
func TestSensitivityBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 3))
	for range 400 {
		n := 2 + r.IntN(9)
		s := randomStrategy(r, n)
		p := separated(1+r.IntN(n), 1+r.IntN(n))
		switch r.IntN(4) {
		case 0:
			p = Single()
		case 1:
			for k := n; k > 0; k-- {
				if n%k == 0 && r.IntN(2) == 0 {
					p = must(Epochs(k))
					break
				}
			}
		}
		got := sensitivity(t, s, n, p)
		reached, bound := bruteForce(dense(s, n), n, p)
		const rounding = 1e-13
		if got.Lower > reached*(1+rounding) || got.Upper < reached*(1-rounding) || got.Upper > 2*bound {
			t.Errorf("%v of %d steps, %v: %+v; reached %v, bound %v", s, n, p, got, reached, bound)
		}
		if got.Exact && got.Upper > reached*(1+rounding) {
			t.Errorf("%v of %d steps, %v: %+v is said to be exact; reached %v", s, n, p, got, reached)
		}
	}
}

// TestDenseIsExactWithoutSigns: up to 64 steps the worst pattern of a non-negative matrix
// is found.
func TestDenseIsExactWithoutSigns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 60 {
		n := 4 + r.IntN(7)
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, i+1)
			for j := range rows[i] {
				rows[i][j] = 0.01 + r.Float64()
			}
		}
		p := separated(1+r.IntN(3), 2+r.IntN(3))
		s := must(Rows(rows))
		got := sensitivity(t, s, n, p)
		if reached, _ := bruteForce(dense(s, n), n, p); got.Lower < reached*(1-1e-13) || got.Upper > reached*(1+1e-10) {
			t.Errorf("%v: %+v, reached %v", p, got, reached)
		}
	}
}

// TestIntervalHoldsTheExactValue compares with 400 bits: 300 steps of a square root, and of
// a list of awkward numbers, several participations.
func TestIntervalHoldsTheExactValue(t *testing.T) {
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	const n, b, k = 300, 7, 30
	list := make([]float64, 50)
	for i := range list {
		list[i] = 1 / (1 + float64(i)*0.37)
	}
	root := []*big.Float{num(1)}
	for i := 1; i < n; i++ {
		x := new(big.Float).Mul(root[i-1], num(float64(2*i-1)))
		root = append(root, x.Quo(x, num(float64(2*i))))
	}
	var exactList []*big.Float
	for _, x := range list {
		exactList = append(exactList, num(x))
	}
	for name, c := range map[string]struct {
		s Strategy
		c []*big.Float
	}{"square root": {rooted(n), root}, "list": {must(Toeplitz(list)), exactList}} {
		total := num(0)
		for i := range n {
			v := num(0)
			for s := range k {
				if j := i - s*b; j >= 0 && j < len(c.c) {
					v.Add(v, c.c[j])
				}
			}
			total.Add(total, v.Mul(v, v))
		}
		total.Sqrt(total)
		got := sensitivity(t, c.s, n, separated(b, k))
		if num(got.Lower).Cmp(total) > 0 || num(got.Upper).Cmp(total) < 0 || got.Upper > math.Nextafter(math.Nextafter(got.Lower, 9e9), 9e9) {
			t.Errorf("%s: [%v, %v] does not hold %v", name, got.Lower, got.Upper, total)
		}
	}
}

// TestSensitivityIsMonotone in coefficients, in the number of participations, and against
// the separation.
func TestSensitivityIsMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	const n = 60
	for range 30 {
		c := make([]float64, n)
		for i := range c {
			c[i] = 0.01 + r.Float64()
		}
		larger := append([]float64(nil), c...)
		larger[r.IntN(n)] *= 1.5
		at := func(c []float64, b, k int) float64 {
			return sensitivity(t, must(Toeplitz(c)), n, separated(b, k)).Upper
		}
		b, k := 2+r.IntN(10), 1+r.IntN(6)
		base := at(c, b, k) * (1 - 1e-9)
		if at(larger, b, k) < base || at(c, b, k+1) < base || at(c, b-1, k) < base {
			t.Errorf("b = %d, k = %d: not monotone", b, k)
		}
	}
}

// TestMixedSignsAreAnInterval: nothing is said to be exact where it is not known.
func TestMixedSignsAreAnInterval(t *testing.T) {
	for _, s := range []Strategy{must(Toeplitz([]float64{1, -0.5, 0.25})), must(Rows([][]float64{{1}, {-0.5, 1}, {0.25, -0.5, 1}}))} {
		got := sensitivity(t, s, 3, separated(1, 3))
		if reached, bound := bruteForce(dense(s, 3), 3, separated(1, 3)); got.Exact || got.Lower > reached+1e-12 || got.Upper < bound-1e-12 {
			t.Errorf("%v: %+v, reached %v, bound %v", s, got, reached, bound)
		}
	}
}

// TestShortListsArePaddedWithZeros: the length of a list of coefficients is not the number
// of steps (jax_privacy#238).
func TestShortListsArePaddedWithZeros(t *testing.T) {
	short, padded := []float64{1, 0.5, 0.25}, make([]float64, 100)
	copy(padded, short)
	p := separated(10, 10)
	a, b := sensitivity(t, must(Toeplitz(short)), 100, p), sensitivity(t, must(Toeplitz(padded)), 100, p)
	if want := math.Sqrt(10 * (1 + 0.25 + 0.0625)); a != b || math.Abs(a.Upper-want) > 1e-14 {
		t.Errorf("%+v, %+v, want %v", a, b, want)
	}
}

// TestCancelled: a long sensitivity ends with its context.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := Config{1, 3, must(Rows([][]float64{{1}, {1, 1}, {1, 1, 1}})), separated(1, 3)}
	if _, err := c.sensitivity(ctx); err != context.Canceled {
		t.Error(err)
	}
}

// TestCalibrationIsCancelled: a calibration looks for the range of noise of a dense matrix under its own context.
func TestCalibrationIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	run := must(New(Config{1, 3, must(Rows([][]float64{{1}, {1, 1}, {1, 1, 1}})), separated(1, 3)})).(*run)
	p := &accountant.Plan{Neighbors: profiles.AddRemove, Steps: []accountant.Step{{Mechanism: run}}}
	if _, err := accountant.Calibrate(ctx, p, accountant.Goal{Epsilon: 1, Delta: 1e-5, Solve: accountant.NoiseMultiplier}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if run.known.found {
		t.Error("the sensitivity was found after the context ended")
	}
	if _, err := accountant.Calibrate(t.Context(), p, accountant.Goal{Epsilon: 1, Delta: 1e-5, Solve: accountant.NoiseMultiplier}); err != nil {
		t.Error(err)
	}
}
