package votes

import (
	_ "embed"
	"fmt"
	"math"
	"os"

	"github.com/dpaccountant/accountant/lab/logit"
)

// A pixel of a small picture is in [−2, 2] and kept as a whole number of steps.
const pixelSteps, mostSteps = 16, 32

// WriteImages writes the images, with lines about them, to a file: whole or not at all.
func WriteImages(path string, about []string, images []logit.Image) {
	var rows []Row
	for _, im := range images {
		r := Row{Label: im.Label}
		for _, v := range im.X[:logit.Pixels] {
			r.Numbers = append(r.Numbers, int(math.Round(min(max(v, -2), 2)*pixelSteps)))
		}
		rows = append(rows, r)
	}
	Write(path, about, rows)
}

//go:embed testdata/digits-images.gz
var digits []byte

// Digits returns the 2,000 real digits that are in the repository, in an order that says nothing.
func Digits() ([]logit.Image, error) { return images("digits-images.gz", digits) }

// ReadImages returns the images of a file, with pixels rounded to 1/16.
func ReadImages(path string) ([]logit.Image, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return images(path, data)
}

func images(name string, data []byte) (out []logit.Image, err error) {
	rows, err := Decode(name, data, -mostSteps, mostSteps)
	for i, r := range rows {
		if len(r.Numbers) != logit.Pixels {
			return nil, fmt.Errorf("%s: row %d: %d numbers are not %d pixels", name, i, len(r.Numbers), logit.Pixels)
		}
		x := make([]float64, logit.Pixels)
		for i, n := range r.Numbers {
			x[i] = float64(n) / pixelSteps
		}
		out = append(out, logit.New(x, r.Label))
	}
	return out, err
}
