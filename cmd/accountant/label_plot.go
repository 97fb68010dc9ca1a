package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/internal/figure"
	"github.com/dpaccountant/accountant/labeldp"
)

// labelPlot draws the output law of each label.
func labelPlot(r *labeldp.Randomizer, path string) error {
	format := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	switch format {
	case "svg", "png", "pdf":
	default:
		return fmt.Errorf("plot: %q does not end in one of .svg, .png, .pdf", path)
	}
	p, err := figure.Law(r.Labels(), r.Outputs(), r.Row)
	if err != nil {
		return err
	}
	p.Title.Text = fmt.Sprintf("Output law per label: %s, ε = %v", r.Name(), r.Epsilon())
	p.Title.Padding = 2 * vg.Millimeter
	out, err := p.WriterTo(18*vg.Centimeter, 11*vg.Centimeter, format)
	if err != nil {
		return err
	}
	return produceFileAtomic(path, func(w io.Writer) error {
		_, err := out.WriteTo(w)
		return err
	})
}
