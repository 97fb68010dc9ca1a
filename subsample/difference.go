// Differences of tails of sampled profiles, which keep their digits where tails agree.

package subsample

import (
	"math"

	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/profiles"
)

// LogTailDifference implements profiles.TailDifferencer:
// (1−rate)·Q + rate·P − Q = rate·(P − Q).
func (p poisson) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	d, ok := p.base.(profiles.TailDifferencer)
	if !ok {
		return 0, math.Inf(1)
	}
	if !(eps > p.log1m) {
		return 0, math.Inf(1)
	}
	y, dy := p.inverse(eps, 0)
	y, dy, _, _ = p.snap(eps, y, dy)
	if tol > 0 {
		_, both := p.inverse(eps, tol)
		dy += both
	}
	if math.IsInf(y, 0) || !(dy < 1) {
		return 0, math.Inf(1)
	}
	logDiff, err = d.LogTailDifference(y, dy)
	logDiff += p.logRate
	return logDiff, err + 2*xmath.U*(math.Abs(logDiff)+math.Abs(p.logRate))
}

// LogTailDifference implements profiles.TailDifferencer.
func (e envelope) LogTailDifference(eps, tol float64) (logDiff, err float64) {
	if eps >= 0 {
		return e.up.LogTailDifference(eps, tol)
	}
	return e.down.LogTailDifference(math.Nextafter(-eps, math.Inf(-1)), tol+2*xmath.U*math.Abs(eps))
}
