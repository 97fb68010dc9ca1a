package lp

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
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

// Rows that enter one by one, and are forgotten, lead where rows that are kept lead; right
// sides may change, and rows that only complete the first vertex leave.
func TestEnter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n := 1 + rng.IntN(8)
		c := make([]float64, n)
		for i := range c {
			c[i] = math.Round(3 * rng.Float64())
		}
		var rows [][]float64
		var sides []float64
		for i := range n + rng.IntN(40) {
			a := make([]float64, n)
			for j := range a {
				if a[j] = 2*rng.Float64() - 0.5; i < n {
					a[j] = 0
				}
			}
			if i < n {
				a[i] = 1
			}
			rows, sides = append(rows, a), append(sides, rng.Float64())
		}
		lo, hi := box(n, -1e3, 1e3)
		kept, _ := New(c, lo, hi)
		for i, a := range rows {
			if err := kept.AddRow(a, sides[i]); err != nil {
				t.Fatal(err)
			}
		}
		_, want, err := kept.Maximize(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// The first vertex is that of units whose sides are 1; they are free once other rows
		// have come, unless they are among the rows.
		start := make([]float64, n)
		for i := range start {
			start[i] = 1
		}
		s, err := NewAt(c, rows[:n], start)
		if err != nil {
			t.Fatal(err)
		}
		at := make([]int, n) // of the rows, which is at which place
		for i := range at {
			at[i] = i
		}
		first := slices.Clone(sides)
		copy(first, start)
		for _, b := range [][]float64{first, sides} {
			now := make([]float64, n)
			for place, i := range at {
				now[place] = b[i]
			}
			if err := s.Restart(now, make([]bool, n)); err != nil {
				t.Fatal(err)
			}
			for range 1000 {
				x := s.Vertex()
				enter, most := -1, 1e-12
				for i, a := range rows {
					e := -b[i]
					for j, v := range a {
						e += v * x[j]
					}
					if e > most {
						enter, most = i, e
					}
				}
				if enter < 0 {
					break
				}
				place, err := s.Enter(rows[enter], b[enter])
				if err != nil {
					t.Fatal(err)
				}
				at[place] = enter
			}
		}
		got, sum := 0.0, make([]float64, n)
		for place, y := range s.Multipliers() {
			if y < 0 {
				t.Fatalf("multiplier %v", y)
			}
			got += y * sides[at[place]]
			for j, v := range rows[at[place]] {
				sum[j] += y * v
			}
		}
		// An optimum on the box is none of the rows alone.
		if lowest := slices.Min(s.Vertex()); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) && lowest > -1e3 {
			t.Errorf("n = %d: %v, want %v", n, got, want)
		}
		for j := range sum {
			if math.Abs(sum[j]-c[j]) > 1e-9 {
				t.Errorf("multipliers make %v of c[%d] = %v", sum[j], j, c[j])
			}
		}
	}
}

// An active row that is given up leaves at the next row, whatever the ratios are.
func TestFreeRowLeaves(t *testing.T) {
	s, err := NewAt([]float64{1, 0}, [][]float64{{1, 0}, {0, 1}}, []float64{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Restart([]float64{1, 0}, []bool{false, true}); err != nil {
		t.Fatal(err)
	}
	// In the first place the ratio is 1, in the second −1/2 of a multiplier of 0.
	if place, err := s.Enter([]float64{1, -2}, 0.5); err != nil || place != 1 {
		t.Errorf("the row takes place %d (error %v), want 1", place, err)
	}
	if x := s.Vertex(); math.Abs(x[0]-1) > 1e-15 || math.Abs(x[1]-0.25) > 1e-15 {
		t.Errorf("the vertex is %v, want [1 0.25]", x)
	}
}

func TestIndependent(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		n := 1 + rng.IntN(8)
		c, cols, weights := make([]float64, n), [][]float64(nil), []float64(nil)
		for range 1 + rng.IntN(4*n) {
			a, w := make([]float64, n), rng.Float64()
			for i := range a {
				a[i] = math.Round(6*rng.Float64()) - 2
				c[i] += w * a[i]
			}
			cols, weights = append(cols, a), append(weights, w)
		}
		got, err := Independent(c, cols, weights)
		if errors.Is(err, ErrSingular) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		some := 0
		for j, w := range got {
			if w < 0 {
				t.Fatalf("weight %v", w)
			}
			if w > 0 {
				some++
			}
			for i, v := range cols[j] {
				c[i] -= w * v
			}
		}
		if some > n {
			t.Errorf("%d columns of %d numbers have weight", some, n)
		}
		for i, left := range c {
			if math.Abs(left) > 1e-9 {
				t.Errorf("n = %d, %d columns: entry %d of the sum is off by %v", n, len(cols), i, left)
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
