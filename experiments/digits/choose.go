package main

// How the teachers of two digits are trained is chosen on a part of their own images, never on
// the queries that the experiments report on.

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// The private teachers. Δ is the paper's, and so is ε for each image: its teachers have
// ε = 0.0892 with 11,272 images, and 0.0892·11272/1557 is 0.65.
const privateEpsilon, privateDelta = 0.6, 1e-4

// A setting is how teachers are trained: private ones each on all images with noise, others on
// disjoint parts without; the images as side × side means, made alike by unit or not; and so
// many gradients at a rate.
type setting struct {
	private bool
	side    int
	alike   bool
	steps   int
	rate    float64
}

func (s setting) String() string {
	alike := "as they are"
	if s.alike {
		alike = "of mean 0 and norm 2"
	}
	return fmt.Sprintf("%d×%d means %s, %d gradients, rate %g", s.side, s.side, alike, s.steps, s.rate)
}

// settings returns those that are tried.
func settings(private bool) (out []setting) {
	lengths := []int{30, 100, 300}
	if private {
		lengths = []int{1, 3, 10, 30}
	}
	for _, side := range []int{4, 7, 14, 28} {
		for _, alike := range []bool{true, false} {
			for _, steps := range lengths {
				for _, rate := range []float64{0.5, 2, 8} {
					out = append(out, setting{private, side, alike, steps, rate})
				}
			}
		}
	}
	return out
}

// seen returns the images as a setting shows them.
func (s setting) seen(images []image) []image {
	out := make([]image, len(images))
	for i, im := range images {
		out[i] = image{features(im.pixels, s.side, s.alike), im.label, im.pixels}
	}
	return out
}

// teachers trains so many of them.
func (s setting) teachers(seen []image, count int, rng *rand.Rand) (out []model, err error) {
	noise, n := 0.0, len(seen)/count
	if s.private {
		if noise, err = multiplier(privateEpsilon, privateDelta, s.steps); err != nil {
			return nil, err
		}
	}
	for i := range count {
		part := seen
		if !s.private {
			part = seen[i*n : (i+1)*n]
		}
		out = append(out, train(part, 2, s.steps, s.rate, noise, rng))
	}
	return out, nil
}

// The split that a setting is chosen on: how many of the training images judge the teachers
// that it trains on the others.
const judges = 300

// choose returns the setting whose teachers are right most often, on average, on images that
// they were not trained on, and a table of all settings.
func choose(images []image, private bool, rng *rand.Rand) (best setting, table []byte, err error) {
	most := -1.0
	var b bytes.Buffer
	fmt.Fprintln(&b, "side,alike,steps,rate,accuracy")
	for _, s := range settings(private) {
		seen := s.seen(images)
		teachers, err := s.teachers(seen[judges:], 11, rng)
		if err != nil {
			return best, nil, err
		}
		right := 0
		for _, q := range ask(teachers, seen[:judges]) {
			right += q.Counts(2)[q.Label]
		}
		share := float64(right) / float64(11*judges)
		fmt.Fprintf(&b, "%d,%t,%d,%g,%.4f\n", s.side, s.alike, s.steps, s.rate, share)
		if share > most {
			best, most = s, share
		}
	}
	return best, b.Bytes(), nil
}
