package plan

// Noise by what a person contributes: instead of a noise multiplier, a plan can have the
// noise's own scale and the limits on contributions, from which the sensitivity follows. The
// norm of a vector of L0 partitions with at most Linf in each is √L0·Linf (L2) or L0·Linf
// (L1); of n contributions in all, each of at most Linf wherever they go, n·Linf (both). The
// quotient is rounded to less noise. With clamp: [low, high], the range that values are clamped to, per-partition and total are
// numbers of records, each of at most max(|low|, |high|).

import (
	"math"
	"slices"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
)

// refusePersons returns an error about a limit on contributions in a plan whose unit is a person
// with several records: the limit is of persons itself.
func refusePersons(steps *node, records int64) error {
	for _, s := range steps.items {
		for _, key := range []string{"steps", "disjoint"} {
			if inner := s.get(key); inner != nil {
				if err := refusePersons(inner, records); err != nil {
					return err
				}
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

var contributionKeys = []string{"partitions", "per-partition", "total", "clamp"}

// noiseScales are the mechanisms whose noise may be given by its own scale, the key of that, and the order of the norm that is
// the sensitivity.
var noiseScales = map[string]struct {
	key   string
	order int
}{"gaussian": {"standard-deviation", 2}, "laplace": {"scale", 1}}

// noise reads the noise multiplier of a mechanism with such a scale.
func (v *values) noise(mechanism string) (float64, error) {
	scale, order := noiseScales[mechanism].key, noiseScales[mechanism].order
	if !v.has(scale) {
		if i := slices.IndexFunc(contributionKeys, v.has); i >= 0 {
			return 0, fault.New(contributionKeys[i], "is set without %s; a noise multiplier is over the sensitivity already", scale)
		}
		return v.number("noise-multiplier"), nil
	}
	if v.has("noise-multiplier") {
		return 0, fault.New(scale, "is set beside noise-multiplier; a mechanism has one of the two")
	}
	if v.has("total") == v.has("partitions") {
		return 0, fault.New(scale, "needs the limits on contributions: either partitions, or total")
	}
	s, each := v.number(scale), v.numberOr("per-partition", 1)
	key, count := "partitions", float64(v.wholeOr("partitions", 0))
	if v.has("total") {
		key, count, order = "total", float64(v.wholeOr("total", 0)), 1
	}
	if v.has("clamp") {
		ends := v.list("clamp")
		if v.err == nil && (len(ends) != 2 || !(ends[0] < ends[1])) {
			return 0, fault.New("clamp", "is not [low, high], two numbers of which the first is smaller")
		}
		if v.err == nil {
			each *= max(math.Abs(ends[0]), math.Abs(ends[1])) * (1 + 0x1p-51) // and the rounding of this product
		}
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

// The schemes with a schedule for each epoch, of which a count is of epochs: random
// allocation and shuffled batches. Where the draw is kept for several epochs, the plan
// has to say for how many: a count would be of draws.

func randomAllocation(v *values) (subsample.Scheme, error) {
	s, err := allocation.NewRandom(int64(v.whole("steps")))
	if err == nil && v.has("uses") {
		s, err = s.WithUses(int64(v.whole("uses")))
	}
	if err == nil && v.has("first") {
		s, err = s.First(int64(v.whole("first")))
	}
	if err == nil {
		s, err = withEpochs(v, s, "each-epoch")
	}
	return s, err
}

// ballsInBins is random allocation under the name that libraries of matrix factorization
// give to the kind that is drawn once. As others mean the other kind, the plan says which.
func ballsInBins(v *values) (subsample.Scheme, error) {
	s, err := allocation.NewRandom(int64(v.whole("bins")))
	if err != nil {
		return s, fault.Rename(err, func(field string) string {
			if field == "steps" {
				return "bins"
			}
			return field
		})
	}
	return withEpochs(v, s, "")
}

func shuffle(v *values) (subsample.Scheme, error) {
	s, err := allocation.NewShuffle(int64(v.whole("batches")))
	if err == nil && v.has("unused") {
		s, err = s.WithUnused(v.number("unused"))
	}
	if err == nil {
		s, err = withEpochs(v, s, "each-epoch")
	}
	return s, err
}

// withEpochs reads redraw, which has a preset or must be there, and epochs, which must be
// there if the draw is kept.
func withEpochs[S interface {
	WithEpochs(int64) (S, error)
	WithOneDraw(int64) (S, error)
}](v *values, s S, preset string) (S, error) {
	word := preset
	if v.has("redraw") {
		word = v.word("redraw")
	}
	switch {
	case v.err != nil:
		return s, nil
	case word == "":
		return s, fault.New("redraw", "is missing; must be each-epoch, where every record draws a bin anew for each epoch, or once, where it keeps it: that costs far more")
	case word != "each-epoch" && word != "once":
		return s, fault.New("redraw", "%s is not a way to redraw; %s", nearest.Quote(word), nearest.Hint(word, []string{"each-epoch", "once"}))
	}
	epochs := int64(1)
	switch {
	case v.has("epochs"):
		epochs = int64(v.whole("epochs"))
	case word == "once":
		return s, fault.New("epochs", "is missing; must be how many epochs one draw is kept for, and count that of draws, often 1")
	}
	switch {
	case v.err != nil:
		return s, nil
	case word == "once":
		return s.WithOneDraw(epochs)
	}
	return s.WithEpochs(epochs)
}
