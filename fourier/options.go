// What a caller may choose.

package fourier

import (
	"math"

	"github.com/dpaccountant/accountant/fourier/internal/contour"
	"github.com/dpaccountant/accountant/fourier/internal/meter"
)

// Options say how accurate an answer is wanted and what it may use.
type Options struct {
	// Relative and Absolute bound the width of the interval of ε: the larger of
	// Relative·ε and Absolute. For δ, Relative bounds the width over δ.
	Relative, Absolute float64
	// MaxPoints bounds the length of transforms and the vertices of laws: the memory,
	// in units of BytesPerPoint. Transforms have 2^26 points at the most.
	MaxPoints int
	// Work bounds what a question takes, in terms of a direct sum, about 40 ns each:
	// 0 stands for what the accuracy asked for is worth (docs/theory/accuracy.md §10). The best
	// interval proved by then is the answer, with a warning.
	Work float64
	// Transform defaults to Gonum.
	Transform Transform
	// Laws says that lattice laws alone answer where there is no closed form. Otherwise an integral of transforms
	// is asked first, which shares Theorems 1 to 3 of docs/theory/contour.md with them, and no transform.
	Laws bool
}

// BytesPerPoint is what a question takes at the most for each point of its transforms, of which
// half are frequencies: a table of laws that keeps all of them (32), and at that time that of the other end with what
// it grows out of (56), its masses and their transform (16) and its plan (24).
const BytesPerPoint = 128

// PointsIn returns how many points fit into so many bytes when an upper sum and that of an attack are asked together, of
// which up to 24 MiB are left for the program itself.
func PointsIn(bytes int64) int {
	bytes -= min(24<<20, bytes/4)
	return int(max(bytes/(3*BytesPerPoint/2), 256))
}

// DefaultOptions: an ε to 1e-3 relative or 1e-6 absolute, in at most 1 GiB.
func DefaultOptions() Options {
	return Options{Relative: 1e-3, Absolute: 1e-6, MaxPoints: 1 << 30 / BytesPerPoint, Transform: Gonum}
}

// withDefaults puts the defaults in place of fields that are zero.
func (o Options) withDefaults() Options {
	d := DefaultOptions()
	if o.Relative == 0 {
		o.Relative = d.Relative
	}
	if o.Absolute == 0 {
		o.Absolute = d.Absolute
	}
	if o.MaxPoints == 0 {
		o.MaxPoints = d.MaxPoints
	}
	if o.Work == 0 {
		o.Work = DefaultWork(o.Relative)
	}
	if o.Transform == nil {
		o.Transform = d.Transform
	}
	return o
}

// mostWork is the work limit of one question: 10 s. It decides how long an answer may take, and
// proves nothing.
const mostWork = 2.5e8 // steers: time for width

// DefaultWork is the work limit of an accuracy: 2.5e8 at 1e-3 and below, less at
// coarser ones, with the fourth root. Ordinary questions take a hundredth of it.
func DefaultWork(relative float64) float64 {
	return mostWork * min(1, math.Pow(1e-3/relative, 0.25))
}

// ErrTimeLimit is the cause (context.WithTimeoutCause) of a context that ends a
// question without making it fail: the best interval proved by then is the answer,
// with a warning.
var ErrTimeLimit = meter.ErrTimeLimit

// Reason returns a warning of a Result without the width of its interval, which is another one for each question.
func Reason(warning string) string { return meter.Reworded([]string{warning}, 0)[0] }

// A Transform computes discrete Fourier transforms of real sequences. Its methods
// are called by several goroutines at a time.
type Transform interface {
	// Name names the library.
	Name() string
	// Length returns the smallest supported even length of at least n.
	Length(n int) int
	// Coefficients returns the first len(x)/2+1 values of
	// Σ_j x_j e^{−2πi jk/len(x)}.
	Coefficients(x []float64) []complex128
	// Eta bounds ‖computed − exact‖₂/‖exact‖₂ for length n.
	Eta(n int) float64
}

// Gonum is gonum's FFTPACK real transform, the default. Package godsp has another one.
var Gonum Transform = contour.Gonum{}
