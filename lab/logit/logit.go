// Package logit is the model of the experiments with digits: multinomial logistic regression
// on small pictures of them. Teachers and students are such models. It assumes pictures of
// one size; the same data and seed give the same model.
package logit

import (
	"math"
	"math/rand/v2"
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

// Label returns the likeliest label.
func (m Model) Label(x []float64) int {
	best, top := 0, math.Inf(-1)
	for c, w := range m {
		s := 0.0
		for i, v := range x {
			s += w[i] * v
		}
		if s > top {
			best, top = c, s
		}
	}
	return best
}

// Scores returns the probability of every label.
func (m Model) Scores(x []float64) []float64 {
	p := make([]float64, len(m))
	total := 0.0
	for c, w := range m {
		for i, v := range x {
			p[c] += w[i] * v
		}
		p[c] = math.Exp(p[c])
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

// Train fits a model by steps of the whole gradient. With noise, the gradient of each image is
// cut to norm 1 and Gaussian noise of this standard deviation, from rng, is added to their sum.
func Train(data []Image, labels, steps int, rate, noise float64, rng *rand.Rand) Model {
	m := newModel(labels, len(data[0].X))
	for range steps {
		sum := newModel(labels, len(data[0].X))
		for _, im := range data {
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
			if noise > 0 {
				scale = min(1, 1/math.Sqrt(norm))
			}
			for c := range p {
				for i, v := range im.X {
					sum[c][i] += scale * p[c] * v
				}
			}
		}
		for c := range m {
			for i := range m[c] {
				g := sum[c][i]
				if noise > 0 {
					g += noise * rng.NormFloat64()
				}
				m[c][i] -= rate / float64(len(data)) * g
			}
		}
	}
	return m
}
