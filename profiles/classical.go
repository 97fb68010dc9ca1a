package profiles

import (
	"math"

	"github.com/dpaccountant/accountant/internal/fault"
)

// ClassicalSigma returns the noise of the classical Gaussian mechanism,
// sensitivity·√(2 log(1.25/δ))/ε, which is (ε, δ)-DP under the relation that the
// sensitivity is for: Dwork and Roth 2014, Theorem A.1, proved for 0 < ε < 1
// only. It is an error outside; calibrate there, which needs less noise besides.
func ClassicalSigma(epsilon, delta, sensitivity float64) (float64, error) {
	switch {
	case !(epsilon > 0 && epsilon < 1):
		return 0, fault.New("epsilon", "%v is not in (0, 1), where the classical formula is proved", epsilon)
	case !(delta > 0 && delta < 1):
		return 0, fault.New("delta", "%v is not in (0, 1)", delta)
	case !(sensitivity > 0 && !math.IsInf(sensitivity, 1)):
		return 0, fault.New("sensitivity", "%v is not in (0, ∞)", sensitivity)
	}
	return sensitivity * math.Sqrt(2*math.Log(1.25/delta)) / epsilon, nil
}

// NewClippedSum returns the Gaussian mechanism of a step of DP-SGD: noise of
// standard deviation noise is added to the sum of gradients, each clipped to norm
// clip. The noise multiplier is noise/clip; a mean over m records that gets noise
// s is a sum that gets m·s. The relation is the accountant's to choose:
// substituting one gradient moves the sum by 2·clip.
func NewClippedSum(noise, clip float64) (Base, error) {
	if !(clip > 0 && !math.IsInf(clip, 1)) {
		return nil, fault.New("clip", "%v is not in (0, ∞)", clip)
	}
	if !(noise > 0 && !math.IsInf(noise, 1)) {
		return nil, fault.New("noise", "%v is not in (0, ∞)", noise)
	}
	return NewGaussianMechanism(noise / clip)
}
