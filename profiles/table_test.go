package profiles

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
)

// ends returns bounds of δ(ε) by a law, with its errors on either side.
func ends(d *Discrete, eps float64) (lower, upper float64) {
	s := d.Support()
	delta := func(eps, sign float64) float64 {
		t := d.Tails(eps, 0)
		return math.Exp(t.P+sign*t.Err) - math.Exp(eps+t.Q-sign*t.Err)
	}
	return delta(eps+s.LossErr, -1), delta(eps-s.LossErr, 1)
}

// lawsOf returns the laws above and below of a table.
func lawsOf(t testing.TB, tab Table, change func(*tableErrors)) (upper, lower *Discrete) {
	t.Helper()
	m, err := tab.mechanism(change)
	if err != nil {
		t.Fatal(err)
	}
	if d, ok := m.(declared); ok {
		return d.p, d.p
	}
	return m.(tabled).upper, m.(tabled).lower
}

// deltaOf is Σ(p − e^ε·q)₊.
func deltaOf(p, q []float64, eps float64) float64 {
	var s xmath.Sum
	for i := range p {
		s.Add(max(0, p[i]-math.Exp(eps)*q[i]))
	}
	return s.Value()
}

func logsOf(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = xmath.Log(x)
	}
	return out
}

// normalLaw and laplaceLaw are laws as a user writes them.
type normalLaw struct{ mean float64 }

func (n normalLaw) LogProb(x float64) float64 { return xmath.LogNormalDensity(x - n.mean) }
func (n normalLaw) CDF(x float64) float64     { return math.Erfc((n.mean-x)/math.Sqrt2) / 2 }
func (n normalLaw) Survival(x float64) float64 {
	return math.Erfc((x-n.mean)/math.Sqrt2) / 2
}

type laplaceLaw struct{ mean float64 }

func (l laplaceLaw) LogProb(x float64) float64 { return -math.Abs(x-l.mean) - math.Ln2 }
func (l laplaceLaw) CDF(x float64) float64 {
	if x < l.mean {
		return math.Exp(x-l.mean) / 2
	}
	return 1 - math.Exp(l.mean-x)/2
}
func (l laplaceLaw) Survival(x float64) float64 { return laplaceLaw{-l.mean}.CDF(-x) }

func grid(lo, hi float64, perUnit int) []float64 {
	var at []float64
	for i := int(lo) * perUnit; i <= int(hi)*perUnit; i++ {
		at = append(at, float64(i)/float64(perUnit))
	}
	return at
}

// Tables of known densities are on both sides of their exact profiles, and four times as near with half the
// cells' length.
func TestTableOfDensities(t *testing.T) {
	gauss, _ := NewGaussian(1)
	lap, _ := NewLaplace(1)
	for _, c := range []struct {
		name  string
		p     Profile
		table func(perUnit int) (Table, error)
		order float64 // of the width in the length of cells; 0 where it is exact
	}{
		{"gaussian", gauss, func(n int) (Table, error) {
			return cellsOf(normalLaw{1}, normalLaw{0}, grid(-8, 9, n)), nil
		}, 2},
		{"laplace", lap, func(n int) (Table, error) {
			return cellsOf(laplaceLaw{1}, laplaceLaw{0}, grid(-30, 31, n)), nil
		}, 2},
		{"gaussian on a grid", gauss, func(n int) (Table, error) {
			return densities(Grid{At: grid(-8, 9, n), Curvature: 1, Err: 1e-14, Outside: 1.3e-15}, normalLaw{1}, normalLaw{0}).Table()
		}, 2},
		{"laplace on a grid", lap, func(n int) (Table, error) {
			return densities(Grid{At: grid(-36, 37, n), Kinks: []float64{0, 1}, Err: 1e-14, Outside: 3e-16}, laplaceLaw{1}, laplaceLaw{0}).Table()
		}, 2},
		{"gaussian by masses in order", gauss, func(n int) (Table, error) {
			tab := cellsOf(normalLaw{1}, normalLaw{0}, grid(-8, 9, n))
			return Table{LogP: tab.LogP, LogQ: tab.LogQ, Ascending: true, MassErr: tab.MassErr}, nil
		}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var widths [3]float64
			for k, perUnit := range []int{8, 16, 32} {
				tab, err := c.table(perUnit)
				if err != nil {
					t.Fatal(err)
				}
				upper, lower := lawsOf(t, tab, nil)
				for eps := -4.0; eps < 5; eps += 0.0137 {
					log, e := LogDelta(c.p, eps)
					truth := math.Exp(log)
					_, up := ends(upper, eps)
					down, _ := ends(lower, eps)
					if !(down <= truth*(1+e+1e-15) && truth*(1-e-1e-15) <= up) {
						t.Errorf("%d cells a unit: δ(%v) in [%v, %v], want %v", perUnit, eps, down, up, truth)
					}
					widths[k] = max(widths[k], up-down)
				}
			}
			// The leading term falls by 4; a tenth is for the next one. A stated error of 1e-14 is in masses of 1e-2.
			if c.order == 2 && !(widths[1] <= widths[0]/3 && widths[2] <= widths[1]/3) {
				t.Errorf("widths %v do not fall with the cells", widths)
			}
			if !(widths[2] <= 5e-3) {
				t.Errorf("width %v", widths[2])
			}
		})
	}
}

