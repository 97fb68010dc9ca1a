package main

import (
	"fmt"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/internal/figure"
	"github.com/dpaccountant/accountant/labeldp"
)

// labelPlot draws the output law of each label.
func labelPlot(r *labeldp.Randomizer, path string) error {
	p, err := figure.Law(r.Labels(), r.Outputs(), r.Row)
	if err != nil {
		return err
	}
	p.Title.Text = fmt.Sprintf("Output law per label: %s, ε = %v", r.Name(), r.Epsilon())
	p.Title.Padding = 2 * vg.Millimeter
	return savePicture(p, 18*vg.Centimeter, 11*vg.Centimeter, path)
}
