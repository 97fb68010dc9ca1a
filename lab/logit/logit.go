// Package logit is the model of the experiments with digits: multinomial logistic regression
// on small pictures of them. Teachers and students are such models. It assumes pictures of
// one size; the same data and seed give the same model.
package logit

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Pixels is the number of means of 4×4 pixels in the pictures that the PATE files hold.
const Pixels = 49

// An Image is a picture, its numbers and a constant, and its right label.
type Image struct {
	X     []float64
	Label int
}

// New returns the image with these pixels.
func New(pixels []float64, label int) Image {
	return Image{append(append([]float64{}, pixels...), 0.1), label} // small: labels are about as frequent
}

// A Model has the weights of each label.
type Model [][]float64

func newModel(labels, size int) Model {
	m := make(Model, labels)
	for c := range m {
		m[c] = make([]float64, size)
	}
	return m
}

// logits returns the logarithms of the odds of the labels, up to what they have in common.
func (m Model) logits(x []float64) []float64 {
	p := make([]float64, len(m))
	for c, w := range m {
		for i, v := range x {
			p[c] += w[i] * v
		}
	}
	return p
}

// Label returns the likeliest label.
func (m Model) Label(x []float64) int { return floats.MaxIdx(m.logits(x)) }

// Scores returns the probability of every label.
func (m Model) Scores(x []float64) []float64 {
	p := m.logits(x)
	top, total := slices.Max(p), 0.0
	for c := range p {
		p[c] = math.Exp(p[c] - top)
		total += p[c]
	}
	for c := range p {
		p[c] /= total
	}
	return p
}

// Right returns the share of images whose label the model finds.
func (m Model) Right(images []Image) float64 {
	n := 0
	for _, im := range images {
		if m.Label(im.X) == im.Label {
			n++
		}
	}
	return float64(n) / float64(len(images))
}

// A Training is how a model is fitted: by steps of the gradient, each at a rate.
type Training struct {
	Steps int
	Rate  float64
	// Sample is the chance of an image to be in a step, all of them if it is 0.
	Sample float64
	// With Clip, the gradient of each image is cut to this norm; Gaussian noise of Noise · Clip
	// is added to their sum.
	Clip, Noise float64
}

// Train fits a model, with samples and noise from rng.
func (t Training) Train(data []Image, labels int, rng *rand.Rand) Model {
	m := newModel(labels, len(data[0].X))
	for range t.Steps {
		sum := newModel(labels, len(data[0].X))
		for _, im := range data {
			if t.Sample > 0 && rng.Float64() >= t.Sample {
				continue
			}
			p := m.Scores(im.X)
			norm, x2 := 0.0, 0.0
			for _, v := range im.X {
				x2 += v * v
			}
			p[im.Label]--
			for _, v := range p {
				norm += v * v * x2
			}
			scale := 1.0
			if t.Clip > 0 {
				scale = min(1, t.Clip/math.Sqrt(norm+1e-300))
			}
			for c := range p {
				for i, v := range im.X {
					sum[c][i] += scale * p[c] * v
				}
			}
		}
		size := float64(len(data))
		if t.Sample > 0 {
			size *= t.Sample
		}
		for c := range m {
			for i := range m[c] {
				g := sum[c][i]
				if t.Noise > 0 {
					g += t.Noise * t.Clip * rng.NormFloat64()
				}
				m[c][i] -= t.Rate / size * g
			}
		}
	}
	return m
}
