// Package votes reads and writes what the experiments with digits keep: rows of a right label and small numbers. Those
// are the votes of teachers for an image, or the pixels of one. A file is gzip-compressed JSON: where the rows are from, and
// each row with its label first.
//
//	{"About": ["…"], "Rows": [[7, 7, 7, 7, 1, 7], …]}
package votes

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/dpaccountant/accountant/lab/logit"
	"github.com/dpaccountant/accountant/lab/try"
)

// A Row is the right label of an image and what belongs to it, such as the label that each teacher votes for.
type Row struct {
	Label   int
	Numbers []int
}

// Counts returns how many teachers vote for each of so many labels.
func (r Row) Counts(labels int) []int64 {
	out := make([]int64, labels)
	for _, v := range r.Numbers {
		out[v]++
	}
	return out
}

type file struct {
	About []string
	Rows  [][]int
}

// Read returns the rows of a file, whose labels are in [0, 9] and whose numbers are in [least, most], of each row as many.
func Read(path string, least, most int) ([]Row, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Decode(path, data, least, most)
}

// Decode is Read for what a file holds; errors have its name.
func Decode(name string, data []byte, least, most int) (out []Row, err error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var f file
	if err := json.NewDecoder(z).Decode(&f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i, r := range f.Rows {
		if len(r) < 2 || len(r) != len(f.Rows[0]) || r[0] < 0 || r[0] > 9 || slices.Min(r[1:]) < least || slices.Max(r[1:]) > most {
			return nil, fmt.Errorf("%s: row %d: %v is not a label in [0, 9] and as many numbers in [%d, %d] as before", name, i, r, least, most)
		}
		out = append(out, Row{r[0], r[1:]})
	}
	return out, nil
}

// Write writes rows, with lines about them, to a file: whole or not at all.
func Write(path string, about []string, rows []Row) {
	f := file{About: about}
	for _, r := range rows {
		f.Rows = append(f.Rows, append([]int{r.Label}, r.Numbers...))
	}
	var b bytes.Buffer
	z := try.Must(gzip.NewWriterLevel(&b, gzip.BestCompression))
	try.Must(z.Write(try.Must(json.Marshal(f))))
	try.Check(z.Close())
	part := path + ".part"
	try.Check(os.WriteFile(part, b.Bytes(), 0o644))
	try.Check(os.Rename(part, path))
}

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
