package votes

// Small pictures, as a file like that of votes: a line an image, its right label and after a
// blank a character for each pixel.

import (
	"bytes"
	_ "embed"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/dpaccountant/accountant/lab/logit"
)

// A pixel is in [−2, 2] and is written as the character number middle + pixelSteps times it, rounded.
const middle, pixelSteps = 'P', 16

// WriteImages writes the images, with lines about them, to a file: whole or not at all.
func WriteImages(path string, about []string, images []logit.Image) {
	write(path, about, func(b *bytes.Buffer) {
		for _, im := range images {
			fmt.Fprintf(b, "%d ", im.Label)
			for _, v := range im.X[:logit.Pixels] {
				b.WriteByte(byte(middle + math.Round(min(max(v, -2), 2)*pixelSteps)))
			}
			b.WriteByte('\n')
		}
	})
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
	return out, lines(name, data, func(line string) error {
		label, pixels, ok := strings.Cut(line, " ")
		if !ok || len(label) != 1 || label[0] < '0' || label[0] > '9' || len(pixels) != logit.Pixels {
			return fmt.Errorf("%q is not a label and %d pixels", line, logit.Pixels)
		}
		x := make([]float64, logit.Pixels)
		for i := range x {
			if x[i] = (float64(pixels[i]) - middle) / pixelSteps; math.Abs(x[i]) > 2 {
				return fmt.Errorf("%q is not a pixel", pixels[i])
			}
		}
		out = append(out, logit.New(x, int(label[0]-'0')))
		return nil
	})
}
