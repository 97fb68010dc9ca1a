package accountant

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func TestScratch(t *testing.T) {
	for _, c := range []struct{ q, s float64; n int64; al []float64 }{
		{1, 5, 4, []float64{1e-20,1e-6,1e-3,0.01, 0.1, 0.3, 0.5, 0.9, 0.999, 1-1e-9}},
		{0.01, 1, 1000, []float64{1e-6,1e-4,1e-3,0.01,0.05, 0.1, 0.3, 0.5}},
		{0.001, .8, 10000, []float64{1e-6,1e-4,1e-3,0.01,0.05, 0.1, 0.3, 0.5}},
		{0.1, 4, 2000, []float64{1e-6,1e-4,1e-3,0.01,0.05, 0.1, 0.3, 0.5}},
	} {
		g, _ := profiles.NewGaussianMechanism(c.s)
		p, _ := subsample.NewPoisson(c.q)
		a := New(AddRemove)
		if err := a.Add(Step{Mechanism: g, Sampling: p}, c.n); err != nil { t.Fatal(err) }
		start := time.Now()
		pts, err := a.TradeOff(c.al)
		if err != nil { t.Fatal(err) }
		for _, x := range pts {
			mu := math.Sqrt(float64(c.n))/c.s
			z := math.Sqrt2*math.Erfinv(1-2*x.Alpha)
			truth := math.Erfc(-(z-mu)/math.Sqrt2)/2
			fmt.Println(x.Alpha, truth, x.TypeII, x.Power, x.Direction, (x.Power.Upper-x.Power.Lower)/x.Power.Upper)
		}
		fmt.Println(time.Since(start))
		start = time.Now()
		r, err := a.Risk(nil,nil)
		fmt.Printf("%+v %v %v\n", r, err, time.Since(start))
	}
}
