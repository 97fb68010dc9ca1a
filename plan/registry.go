package plan

// The mechanisms and the sampling schemes of plans, a row each: name, keys, constructor.

import (
	"math"

	"github.com/dpaccountant/accountant/choice"
	"github.com/dpaccountant/accountant/darrm"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
	"github.com/dpaccountant/accountant/subsample/allocation"
)

// The mechanisms and sampling schemes that a plan can name, one entry each. The
// ranges of the parameters are the constructors' business: a fault.Error from one is
// given the parameter's line in the plan. They are functions, so that a program that reads no
// plan is linked without what only plans name (the page's first module).

func mechanisms() []entry[profiles.Mechanism] {
	return []entry[profiles.Mechanism]{
		{"gaussian", append([]string{"noise-multiplier", "standard-deviation"}, contributionKeys...), func(v *values) (profiles.Mechanism, error) {
			noise, err := v.noise("standard-deviation", 2)
			if err != nil {
				return nil, err
			}
			return profiles.NewGaussianMechanism(noise)
		}},
		{"laplace", append([]string{"noise-multiplier", "scale"}, contributionKeys...), func(v *values) (profiles.Mechanism, error) {
			noise, err := v.noise("scale", 1)
			if err != nil {
				return nil, err
			}
			return profiles.NewLaplaceMechanism(noise)
		}},
		{"gaussian-mixture", []string{"noise-multiplier", "shifts", "probabilities"}, func(v *values) (profiles.Mechanism, error) {
			return subsample.NewGaussianMixture(v.number("noise-multiplier"), v.list("shifts"), v.list("probabilities"))
		}},
		{"discrete-gaussian", []string{"noise-multiplier", "sensitivity", "dimension"}, func(v *values) (profiles.Mechanism, error) {
			noise, sensitivity, dimension := v.number("noise-multiplier"), v.wholeOr("sensitivity", 1), v.wholeOr("dimension", 0)
			switch dimension {
			case 0: // left out: any number
				return profiles.NewDiscreteGaussianMechanism(noise, sensitivity)
			case 1:
				return profiles.NewDiscreteGaussianNumber(noise, sensitivity)
			}
			return nil, fault.New("dimension", "%d is not 1, for one whole number; leave it out for a vector of any number of them", dimension)
		}},
		{"discrete-laplace", []string{"noise-multiplier", "sensitivity"}, func(v *values) (profiles.Mechanism, error) {
			return profiles.NewDiscreteLaplaceMechanism(v.number("noise-multiplier"), v.wholeOr("sensitivity", 1))
		}},
		{"randomized-response", []string{"probability", "categories"}, func(v *values) (profiles.Mechanism, error) {
			return profiles.NewRandomizedResponse(v.number("probability"), v.whole("categories"))
		}},
		{"pure", []string{"epsilon"}, func(v *values) (profiles.Mechanism, error) {
			return profiles.NewPure(v.number("epsilon"))
		}},
		{"approximate", []string{"epsilon", "delta"}, func(v *values) (profiles.Mechanism, error) {
			return profiles.NewApproximate(v.number("epsilon"), v.number("delta"))
		}},
		{"finite", []string{"p", "q"}, func(v *values) (profiles.Mechanism, error) {
			return profiles.NewFiniteMechanism(v.list("p"), v.list("q"))
		}},
		{"exponential", []string{"epsilon"}, func(v *values) (profiles.Mechanism, error) {
			return choice.NewExponential(v.number("epsilon"))
		}},
		{"permute-and-flip", []string{"epsilon"}, func(v *values) (profiles.Mechanism, error) {
			return choice.NewPermuteAndFlip(v.number("epsilon"))
		}},
		{"noisy-max", []string{"noise", "epsilon"}, func(v *values) (profiles.Mechanism, error) {
			return choice.NewNoisyMax(v.word("noise"), v.number("epsilon"))
		}},
		{"threshold", []string{"noise", "standard-deviation", "scale", "threshold", "partitions"}, func(v *values) (profiles.Mechanism, error) {
			noise, scale := v.word("noise"), 1.0
			names := map[string][2]string{"gaussian": {"standard-deviation", "scale"}, "laplace": {"scale", "standard-deviation"}, "discrete-laplace": {"scale", "standard-deviation"}}[noise]
			if names[0] != "" {
				scale = v.number(names[0])
				if v.node.get(names[1]) != nil {
					return nil, fault.New(names[1], "is set, not allowed with %s noise; set %s", noise, names[0])
				}
			}
			return choice.NewThreshold(noise, scale, v.number("threshold"), v.wholeOr("partitions", 1))
		}},
		{"select-partitions", []string{"epsilon", "delta", "partitions"}, func(v *values) (profiles.Mechanism, error) {
			return choice.NewSelectPartitions(v.number("epsilon"), v.number("delta"), v.wholeOr("partitions", 1))
		}},
		{"majority", []string{"mechanisms", "epsilon", "allowance", "delta", "output-delta", "gamma", "voter-epsilons", "voter-deltas", "classes", "answers", "answers-delta"}, func(v *values) (profiles.Mechanism, error) {
			p := darrm.Params{Mechanisms: v.whole("mechanisms"), Epsilon: v.number("epsilon"), Allowance: v.number("allowance"),
				Delta: v.numberOr("delta", 0), OutputDelta: v.numberOr("output-delta", math.NaN()), Classes: v.wholeOr("classes", 0)}
			if err := readVoters(v, &p); err != nil {
				return nil, err
			}
			return newMajority(p, v.wordOr("gamma", "optimal"), v.wholeOr("answers", 1), v.numberOr("answers-delta", 1e-5))
		}},
		{"matrix", matrixKeys, newMatrix},
	}
}

