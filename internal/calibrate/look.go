package calibrate

// A search for budgets that are met or not, without a number for how nearly.

import "math"

// Look returns the least careful value of the knob that is found to meet a budget, in so
// many looks; the answer means nothing if none does.
func (k *Knob) Look(most int, meets func(x float64) (bool, error)) (float64, error) {
	// From where the plan is, away until the budget is between two values.
	x := k.Clip(k.Snap(k.Start))
	first, err := meets(x)
	if err != nil {
		return x, err
	}
	in, out := x, x
	looks := 1
	for factor := 2.0; looks < most; factor *= factor {
		next := k.Clip(k.Snap(x * factor))
		if (k.Safer > 0) == first { // down
			next = k.Clip(k.Snap(x / factor))
		}
		if next == x {
			return x, nil // the end of the range
		}
		ok, err := meets(next)
		if err != nil {
			return x, err
		}
		looks++
		if x = next; ok {
			in = next
		} else {
			out = next
		}
		if ok != first {
			break
		}
	}
	for ; looks < most; looks++ {
		mid := k.Snap(math.Sqrt(in) * math.Sqrt(out))
		if mid == in || mid == out || math.Abs(in-out) <= k.Unit(in) {
			break
		}
		ok, err := meets(mid)
		if err != nil {
			return x, err
		}
		if ok {
			in = mid
		} else {
			out = mid
		}
	}
	return in, nil
}
