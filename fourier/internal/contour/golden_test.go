package contour

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/transform"
)

// golden is testdata/golden/contour.json.
type golden struct {
	Epsilon []struct {
		Case           string
		Rate, Sigma    float64
		Runs           int64
		Add            bool
		Delta, Epsilon string
		By             string
	}
	Distinct []struct {
		Distinct           int
		Delta, Remove, Add string
	}
	Laplace []struct {
		Scale          float64
		Runs           int64
		Delta, Epsilon string
	}
	Integral []struct {
		Period       float64
		S, A0, A1, V string
	}
}

func readGolden(t testing.TB) (g golden) {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/golden/contour.json")
	if err == nil {
		err = json.Unmarshal(data, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func number(t testing.TB, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// lastDigit returns one unit of the last digit of a decimal number without exponent.
func lastDigit(s string) float64 {
	_, decimals, _ := strings.Cut(s, ".")
	return math.Pow10(-len(decimals))
}

// poisson returns the transform of the golden cases.
func poisson(t testing.TB, q, sigma float64, add bool) transform.Transform {
	t.Helper()
	f, err := transform.NewPoissonGaussian(q, 0, sigma, 0)
	if err != nil {
		t.Fatal(err)
	}
	if add {
		f = f.Reverse()
	}
	return f
}

func describe(a EpsilonAnswer) string {
	return fmt.Sprintf("[%.15g, %.15g] width %.1e; θ=%.3g λ=%.3g, %d frequencies, %d tables, %d terms; aliasing %.0e truncation %.0e quadrature %.0e rounding %.0e",
		a.Lower, a.Upper, a.Upper-a.Lower, a.Theta, a.Lambda, a.Frequencies, a.Tables, a.Work, a.Aliasing, a.Truncation, a.Quadrature, a.Rounding)
}

// Every golden ε is inside, up to the digits it is given to, and the interval as narrow as
// asked for.
func TestGoldenEpsilon(t *testing.T) {
	for _, g := range readGolden(t).Epsilon {
		dir := "remove"
		if g.Add {
			dir = "add"
		}
		t.Run(fmt.Sprintf("%s/q=%v/sigma=%v/runs=%d/%s/%s", g.Case, g.Rate, g.Sigma, g.Runs, dir, g.Delta), func(t *testing.T) {
			c := newComposition(t, Factor{poisson(t, g.Rate, g.Sigma, g.Add), g.Runs})
			a, err := c.Epsilon(context.Background(), math.Log(number(t, g.Delta)), Options{Work: 1e8})
			t.Log(g.Epsilon, describe(a))
			if err != nil {
				t.Error(err)
			}
			e, u := number(t, g.Epsilon), lastDigit(g.Epsilon)
			if e < a.Lower-u || e > a.Upper+u {
				t.Errorf("[%.17g, %.17g] does not contain %s", a.Lower, a.Upper, g.Epsilon)
			}
		})
	}
}
