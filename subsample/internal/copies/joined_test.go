package copies

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// TestJoinedErrors: the other sides 1 − e^p and 1 − e^q of tails with an error are off by at most what is said, also
// where one of the two tails is next to 1 and the other is not, either way round.
func TestJoinedErrors(t *testing.T) {
	const err = 1e-12
	for _, c := range [][2]float64{{math.Log(0.5), -1e-9}, {-1e-9, math.Log(0.5)}, {-3, -30}, {-1e-6, -2e-6}} {
		up := fixed{profiles.Tails{P: c[0], Q: c[1], Err: err}}
		for _, eps := range []float64{1, -1} {
			x := Joined{up, up}.Tails(eps, 0)
			// The errors of both sides of P, and of Q.
			gotP, gotQ, said := x.PC, x.QC, x.ErrC
			if eps < 0 {
				gotP, gotQ, said = x.Q, x.P, x.Err
			}
			for i, got := range []float64{gotP, gotQ} {
				for _, off := range []float64{-err, err} {
					if want := math.Log(-math.Expm1(c[i] + off)); math.Abs(got-want) > said {
						t.Errorf("tails %v, ε = %v: the other side of number %d is %v, may be %v, and is said to be off by %v", c, eps, i, got, want, said)
					}
				}
			}
		}
	}
}

// TestGivenRestCarriesTheRounding: what is added to a tail rounds its logarithm, by a unit of it and one of the sum.
func TestGivenRestCarriesTheRounding(t *testing.T) {
	g := givenRest{fixed{profiles.Tails{P: -300, Q: -301, PC: -1e-9, QC: -250, Err: 1e-14, ErrC: 2e-14}}, -299, -249}
	x := g.Tails(1, 0)
	if x.Err < 1e-14+xmath.U*298 || x.ErrC < 2e-14+xmath.U*248 {
		t.Errorf("tails %v are said to be off by %v and %v", x, x.Err, x.ErrC)
	}
}

type fixed struct{ t profiles.Tails }

func (f fixed) Tails(float64, float64) profiles.Tails { return f.t }
func (f fixed) Support() profiles.Support             { return profiles.Support{} }
