package main

// How the private teachers are trained is chosen on a part of their own images, never on the
// queries that the experiments report on.

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// The private teachers. Δ is the paper's, and so is ε for each image: its teachers have
// ε = 0.0892 with 11,272 images, and 0.0892·11272/1557 is 0.65.
const privateEpsilon, privateDelta = 0.6, 1e-4

// A setting is how a private teacher is trained: the images as side × side means, made alike
// by unit or not, and so many noisy gradients at a rate.
type setting struct {
	side  int
	alike bool
	steps int
	rate  float64
}

func (s setting) String() string {
	alike := "as they are"
	if s.alike {
		alike = "of mean 0 and norm 2"
	}
	return fmt.Sprintf("%d×%d means %s, %d noisy gradients, rate %g", s.side, s.side, alike, s.steps, s.rate)
}

// settings returns those that are tried.
func settings() (out []setting) {
	for _, side := range []int{4, 7, 14, 28} {
		for _, alike := range []bool{true, false} {
			for _, steps := range []int{1, 3, 10, 30} {
				for _, rate := range []float64{0.5, 2, 8} {
					out = append(out, setting{side, alike, steps, rate})
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

// teacher trains one private teacher.
func (s setting) teacher(seen []image, rng *rand.Rand) (model, error) {
	noise, err := multiplier(privateEpsilon, privateDelta, s.steps)
	if err != nil {
		return nil, err
	}
	return train(seen, 2, s.steps, s.rate, noise, rng), nil
}

// The split that the setting is chosen on: how many of the training images judge, and how
// many teachers each setting trains on the others.
const judges, trials = 300, 20

// choose returns the setting whose teachers are right most often, on average, on images that
// they were not trained on, and a table of all settings.
func choose(images []image, rng *rand.Rand) (setting, []byte, error) {
	var best setting
	most := -1.0
	var table bytes.Buffer
	fmt.Fprintln(&table, "side,alike,steps,rate,accuracy")
	for _, s := range settings() {
		seen := s.seen(images)
		right := 0
		for range trials {
			m, err := s.teacher(seen[judges:], rng)
			if err != nil {
				return best, nil, err
			}
			for _, im := range seen[:judges] {
				if m.label(im.x) == im.label {
					right++
				}
			}
		}
		share := float64(right) / float64(trials*judges)
		fmt.Fprintf(&table, "%d,%t,%d,%g,%.4f\n", s.side, s.alike, s.steps, s.rate, share)
		if share > most {
			best, most = s, share
		}
	}
	return best, table.Bytes(), nil
}
