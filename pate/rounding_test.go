package pate

import (
	"math"
	"math/big"
	"testing"

	"github.com/dpaccountant/accountant/pate/ballots"
)

// e^x is rounded up where x is negative too, as the logarithm of a small cost is.
func TestPublishedBoundIsRoundedUp(t *testing.T) {
	for _, x := range []float64{-650, -300, -20, -1e-3, 0, 1, 200} {
		// e^x by its series at x/1024, squared ten times.
		y, sum, term := big.NewFloat(x/1024).SetPrec(400), big.NewFloat(1).SetPrec(400), big.NewFloat(1).SetPrec(400)
		for k := 1; k < 80; k++ {
			term.Mul(term, y)
			term.Quo(term, big.NewFloat(float64(k)))
			sum.Add(sum, term)
		}
		for range 10 {
			sum.Mul(sum, sum)
		}
		// A relative error of 4u·|x| of x itself is what it has to make up for.
		sum.Mul(sum, big.NewFloat(1+2*u*math.Abs(x)))
		if got := expUp(x); big.NewFloat(got).Cmp(sum) < 0 {
			t.Errorf("e^%v = %v is rounded down", x, got)
		}
	}
}

// A check that can hardly be passed at some statistic, whose cost there underflows, is no
// reason to refuse a bound.
func TestPublishWithASharpCheck(t *testing.T) {
	v, err := ballots.NewVotes([][]int64{{19, 1}, {16, 4}}, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, sigma1 := range []float64{.39, 4} {
		l, err := Account(t.Context(), v, confident{threshold: 16, sigma1: sigma1, sigma2: 4}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Publish(t.Context(), Publication{Order: 2, Beta: .02, Noise: .15, Confidence: .95}, 1e-5, nil); err != nil {
			t.Errorf("sigma1 %v: %v", sigma1, err)
		}
	}
}
