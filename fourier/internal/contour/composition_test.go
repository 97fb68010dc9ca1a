package contour

import (
	"context"
	"errors"
	"math"
	"reflect"
	"runtime"
	"testing"

	"github.com/dpaccountant/accountant/internal/transform"
)

func meets(a, b EpsilonAnswer) bool { return a.Lower <= b.Upper && b.Lower <= a.Upper }

func ask(t testing.TB, c *Composition, delta float64, opt Options) EpsilonAnswer {
	t.Helper()
	a, err := c.Epsilon(context.Background(), math.Log(delta), opt)
	if err != nil {
		t.Fatalf("%v: %s", err, describe(a))
	}
	return a
}

// Golden values of distinct steps, and of Laplace noise: two atoms and a density.
func TestGoldenDistinct(t *testing.T) {
	for _, g := range readGolden(t).Distinct {
		if g.Distinct > 100 && testing.Short() || g.Distinct > 1000 {
			continue // 10,000 are in BenchmarkDistinct
		}
		for _, k := range []struct {
			add  bool
			want string
		}{{false, g.Remove}, {true, g.Add}} {
			a := ask(t, newComposition(t, distinct(t, g.Distinct, k.add)...), number(t, g.Delta), Options{})
			if e, u := number(t, k.want), lastDigit(k.want); e < a.Lower-u || e > a.Upper+u {
				t.Errorf("%d distinct, add %v: %s does not contain %s", g.Distinct, k.add, describe(a), k.want)
			}
		}
	}
}

func TestGoldenLaplace(t *testing.T) {
	for _, g := range readGolden(t).Laplace {
		a := ask(t, newComposition(t, Factor{laplace{1 / g.Scale}, g.Runs}), number(t, g.Delta), Options{})
		if e, u := number(t, g.Epsilon), lastDigit(g.Epsilon); e < a.Lower-u || e > a.Upper+u {
			t.Errorf("%s does not contain %s", describe(a), g.Epsilon)
		}
	}
}

// A running total: one more step and a larger count are answered from the table that is
// there, and agree with a fresh start.
func TestRunningTotalKeepsItsTable(t *testing.T) {
	opt := Options{Reserve: 0.3}
	factors := distinct(t, 40, false)
	c := newComposition(t, factors...)
	ask(t, c, 1e-6, opt)
	made := 0
	for i := range 4 {
		f := Factor{poisson(t, 0.011+1e-4*float64(i), 1.1, false), 10}
		factors = append(factors, f)
		if _, err := c.Add(f); err != nil {
			t.Fatal(err)
		}
		a := ask(t, c, 1e-6, opt)
		made += a.Tables
		if b := ask(t, newComposition(t, factors...), 1e-6, Options{}); !meets(a, b) {
			t.Errorf("after %d more: %s, fresh %s", i+1, describe(a), describe(b))
		}
	}
	factors[3].Count += 5
	if err := c.SetCount(3, factors[3].Count); err != nil {
		t.Fatal(err)
	}
	a := ask(t, c, 1e-6, opt)
	made += a.Tables
	if b := ask(t, newComposition(t, factors...), 1e-6, Options{}); !meets(a, b) {
		t.Errorf("after a larger count: %s, fresh %s", describe(a), describe(b))
	}
	if made > 1 {
		t.Errorf("5 changes made %d tables", made)
	}
}

