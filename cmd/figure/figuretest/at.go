// Package figuretest has what tests of pictures share.
package figuretest

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"gonum.org/v1/plot/plotter"
)

// At returns the largest and the least value that a drawn line has at x.
func At(line plotter.XYs, x float64, logX, logY bool) (most, least float64) {
	most, least = math.Inf(-1), math.Inf(1)
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		if x < a.X || x > b.X {
			continue
		}
		share := (x - a.X) / (b.X - a.X)
		if logX {
			share = xmath.Log(x/a.X) / xmath.Log(b.X/a.X)
		}
		ys := []float64{a.Y + share*(b.Y-a.Y)}
		if logY {
			ys[0] = math.Exp(xmath.Log(a.Y) + share*xmath.Log(b.Y/a.Y))
		}
		if !(b.X > a.X) {
			ys = []float64{a.Y, b.Y}
		}
		for _, y := range ys {
			most, least = max(most, y), min(least, y)
		}
	}
	return most, least
}
