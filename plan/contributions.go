package plan

// Noise by what a person contributes: instead of a noise multiplier, a plan can have the
// noise's own scale and the limits on contributions, from which the sensitivity follows. The
// norm of a vector of L0 partitions with at most Linf in each is √L0·Linf (L2) or L0·Linf
// (L1); of n contributions in all, each of at most Linf wherever they go, n·Linf (both). The
// quotient is rounded to less noise.

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
)

// refusePersons returns an error about a limit on contributions in a plan whose unit is a person
// with several records: the limit is of persons itself.
func refusePersons(steps *node, records int64) error {
	for _, s := range steps.items {
		if inner := s.get("steps"); inner != nil {
			if err := refusePersons(inner, records); err != nil {
				return err
			}
		}
		if m := s.get("mechanism"); m != nil {
			for _, key := range contributionKeys[:2] {
				for _, name := range []string{"gaussian", "laplace"} {
					if v := m.get(name); v != nil && (v.get(key) != nil || v.get("total") != nil) {
						return v.errorf("limits what a person contributes, and records-per-person is %d: it does so already; leave one of the two out", records)
					}
				}
			}
		}
	}
	return nil
}

var contributionKeys = []string{"partitions", "per-partition", "total"}

// noise reads the noise multiplier of a mechanism whose scale is under the key scale, and whose
// sensitivity is a norm of order 1 or 2.
func (v *values) noise(scale string, order int) (float64, error) {
	has := func(key string) bool { return v.node.get(key) != nil }
	if !has(scale) {
		if i := slices.IndexFunc(contributionKeys, has); i >= 0 {
			return 0, fault.New(contributionKeys[i], "is set without %s; a noise multiplier is over the sensitivity already", scale)
		}
		return v.number("noise-multiplier"), nil
	}
	if has("noise-multiplier") {
		return 0, fault.New(scale, "is set beside noise-multiplier; a mechanism has one of the two")
	}
	if has("total") == has("partitions") {
		return 0, fault.New(scale, "needs the limits on contributions: either partitions, or total")
	}
	s, each := v.number(scale), v.numberOr("per-partition", 1)
	key, count := "partitions", float64(v.wholeOr("partitions", 0))
	if has("total") {
		key, count, order = "total", float64(v.wholeOr("total", 0)), 1
	}
	switch {
	case v.err != nil:
		return 0, v.err
	case !(s > 0) || math.IsInf(s, 1):
		return 0, fault.New(scale, "%v is not in (0, ∞)", s)
	case !(each > 0) || math.IsInf(each, 1):
		return 0, fault.New("per-partition", "%v is not in (0, ∞)", each)
	case !(count >= 1):
		return 0, fault.New(key, "%v is not at least 1", count)
	}
	if order == 2 {
		count = math.Sqrt(count)
	}
	// Three roundings: the root, the product, the quotient.
	return s / (count * each) * (1 - 0x1p-51), nil
}
