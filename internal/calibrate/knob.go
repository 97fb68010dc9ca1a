package calibrate

import (
	"math"
	"strconv"
)

// A Knob is a positive quantity as one number between Lo and Hi, from which a search starts
// at Start.
type Knob struct {
	Lo, Hi, Start float64
	Integer       bool
	Safer         float64 // +1: a larger value costs less; −1: a smaller one
}

// unitSize is the relative distance of neighbouring values; a bit below 1e-6, so
// that values rounded to ten digits are at most 1e-6 apart.
const unitSize = 0.999e-6

// Relative is the distance of neighbouring values relative to x.
func (k *Knob) Relative(x float64) float64 {
	if k.Integer {
		return max(1, math.Floor(1e-6*x)) / x
	}
	return unitSize
}

// Unit is the distance at which a bracket is closed.
func (k *Knob) Unit(x float64) float64 {
	if k.Integer {
		return max(1, math.Floor(1e-6*x))
	}
	return 1e-6 * x
}

// Snap rounds x to a value that people can write: ten digits, or a whole number.
func (k *Knob) Snap(x float64) float64 {
	if k.Integer {
		return math.Round(x)
	}
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 9, 64), 64)
	if err != nil {
		return x
	}
	return y
}

// Clip returns the value of the range next to x.
func (k *Knob) Clip(x float64) float64 { return min(max(x, k.Lo), k.Hi) }

// Move goes n units to the safe side.
func (k *Knob) Move(x, n float64) float64 {
	if k.Integer {
		return x + k.Safer*n*k.Unit(x)
	}
	return k.Snap(x * math.Exp(k.Safer*n*unitSize))
}

// Safest returns the end of the range that is most private.
func (k *Knob) Safest() float64 {
	if k.Safer > 0 {
		return k.Hi
	}
	return k.Lo
}

// Least returns the other end.
func (k *Knob) Least() float64 {
	if k.Safer > 0 {
		return k.Lo
	}
	return k.Hi
}