// A column that is added to the sums gives the same bits as all of them summed at once.
func TestColumnsAddUpToTheSameBits(t *testing.T) {
	factors := distinct(t, 30, false)
	p := plan{theta: 2, h: 0.5, sHigh: 5, sLow: -3, n: 60}
	whole := tableFor(t, newComposition(t, factors...), p)
	c := newComposition(t, factors[:20]...)
	part := tableFor(t, c, p)
	for _, f := range factors[20:] {
		if _, err := c.Add(f); err != nil {
			t.Fatal(err)
		}
		if err := part.extend(context.Background(), c, nil); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := whole.read(1, &c.scale), part.read(1, &c.scale); a != b || math.IsNaN(a.mid) {
		t.Errorf("%+v at once, %+v one by one", a, b)
	}
}

// A curve of 200 values of δ from few tables, each point as narrow as asked for; the δ of
// the other question lies on it.
func TestCurveFromFewTables(t *testing.T) {
	f := poisson(t, 0.01, 1, false)
	c := newComposition(t, Factor{f, 1000})
	tables := 0
	last := math.Inf(1)
	for i := range 200 {
		delta := math.Exp(math.Log(1e-12) + float64(i)/199*math.Log(1e10))
		a := ask(t, c, delta, Options{})
		tables += a.Tables
		if a.Lower > last {
			t.Errorf("ε(%v) = %s is above the value at a smaller δ", delta, describe(a))
		}
		last = a.Upper
		if i%20 == 0 {
			d, err := c.Delta(context.Background(), a.Estimate, Options{})
			if err != nil || math.Abs(d.LogLower-math.Log(delta)) > 1e-7 {
				t.Errorf("δ(%v) = %+v, %v, want %v", a.Estimate, d, err, math.Log(delta))
			}
		}
	}
	if tables > 3 {
		t.Errorf("200 points took %d tables", tables)
	}
}

// The same bits on any number of cores.
func TestSameBitsOnAnyNumberOfCores(t *testing.T) {
	run := func(n int) EpsilonAnswer {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
		return ask(t, newComposition(t, distinct(t, 70, false)...), 1e-6, Options{})
	}
	one := run(1)
	for _, n := range []int{2, 5} {
		if many := run(n); !reflect.DeepEqual(one, many) {
			t.Errorf("%+v on one core, %+v on %d", one, many, n)
		}
	}
}

// A limit of work ends a question with an error that says so, and with what is proved: above, at least Chernoff's bound.
func TestWorkLimit(t *testing.T) {
	c := newComposition(t, Factor{poisson(t, 0.001, 1, false), 30})
	a, err := c.Epsilon(context.Background(), math.Log(1e-5), Options{Work: 1e5})
	var not *NotServed
	if !errors.As(err, &not) || a.Work+not.Work <= 1e5 {
		t.Fatalf("%v: %s", err, describe(a))
	}
	if a.Work > 1e5 || !(a.Lower <= 0.0351721824 && 0.0351721824 <= a.Upper && a.Upper < 0.63) {
		t.Errorf("took %d terms for [%v, %v]", a.Work, a.Lower, a.Upper)
	}
	d, err := newComposition(t, Factor{poisson(t, 0.001, 1, false), 30}).Delta(context.Background(), 0.0351721824, Options{Work: 1e5})
	if !errors.As(err, &not) || !(d.LogLower <= math.Log(1e-5) && math.Log(1e-5) <= d.LogUpper && d.LogUpper < -4) {
		t.Errorf("log δ is in [%v, %v], %v", d.LogLower, d.LogUpper, err)
	}
}

// still is a transform whose modulus does not fall: a loss on a lattice.
type still struct{ gauss }

func (s still) Line(ctx context.Context, theta, tMax, tol float64, n int) (transform.Line, error) {
	l, err := s.gauss.Line(ctx, theta, tMax, tol, n)
	return stillLine{l}, err
}

type stillLine struct{ transform.Line }

func (l stillLine) Decay(float64) float64 {
	re, _, err := l.LogM(0)
	return re + err
}

func TestNoDecayIsNotServed(t *testing.T) {
	for _, count := range []int64{1, 1e6} {
		a, err := newComposition(t, Factor{still{gauss{mu: 0.01}}, count}).Epsilon(context.Background(), math.Log(1e-5), Options{})
		var not *NotServed
		if !errors.As(err, &not) {
			t.Errorf("%v: %s", err, describe(a))
		}
	}
}

// Cancelled means a prompt return with the context's error and no table more.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := newComposition(t, distinct(t, 20, false)...)
	cancel()
	if _, err := c.Epsilon(ctx, math.Log(1e-5), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("ε: %v", err)
	}
	if _, err := c.Delta(ctx, 1, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("δ: %v", err)
	}
	if len(c.tables) != 0 {
		t.Errorf("%d tables", len(c.tables))
	}
	// In the middle of a table's extension: nothing is changed.
	ask(t, c, 1e-5, Options{})
	before := len(c.tables[0].columns)
	if _, err := c.Add(distinct(t, 20, true)[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Epsilon(ctx, math.Log(1e-5), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after an addition: %v", err)
	}
	if after := len(c.tables[0].columns); after != before {
		t.Errorf("%d columns, before %d", after, before)
	}
}

func TestBadInput(t *testing.T) {
	g := gauss{mu: 1}
	for _, f := range []Factor{{nil, 1}, {g, 0}, {g, -3}} {
		if _, err := New(f); err == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
	c := newComposition(t, Factor{g, 1})
	for _, x := range []float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := c.Epsilon(context.Background(), x, Options{}); err == nil {
			t.Errorf("log δ = %v is accepted", x)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := c.Delta(context.Background(), x, Options{}); err == nil {
			t.Errorf("ε = %v is accepted", x)
		}
	}
	for _, o := range []Options{{Relative: -1}, {Absolute: math.NaN()}, {Reserve: math.Inf(1)}, {Work: -1}} {
		if _, err := c.Delta(context.Background(), 1, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if err := c.SetCount(1, 5); err == nil {
		t.Error("a factor that is not there is accepted")
	}
	if err := c.SetCount(0, 0); err == nil {
		t.Error("a count of 0 is accepted")
	}
	if _, err := newComposition(t).Epsilon(context.Background(), -1, Options{}); err == nil {
		t.Error("no factors are accepted")
	}
}

func distinct(t testing.TB, n int, add bool) []Factor {
	f := make([]Factor, n)
	for i := range f {
		q := 0.005 + 0.01*float64(i)/float64(n)
		sigma := 0.8 + 1.2*float64((7*i)%n)/float64(n)
		f[i] = Factor{poisson(t, q, sigma, add), 10}
	}
	return f
}