func samplings() []entry[subsample.Scheme] {
	return []entry[subsample.Scheme]{
		{"poisson", []string{"rate"}, func(v *values) (subsample.Scheme, error) {
			return subsample.NewPoisson(v.number("rate"))
		}},
		{"without-replacement", oneStage, func(v *values) (subsample.Scheme, error) {
			return subsample.NewWithoutReplacement(int64(v.whole("population")), int64(v.whole("batch")))
		}},
		{"with-replacement", oneStage, func(v *values) (subsample.Scheme, error) {
			return subsample.NewWithReplacement(int64(v.whole("population")), int64(v.whole("batch")))
		}},
		{"must-ow", twoStages, must(subsample.NewMustOW)},
		{"must-wo", twoStages, must(subsample.NewMustWO)},
		{"must-ww", twoStages, must(subsample.NewMustWW)},
		{"random-allocation", []string{"steps", "uses", "first", "redraw", "epochs"}, randomAllocation},
		{"balls-in-bins", []string{"bins", "redraw", "epochs"}, ballsInBins},
		{"shuffle", []string{"batches", "unused", "redraw", "epochs"}, shuffle},
		{"truncated-poisson", []string{"rate", "cap", "population"}, func(v *values) (subsample.Scheme, error) {
			return allocation.NewTruncated(v.number("rate"), int64(v.whole("cap")), int64(v.whole("population")))
		}},
		{"fixed-order", []string{"uses"}, func(v *values) (subsample.Scheme, error) {
			return allocation.NewFixed(int64(v.wholeOr("uses", 1)))
		}},
	}
}

// A batch of the population; with MUST, a subset of the population, then a batch of the
// subset.
var (
	oneStage  = []string{"population", "batch"}
	twoStages = []string{"population", "subset", "batch"}
)

func must(build func(population, subset, batch int64) (subsample.FixedSize, error)) func(*values) (subsample.Scheme, error) {
	return func(v *values) (subsample.Scheme, error) {
		return build(int64(v.whole("population")), int64(v.whole("subset")), int64(v.whole("batch")))
	}
}
