package profiles_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dpaccountant/accountant/profiles"
)

// A count of sensitivity 1, released with noise multiplier 4 in steps of 2^−20.
func ExampleAddGaussian() {
	count := 1234.0
	noisy, err := profiles.AddGaussian(rand.NewPCG(1, 2), count, 4, 0x1p-20) // a release takes nil
	fmt.Println(math.Abs(noisy-count) < 30, math.Mod(noisy, 0x1p-20), err)
	// Output: true 0 <nil>
}

func ExampleAddLaplace() {
	_, err := profiles.AddLaplace(nil, 10, 2, 0)
	fmt.Println(err)
	// Output: grid: 0 is not in [2^-1000, 2^1000]
}

// Mean, variance and fourth moment within five standard errors; all on the grid.
func TestMoments(t *testing.T) {
	type draw = func(rand.Source, float64, float64, float64) (float64, error)
	for _, c := range []struct {
		name                   string
		draw                   draw
		second, fourth, eighth float64
	}{{"gaussian", profiles.AddGaussian, 1, 3, 105}, {"laplace", profiles.AddLaplace, 2, 24, 40320}} {
		src := rand.NewPCG(1, 2)
		const n, value, scale, grid = 50_000, 100, 3, 0x1p-30
		var m1, m2, m4 float64
		for range n {
			x, err := c.draw(src, value, scale, grid)
			if err != nil {
				t.Fatal(err)
			}
			if math.Mod(x, grid) != 0 {
				t.Fatalf("%s: %v is not on the grid", c.name, x)
			}
			z := (x - value) / scale
			m1, m2, m4 = m1+z/n, m2+z*z/n, m4+z*z*z*z/n
		}
		for _, m := range []struct{ got, want, variance float64 }{{m1, 0, c.second}, {m2, c.second, c.fourth - c.second*c.second}, {m4, c.fourth, c.eighth - c.fourth*c.fourth}} {
			if math.Abs(m.got-m.want) > 5*math.Sqrt(m.variance/n) {
				t.Errorf("%s: moment %v, want %v", c.name, m.got, m.want)
			}
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		value, scale, grid float64
		want               string
	}{
		{math.NaN(), 1, 1, "value: NaN is not finite"},
		{math.Inf(1), 1, 1, "value: +Inf is not finite"},
		{1, -1, 1, "sigma: -1 is not in [0, 1.7976931348623157e+308]"},
		{1, math.NaN(), 1, "sigma: NaN is not in [0, 1.7976931348623157e+308]"},
		{1, 1, 5e-324, "grid: 5e-324 is not in [2^-1000, 2^1000]"},
		{1, 1, -1, "grid: -1 is not in [2^-1000, 2^1000]"},
	} {
		if _, err := profiles.AddGaussian(nil, c.value, c.scale, c.grid); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	// The far ends are numbers: the largest value and the smallest grid.
	for _, x := range []float64{math.MaxFloat64, -math.MaxFloat64, 5e-324} {
		if y, err := profiles.AddLaplace(nil, x, math.MaxFloat64, 0x1p-1000); err != nil || math.IsNaN(y) {
			t.Errorf("%v: %v, %v", x, y, err)
		}
	}
	if y, err := profiles.AddLaplace(nil, 0.3, 0, 0.25); y != 0.25 || err != nil {
		t.Errorf("no noise: %v, %v", y, err)
	}
}