// densityLaw is a law as a user knows it.
type densityLaw interface{ LogProb(x float64) float64 }

// densities returns g with the logarithms of two densities at its points.
func densities(g Grid, p, q densityLaw) Grid {
	for _, x := range g.At {
		g.LogP, g.LogQ = append(g.LogP, p.LogProb(x)), append(g.LogQ, q.LogProb(x))
	}
	return g
}

// cellsOf returns the table of laws whose loss does not fall, by the cells that points cut the line into.
func cellsOf[L interface {
	densityLaw
	CDF(x float64) float64
	Survival(x float64) float64
}](p, q L, at []float64) Table {
	tab := Table{MassErr: 1e-11, LossErr: 1e-12}
	mass := func(l L, i int) float64 {
		switch {
		case i == 0:
			return xmath.Log(l.CDF(at[0]))
		case i == len(at):
			return xmath.Log(l.Survival(at[i-1]))
		case l.CDF(at[i]) < l.Survival(at[i-1]):
			return xmath.Log(l.CDF(at[i]) - l.CDF(at[i-1]))
		}
		return xmath.Log(l.Survival(at[i-1]) - l.Survival(at[i]))
	}
	for i := range len(at) + 1 {
		tab.LogP, tab.LogQ = append(tab.LogP, mass(p, i)), append(tab.LogQ, mass(q, i))
		low, high := math.Inf(-1), math.Inf(1)
		if i > 0 {
			low = p.LogProb(at[i-1]) - q.LogProb(at[i-1])
		}
		if i < len(at) {
			high = p.LogProb(at[i]) - q.LogProb(at[i])
		}
		tab.Low, tab.High = append(tab.Low, low), append(tab.High, max(low, high)) // they differ by rounding
	}
	return tab
}

