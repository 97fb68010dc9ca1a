package verify

// Random plans over all that the checker covers.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// A draw makes random plans.
type draw struct{ *rand.Rand }

func newRand(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(*seed, stream)) }

// log is log-uniform in [lo, hi], with three digits.
func (d draw) log(lo, hi float64) float64 {
	x, _ := strconv.ParseFloat(strconv.FormatFloat(lo*math.Exp(d.Float64()*math.Log(hi/lo)), 'g', 3, 64), 64)
	return min(max(x, lo), hi)
}

func (d draw) count(lo, hi float64) int { return int(d.log(lo, hi)) }

// records are those of a person, where a kind of plan is about persons.
var records = map[string]int{"persons": 3, "persons on samples": 4}

// kinds are the plans that the checker covers.
var kinds = []struct {
	name string
	plan func(d draw) (relation string, steps []string)
}{
	{"dp-sgd", func(d draw) (string, []string) {
		return d.relation(), []string{d.sgd()}
	}},
	{"two phases", func(d draw) (string, []string) {
		return d.relation(), []string{d.sgd(), d.sgd()}
	}},
	{"gaussian", func(d draw) (string, []string) {
		return d.relation(), []string{d.gaussian(), d.gaussian()}
	}},
	{"laplace", func(d draw) (string, []string) {
		return d.relation(), []string{fmt.Sprintf("{mechanism: {laplace: {noise-multiplier: %v}}, count: %d}", d.log(0.5, 4), d.count(60, 3000))}
	}},
	{"laplace on samples", func(d draw) (string, []string) {
		return "add-remove", []string{fmt.Sprintf("{mechanism: {laplace: {noise-multiplier: %v}}, sampling: {poisson: {rate: %v}}, count: %d}", d.log(0.5, 3), d.log(0.02, 0.5), d.count(200, 5000))}
	}},
	{"pure", func(d draw) (string, []string) {
		return d.relation(), []string{d.declared(3000)}
	}},
	{"answers", func(d draw) (string, []string) {
		return "add-remove", []string{d.response(2, 2000)}
	}},
	{"finite", func(d draw) (string, []string) {
		return "add-remove", []string{d.pair(60), d.response(5, 30)}
	}},
	{"mixed", func(d draw) (string, []string) {
		return "add-remove", []string{d.sgd(), d.declared(5), d.response(3, 5)}
	}},
	{"noises", func(d draw) (string, []string) {
		return d.relation(), []string{d.gaussian(), fmt.Sprintf("{mechanism: {laplace: {noise-multiplier: %v}}, count: %d}", d.log(2, 20), d.count(1, 50))}
	}},
	{"sampled answers", func(d draw) (string, []string) {
		return "add-remove", []string{sampled(d.declared(20), d.log(0.05, 0.9)), sampled(d.response(3, 20), d.log(0.05, 0.9))}
	}},
	{"discrete", func(d draw) (string, []string) {
		return d.relation(), []string{d.discrete(100)}
	}},
	{"whole numbers", func(d draw) (string, []string) {
		return d.relation(), []string{d.discrete(30), fmt.Sprintf("{mechanism: {discrete-laplace: {noise-multiplier: %v, sensitivity: %d}}, count: %d}", d.log(1, 10), d.count(1, 4), d.count(1, 3))}
	}},
	{"discrete and dp-sgd", func(d draw) (string, []string) {
		return d.relation(), []string{d.sgd(), d.discrete(20)}
	}},
	{"batches", func(d draw) (string, []string) {
		noise := []string{"gaussian", "laplace"}[d.IntN(2)]
		return "add-remove", []string{fmt.Sprintf("{mechanism: {%s: {noise-multiplier: %v}}, sampling: {without-replacement: {population: %d, batch: 100}}, count: %d}", noise, d.log(2, 6), d.count(300, 3000), d.count(300, 3000))}
	}},
	{"one run", func(d draw) (string, []string) {
		if d.IntN(2) == 0 {
			return d.relation(), []string{fmt.Sprintf("{mechanism: {gaussian: {noise-multiplier: %v}}, sampling: {poisson: {rate: %v}}}", d.log(0.2, 3), d.log(1e-6, 0.9))}
		}
		return "add-remove", []string{fmt.Sprintf("{mechanism: {laplace: {noise-multiplier: %v}}, sampling: {poisson: {rate: %v}}}", d.log(0.1, 2), d.log(1e-3, 0.9))}
	}},
	{"few runs", func(d draw) (string, []string) {
		noise := []string{"gaussian", "laplace"}[d.IntN(2)]
		return "add-remove", []string{fmt.Sprintf("{mechanism: {%s: {noise-multiplier: %v}}, sampling: {poisson: {rate: %v}}, count: %d}", noise, d.log(0.5, 3), d.log(0.01, 0.5), d.count(2, 10))}
	}},
	{"whole numbers on samples", func(d draw) (string, []string) {
		return "add-remove", []string{sampled(d.discrete(300), d.log(0.003, 0.3))}
	}},
	{"persons", func(d draw) (string, []string) {
		return d.relation(), []string{d.gaussian(), fmt.Sprintf("{mechanism: {laplace: {noise-multiplier: %v}}, count: %d}", d.log(10, 40), d.count(1, 20)), d.pure(5)}
	}},
	{"persons on samples", func(d draw) (string, []string) {
		return d.relation(), []string{d.sgd()}
	}},
}

