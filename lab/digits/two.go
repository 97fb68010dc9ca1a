package main

// How the teachers of two digits are trained is chosen on a part of their own images, never on
// the queries that the experiments report on.

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/dpaccountant/accountant/lab/logit"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/votes"
	"github.com/dpaccountant/accountant/rdp"
)

// The private teachers. Δ is the paper's, and so is ε for each image: its teachers have
// ε = 0.0892 with 11,272 images, and 0.0892·11272/1557 is 0.65.
const privateEpsilon, privateDelta = 0.6, 1e-4

// A recipe is how teachers are trained: private ones each on all images with noise, others on
// disjoint parts without; the images as side × side means, made alike by unit or not; and so
// many gradients at a rate.
type recipe struct {
	private bool
	side    int
	alike   bool
	steps   int
	rate    float64
}

func (s recipe) String() string {
	alike := "as they are"
	if s.alike {
		alike = "of mean 0 and norm 2"
	}
	return fmt.Sprintf("%d×%d means %s, %d gradients, rate %g", s.side, s.side, alike, s.steps, s.rate)
}

// recipes returns those that are tried.
func recipes(private bool) (out []recipe) {
	lengths := []int{30, 100, 300}
	if private {
		lengths = []int{1, 3, 10, 30}
	}
	for _, side := range []int{4, 7, 14, 28} {
		for _, alike := range []bool{true, false} {
			for _, s := range trained(lengths, 0.5, 2, 8) {
				s.private, s.side, s.alike = private, side, alike
				out = append(out, s)
			}
		}
	}
	return out
}

// trained returns recipes of numbers of gradients and rates.
func trained(lengths []int, rates ...float64) (out []recipe) {
	for _, steps := range lengths {
		for _, rate := range rates {
			out = append(out, recipe{steps: steps, rate: rate})
		}
	}
	return out
}

// A picture is a digit, or one of two, which have the labels 0 and 1.
type picture struct {
	pixels []float64
	label  int
}

// seen returns the pictures as a recipe shows them.
func (s recipe) seen(pictures []picture) (out []logit.Image) {
	for _, p := range pictures {
		out = append(out, logit.New(logit.Features(p.pixels, s.side, s.alike), p.label))
	}
	return out
}

// teachers trains so many of them.
func (s recipe) teachers(seen []logit.Image, labels, count int, rng *rand.Rand) (out []logit.Model) {
	training, n := logit.Training{Steps: s.steps, Rate: s.rate}, len(seen)/count
	if s.private {
		training.Clip, training.Noise = 1, multiplier(privateEpsilon, privateDelta, s.steps)
	}
	for i := range count {
		part := seen
		if !s.private {
			part = seen[i*n : (i+1)*n]
		}
		out = append(out, training.Train(part, labels, rng))
	}
	return out
}

// multiplier returns the noise of one of so many Gaussian steps that are together
// (ε, Δ)-DP, to add or remove one image.
func multiplier(epsilon, delta float64, steps int) float64 {
	return math.Sqrt(float64(steps)) / try.Must(rdp.MuWithin(epsilon, delta))
}

// The split that a recipe is chosen on: how many of the training images judge the teachers
// that it trains on the others.
const judges = 300

// choose returns the recipe whose teachers are right most often, on average, on images that
// they were not trained on, and a table of all of them.
func choose(images []picture, private bool, rng *rand.Rand) (best recipe, table []byte) {
	most := -1.0
	var b bytes.Buffer
	fmt.Fprintln(&b, "side,alike,steps,rate,accuracy")
	for _, s := range recipes(private) {
		seen := s.seen(images)
		teachers := s.teachers(seen[judges:], 2, 11, rng)
		right := int64(0)
		for _, q := range ask(teachers, seen[:judges]) {
			right += q.Counts(2)[q.Label]
		}
		share := float64(right) / float64(11*judges)
		fmt.Fprintf(&b, "%d,%t,%d,%g,%.4f\n", s.side, s.alike, s.steps, s.rate, share)
		if share > most {
			best, most = s, share
		}
	}
	return best, b.Bytes()
}

// forMajority writes what lab/darrm reads.
func forMajority(all []picture, out string, write func(name, about string, qs []votes.Row), rng *rand.Rand) {
	var two []picture
	for _, p := range all {
		if p.label == 5 || p.label == 8 {
			two = append(two, picture{p.pixels, (p.label - 5) / 3})
		}
	}
	held, rest := two[:250], two[250:]
	for _, of := range []struct {
		name, about string
		private     bool
	}{
		{"shards", "on disjoint parts, no privacy", false},
		{"private", fmt.Sprintf("each on all of them and (%g, %g)-DP", privateEpsilon, privateDelta), true},
	} {
		best, table := choose(rest, of.private, rng)
		try.Check(os.WriteFile(filepath.Join(out, "digits-58-"+of.name+".csv"), table, 0o644))
		teachers := best.teachers(best.seen(rest), 2, 11, rng)
		about := fmt.Sprintf("digits 5 (label 0) and 8 (1); 11 teachers on %d images, %s: %v (the best of the table beside)", len(rest), of.about, best)
		write("digits-58-"+of.name+".gz", about, ask(teachers, best.seen(held)))
	}
}