// Random pairs of outcomes, put into cells, with masses and losses that are off by what is stated: all of Σ(p − e^ε·q)₊
// is between the two laws, at every corner and between.
func TestTableOfCells(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 43))
		cells, inside := 1+r.IntN(5), 1+r.IntN(4)
		p, q := []float64{r.Float64()}, []float64{r.Float64()}
		for len(p) < cells*inside {
			p, q = append(p, r.Float64()), append(q, r.Float64()*math.Exp(4*r.Float64()-2))
			switch r.IntN(12) {
			case 0:
				p[len(p)-1] = 0
			case 1:
				q[len(q)-1] = 0
			}
		}
		scale := func(xs []float64) {
			s := 0.0
			for _, x := range xs {
				s += x
			}
			for i := range xs {
				xs[i] /= s
			}
		}
		scale(p)
		scale(q)
		tab := Table{MassErr: []float64{0, 1e-3}[r.IntN(2)], LossErr: []float64{0, 1e-2}[r.IntN(2)]}
		off := func() float64 { return tab.MassErr * (2*r.Float64() - 1) }
		for c := range cells {
			var a, b float64
			low, high := math.Inf(1), math.Inf(-1)
			for i := c * inside; i < (c+1)*inside; i++ {
				a, b = a+p[i], b+q[i]
				if p[i] > 0 || q[i] > 0 {
					l := xmath.Log(p[i]) - xmath.Log(q[i])
					low, high = min(low, l), max(high, l)
				}
			}
			if a == 0 && b == 0 {
				low, high = 0, 0
			}
			if math.IsInf(low, 1) {
				low = 0
			}
			if math.IsInf(high, -1) {
				high = 0
			}
			if l := tab.LossErr; low+l <= high-l {
				low, high = low+l, high-l
			}
			tab.LogP, tab.LogQ = append(tab.LogP, xmath.Log(a)+off()), append(tab.LogQ, xmath.Log(b)+off())
			tab.Low, tab.High = append(tab.Low, low), append(tab.High, high)
		}
		upper, lower := lawsOf(t, tab, nil)
		for _, pair := range []struct {
			p, q         []float64
			upper, lower *Discrete
		}{{p, q, upper, lower}, {q, p, Reverse(upper).(*Discrete), Reverse(lower).(*Discrete)}} {
			for eps := -4.0; eps <= 4; eps += 0.125 {
				truth := deltaOf(pair.p, pair.q, eps)
				_, up := ends(pair.upper, eps)
				down, _ := ends(pair.lower, eps)
				if !(down <= truth+1e-14 && truth <= up+1e-14) {
					t.Fatalf("seed %d: δ(%v) in [%v, %v], want %v", seed, eps, down, up, truth)
				}
			}
		}
	}
}

// Each error that a table allows for is needed: without it a truth that it allows is outside.
func TestTableErrorsAreNeeded(t *testing.T) {
	const e = 1e-3
	rare := []float64{0.5, 0.5}
	for _, c := range []struct {
		name     string
		p, q     []float64 // the truth
		table    Table
		eps      float64
		below    bool
		sabotage func(*tableErrors)
	}{
		{"masses, above", rare, []float64{1e-6, 1 - 1e-6}, Table{LogP: logsOf([]float64{0.5 * math.Exp(-e), 1 - 0.5*math.Exp(-e)}), LogQ: logsOf([]float64{1e-6, 1 - 1e-6}), MassErr: e},
			8, false, func(x *tableErrors) { x.mass = 0 }},
		{"masses, below", rare, []float64{1e-6, 1 - 1e-6}, Table{LogP: logsOf([]float64{1 - 0.5*math.Exp(-e), 0.5 * math.Exp(-e)}), LogQ: logsOf([]float64{1e-6, 1 - 1e-6}), MassErr: e},
			8, true, func(x *tableErrors) { x.mass = 0 }},
		{"losses, above", rare, []float64{0.2, 0.8}, Table{LogP: logsOf([]float64{0.5 * math.Exp(-e), 1 - 0.5*math.Exp(-e)}), LogQ: logsOf([]float64{0.2, 0.8}), MassErr: e},
			math.Log(2.5) - e/2, false, func(x *tableErrors) { x.loss = 0 }},
		{"ranges", []float64{0.6, 0.4}, []float64{0.4, 0.6}, Table{LogP: logsOf([]float64{1}), LogQ: logsOf([]float64{1}),
			Low: []float64{-math.Log(1.5) + e}, High: []float64{math.Log(1.5) - e}, LossErr: e}, math.Log(1.5) - e/2, false, func(x *tableErrors) { x.widen = 0 }},
		{"ranges of masses in order", []float64{0.5, 0.5}, []float64{0.2, 0.8}, Table{LogP: logsOf([]float64{1 - 0.5*math.Exp(-e), 0.5 * math.Exp(-e)}), LogQ: logsOf([]float64{0.8, 0.2}), MassErr: e, Ascending: true},
			-9, false, nil},
		{"outside", []float64{0.5, 0.5 - e, e}, []float64{0.5, 0.5, 0}, Table{LogP: logsOf([]float64{0.5, 0.5 - e}), LogQ: logsOf([]float64{0.5, 0.5}), Outside: e},
			3, false, func(x *tableErrors) { x.outside = 0 }},
	} {
		truth := deltaOf(c.p, c.q, c.eps)
		missed := func(change func(*tableErrors)) float64 {
			upper, lower := lawsOf(t, c.table, change)
			down, _ := ends(lower, c.eps)
			_, up := ends(upper, c.eps)
			if c.below {
				return max(0, down) - truth
			}
			return truth - up
		}
		if x := missed(nil); x > 1e-15 {
			t.Errorf("%s: δ(%v) = %v is missed by %v", c.name, c.eps, truth, x)
		}
		if c.sabotage == nil {
			continue
		}
		if x := missed(c.sabotage); !(x > 1e-9) {
			t.Errorf("%s: without the error δ(%v) = %v is not missed (%v)", c.name, c.eps, truth, x)
		}
	}
}