// sampled is a step on a Poisson sample.
func sampled(step string, rate float64) string {
	return fmt.Sprintf("%s, sampling: {poisson: {rate: %v}}}", strings.TrimSuffix(step, "}"), rate)
}

// discrete is discrete Gaussian noise: on one number with any sensitivity, or on a vector that a record moves by 1.
func (d draw) discrete(most float64) string {
	return fmt.Sprintf("{mechanism: {discrete-gaussian: {noise-multiplier: %v, sensitivity: %d, dimension: 1}}, count: %d}", d.log(1, 20), d.count(1, 4), d.count(1, most))
}

func (d draw) relation() string {
	return []string{"add-remove", "substitute", "zero-out"}[d.IntN(3)]
}

func (d draw) sgd() string {
	return fmt.Sprintf("{mechanism: {gaussian: {noise-multiplier: %v}}, sampling: {poisson: {rate: %v}}, count: %d}", d.log(0.5, 5), d.log(1e-3, 0.3), d.count(100, 1e5))
}

func (d draw) gaussian() string {
	return fmt.Sprintf("{mechanism: {gaussian: {noise-multiplier: %v}}, count: %d}", d.log(1, 100), d.count(1, 1000))
}

func (d draw) declared(most float64) string {
	if d.IntN(2) == 0 {
		return d.pure(most)
	}
	return fmt.Sprintf("{mechanism: {approximate: {epsilon: %v, delta: %v}}, count: %d}", d.log(0.01, 0.5), d.log(1e-18, 1e-12), d.count(2, most))
}

func (d draw) pure(most float64) string {
	return fmt.Sprintf("{mechanism: {pure: {epsilon: %v}}, count: %d}", d.log(0.01, 0.5), d.count(2, most))
}

func (d draw) response(categories int, most float64) string {
	return fmt.Sprintf("{mechanism: {randomized-response: {probability: %v, categories: %d}}, count: %d}", d.log(0.2, 0.9), categories, d.count(2, most))
}

func (d draw) pair(most float64) string {
	a := d.IntN(50) + 5
	b := 5 + (a-5+1+d.IntN(49))%50 // another one: a pair that is twice the same loses nothing
	return fmt.Sprintf("{mechanism: {finite: {p: [%v, %v, 0.25], q: [%v, %v, 0.25]}}, count: %d}",
		float64(a)/128, float64(96-a)/128, float64(b)/128, float64(96-b)/128, d.count(5, most))
}
