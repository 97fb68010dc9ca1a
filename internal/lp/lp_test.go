package lp

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func box(n int, lo, hi float64) (l, h []float64) {
	for range n {
		l, h = append(l, lo), append(h, hi)
	}
	return l, h
}

func TestMaximize(t *testing.T) {
	for _, c := range []struct {
		name string
		c    []float64
		hi   float64
		rows [][]float64 // a..., b
		want []float64
	}{
		{"box", []float64{1, -1}, 3, nil, []float64{3, 0}},
		// Dantzig's textbook example: max 3x + 5y, x ≤ 4, 2y ≤ 12, 3x + 2y ≤ 18.
		{"textbook", []float64{3, 5}, 100, [][]float64{{1, 0, 4}, {0, 2, 12}, {3, 2, 18}}, []float64{2, 6}},
		{"one row", []float64{1, 2, 3}, 1, [][]float64{{1, 1, 1, 1.5}}, []float64{0, 0.5, 1}},
		{"one row, negative", []float64{-1, -2, -3}, 1, [][]float64{{-1, -1, -1, -1.5}}, []float64{1, 0.5, 0}},
		// Beale's example, on which the primal simplex cycles with Dantzig's rule.
		{"Beale", []float64{0.75, -150, 0.02, -6}, 10,
			[][]float64{{0.25, -60, -0.04, 9, 0}, {0.5, -90, -0.02, 3, 0}, {0, 0, 1, 0, 1}}, []float64{0.04, 0, 1, 0}},
	} {
		lo, hi := box(len(c.c), 0, c.hi)
		s, err := New(c.c, lo, hi)
		if err != nil {
			t.Fatal(err)
		}
		n := len(c.c)
		for _, r := range c.rows {
			if err := s.AddRow(r[:n], r[n]); err != nil {
				t.Fatal(err)
			}
		}
		x, v, err := s.Maximize(t.Context())
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := 0.0
		for i, w := range c.want {
			want += w * c.c[i]
			if math.Abs(x[i]-w) > 1e-12 {
				t.Errorf("%s: x = %v, want %v", c.name, x, c.want)
				break
			}
		}
		if math.Abs(v-want) > 1e-12 {
			t.Errorf("%s: value %v, want %v", c.name, v, want)
		}
	}
}

func TestInfeasible(t *testing.T) {
	lo, hi := box(2, 0, 1)
	s, _ := New([]float64{1, 1}, lo, hi)
	if err := s.AddRow([]float64{-1, -1}, -2.5); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Maximize(t.Context()); !errors.Is(err, ErrInfeasible) {
		t.Errorf("x + y ≥ 2.5 in the unit box: error %v, want ErrInfeasible", err)
	}
	s, _ = New([]float64{1, 1}, lo, hi)
	if err := s.AddRow([]float64{0, 0}, -1); !errors.Is(err, ErrInfeasible) {
		t.Errorf("0 ≤ −1: error %v, want ErrInfeasible", err)
	}
}

func TestBadInput(t *testing.T) {
	nan := math.NaN()
	for _, c := range [][3][]float64{
		{nil, nil, nil},
		{{1}, {0}, {1, 2}},
		{{nan}, {0}, {1}},
		{{1}, {nan}, {1}},
		{{1}, {2}, {1}},
		{{1}, {0}, {math.Inf(1)}},
	} {
		if _, err := New(c[0], c[1], c[2]); err == nil {
			t.Errorf("New(%v) has no error", c)
		}
	}
	s, _ := New([]float64{1}, []float64{0}, []float64{1})
	if s.AddRow([]float64{1, 2}, 0) == nil || s.AddRow([]float64{nan}, 0) == nil || s.AddRow([]float64{1}, nan) == nil {
		t.Error("AddRow accepts a bad row")
	}
}

// Random programs with rows added in two batches: the answer is feasible, and
// optimal because its multipliers are a dual solution of the same value.
func TestWeakDuality(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n, m := 1+rng.IntN(12), rng.IntN(40)
		c := make([]float64, n)
		for i := range c {
			c[i] = math.Round(4 * rng.NormFloat64()) // ties and zeros
		}
		lo, hi := box(n, -1, 2)
		s, err := New(c, lo, hi)
		if err != nil {
			t.Fatal(err)
		}
		var rows [][]float64
		var side []float64
		for batch := range 2 {
			for range m / 2 {
				a := make([]float64, n)
				for i := range a {
					a[i] = math.Round(2 * rng.NormFloat64())
				}
				b := 0.0
				if batch == 1 {
					b = rng.Float64()
				}
				rows, side = append(rows, a), append(side, b)
				if err := s.AddRow(a, b); err != nil {
					t.Fatal(err)
				}
			}
			x, v, err := s.Maximize(t.Context())
			if err != nil {
				t.Fatalf("n=%d m=%d: %v", n, m, err)
			}
			for r, a := range rows {
				e := -side[r]
				for i, w := range a {
					e += w * x[i]
				}
				if e > 1e-11 {
					t.Fatalf("row %d is exceeded by %g", r, e)
				}
			}
			dual := 0.0
			rest := append([]float64(nil), c...)
			for k, a := range s.active {
				if s.y[k] < -1e-11 {
					t.Fatalf("multiplier %g of %v is negative", s.y[k], a)
				}
				s.normal(a, -s.y[k], rest)
				dual += s.y[k] * s.side(a)
			}
			for i, e := range rest {
				if math.Abs(e) > 1e-10 {
					t.Fatalf("the multipliers leave %g of c[%d]", e, i)
				}
			}
			if math.Abs(dual-v) > 1e-10*(1+math.Abs(v)) {
				t.Fatalf("value %v, dual bound %v", v, dual)
			}
		}
	}
}

// All normals of a highly degenerate vertex meet in one point.
func TestDegenerate(t *testing.T) {
	const n = 30
	rng := rand.New(rand.NewPCG(3, 4))
	c := make([]float64, n)
	for i := range c {
		c[i] = 1
	}
	lo, hi := box(n, 0, 1)
	s, _ := New(c, lo, hi)
	for range 400 {
		a, b := make([]float64, n), 0.0
		for i := range a {
			a[i] = rng.Float64()
			b += a[i] / 2
		}
		if err := s.AddRow(a, b); err != nil {
			t.Fatal(err)
		}
	}
	x, v, err := s.Maximize(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// x ≡ ½ is feasible.
	if v < n/2.-1e-11 {
		t.Errorf("value %v below the feasible %v (x = %v)", v, n/2., x)
	}
}
