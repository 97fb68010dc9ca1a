// What a question is answered with.

package fourier

import (
	"fmt"
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

// An Engine is how an answer was computed.
type Engine string

// The engines.
const (
	ClosedForm Engine = "closed form" // tails of one mechanism, or a list of all losses
	Contour    Engine = "contour"     // an integral of transforms, of laws where a step has none
	Lattice    Engine = "lattice"     // laws above and below, composed by an FFT
)

// A Budget splits the width of an interval by cause, in units of the answer.
// Discretization is that of lattices, Quadrature that of transforms; each engine has
// the other two in its own way.
type Budget struct {
	Discretization float64 `json:"discretization"`
	Quadrature     float64 `json:"quadrature"`
	Truncation     float64 `json:"truncation"`
	Aliasing       float64 `json:"aliasing"`
	RoundOff       float64 `json:"round-off"`
}

// A Result is a certified interval for the composition of the given profiles.
type Result struct {
	Lower, Estimate, Upper float64
	// Loose says that the interval is so wide, by more than a tenth of its upper end,
	// that Estimate is only its middle and says nothing of where the truth is.
	Loose       bool
	Budget      Budget
	Engine      Engine
	Frequencies int     // at which the contour engine summed
	Points      int     // length of the transforms of lattices
	Step        float64 // lattice step
	// Theta and Period are the line of the integral that the answer is of, and its period in ε; 0 if there
	// was none.
	Theta, Period float64
	Warnings      []string
}

// exactly is an interval of one number.
func exactly(x float64) Result {
	return Result{Lower: x, Estimate: x, Upper: x, Engine: ClosedForm}
}

// unknown is what holds before an engine was asked.
func unknown(lower, upper float64) Result {
	return Result{Lower: lower, Upper: upper, Estimate: math.NaN()}
}

// Narrowed returns the result with warnings of the width that it has now: of an
// interval that was narrowed by what is known from elsewhere.
func (r Result) Narrowed() Result {
	r.Warnings = meter.Reworded(r.Warnings, r.Upper-r.Lower)
	return r
}

// both intersects what the two engines prove; the rest is that of the narrower one.
func both(a, b Result) Result {
	if !(a.Upper-a.Lower <= b.Upper-b.Lower) {
		a, b = b, a
	}
	a.Lower, a.Upper = max(a.Lower, b.Lower), min(a.Upper, b.Upper)
	return a.Narrowed()
}

// warned is checked of an answer that is wide if so is said: without a reason yet, it is rounding.
func warned(r Result, wide bool) (Result, error) {
	if wide && r.Lower != r.Upper && len(r.Warnings) == 0 {
		r.Warnings = []string{meter.Warning(meter.ErrRounding, r.Upper-r.Lower)}
	}
	return checked(r)
}

// checked places the estimate within the interval, which must be one.
func checked(r Result) (Result, error) {
	if !(r.Lower <= r.Upper) {
		return Result{}, fmt.Errorf("internal error: lower bound %v is above upper bound %v; please report the steps", r.Lower, r.Upper)
	}
	if math.IsNaN(r.Estimate) {
		r.Estimate = r.Upper
	}
	if r.Engine == "" {
		r.Engine = ClosedForm
	}
	r.Estimate = min(max(r.Estimate, r.Lower), r.Upper)
	if r.loose() {
		// What an end says of the truth, or a law that is far from the other, is no
		// estimate.
		r.Loose, r.Estimate = true, r.Lower+(r.Upper-r.Lower)/2
	}
	return r, nil
}

// loose reports whether an interval is short of what was asked, and by far.
func (r Result) loose() bool {
	return len(r.Warnings) > 0 && r.far() && !math.IsInf(r.Upper-r.Lower, 1)
}

// far reports whether the ends are far apart.
func (r Result) far() bool { return !(r.Upper-r.Lower <= looseWidth*math.Abs(r.Upper)) }

const looseWidth = 0.1 // steers: when an estimate is no estimate