// A table that no pair has is refused with the field, the value and what is allowed.
func TestTableRefuses(t *testing.T) {
	half := logsOf([]float64{0.5, 0.5})
	for _, c := range []struct {
		table Table
		want  string
	}{
		{Table{}, "density: p: is empty"},
		{Table{LogP: half, LogQ: half[:1]}, "q: has 1 entries, must have as many as p (2)"},
		{Table{LogP: half, LogQ: logsOf([]float64{0.5, 0.4})}, "q: sums to 0.9, must sum to 1 within 1e-09"},
		{Table{LogP: half, LogQ: []float64{0, math.NaN()}}, "q[1]: NaN is not a mass"},
		{Table{LogP: half, LogQ: half, Low: []float64{0, 0}}, "high: must be set where low is"},
		{Table{LogP: half, LogQ: half, Low: []float64{0, 0}, High: []float64{1, -1}}, "low[1]: 0 is not at most high[1]"},
		{Table{LogP: half, LogQ: half, Low: []float64{0, 0.1}, High: []float64{1, 1}}, "p[1]: and q[1], 0.5 and 0.5, have the loss 0, which is not in [0.1, 1]"},
		{Table{LogP: half, LogQ: half, Low: []float64{0, 0}, High: []float64{0, 0}, Ascending: true}, "order: is set"},
		{Table{LogP: half, LogQ: logsOf([]float64{0.3, 0.7}), Ascending: true}, "order: is ascending, but p[1]/q[1]"},
		{Table{LogP: half, LogQ: half, MassErr: 0.2}, "mass-error: 0.2 is not in [0, 0.1]"},
		{Table{LogP: half, LogQ: half, LossErr: -1}, "loss-error: -1 is not in"},
		{Table{LogP: half, LogQ: half, Outside: math.NaN()}, "outside: NaN is not in [0, 0.1]"},
		{Table{LogP: make([]float64, maxCells+1)}, "p: has 200001 entries, must have at most 200000"},
	} {
		if _, err := NewTable(c.table); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.table.MassErr, err, c.want)
		}
	}
	at := grid(-8, 9, 20)
	for _, c := range []struct {
		grid Grid
		want string
	}{
		{Grid{At: []float64{0}}, "grid: has 1 points"},
		{Grid{At: []float64{0, 1}, LogP: []float64{0, 0}}, "log-q: has 0 entries, must have as many as grid (2)"},
		{Grid{At: []float64{0, 0}, LogP: half, LogQ: half}, "grid[1]: 0 is not finite and above"},
		{Grid{At: []float64{0, 1}, LogP: half, LogQ: half, Curvature: -1}, "curvature: -1 is not in"},
		{Grid{At: []float64{0, 1}, LogP: half, LogQ: half, Kinks: []float64{0.5}}, "kinks[0]: 0.5 is not a point of grid"},
		{Grid{At: []float64{0, 1}, LogP: half, LogQ: []float64{0, math.Inf(-1)}}, "log-q[1]: -Inf is not a logarithm"},
		{Grid{At: []float64{0, 1}, LogP: half, LogQ: half, Curvature: 10}, "grid: is too coarse"},
		{Grid{At: []float64{0, 1}, LogP: half, LogQ: half, Err: 1}, "density-error: 1 is not in"},
		{densities(Grid{At: at, Curvature: 0.9, Outside: 1e-14}, normalLaw{1}, normalLaw{0}), "second derivative of about -1 near the point -7.95"},
		{densities(Grid{At: at, Curvature: 1, Outside: 1e-3}, laplaceLaw{1}, normalLaw{0}), "near the point 1, which is not within curvature 1"},
	} {
		if _, err := c.grid.Table(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("grid from %v: %v, want %q", c.grid.At[0], err, c.want)
		}
	}
}
