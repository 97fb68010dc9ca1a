package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
)

// This file is the flags of all commands that draw: where the picture goes and how large
// it is. A command calls check before it computes, and write afterwards.

// pictureFlags are where a picture goes; file is empty for no picture.
type pictureFlags struct {
	file, dpi string
	sides     [2]string // width and height
	size      figure.Size
	set       *pflag.FlagSet
}

// The ends of what may be asked for.
const (
	leastSide, mostSide = 4 * vg.Centimeter, 100 * vg.Centimeter
	leastDPI, mostDPI   = 20, 1200
	mostPixels          = 100e6
)

// register defines the flags. what is drawn, width and height centimetres large unless
// somebody asks for another size. With an alias --out is another name of --plot.
func (f *pictureFlags) register(cmd *cobra.Command, what string, width, height float64, alias bool) {
	f.size = figure.Size{Width: vg.Length(width) * vg.Centimeter, Height: vg.Length(height) * vg.Centimeter, DPI: figure.DPI}
	f.set = cmd.Flags()
	f.set.StringVar(&f.file, "plot", "", "draw "+what+" to a `file` (.svg, .png or .pdf)")
	f.set.StringVar(&f.sides[0], "width", "", fmt.Sprintf("`width` of the picture, such as 12cm, 6in or 800px (default %vcm)", width))
	f.set.StringVar(&f.sides[1], "height", "", fmt.Sprintf("`height` of the picture (default %vcm)", height))
	f.set.StringVar(&f.dpi, "dpi", "", "dots per inch of a .png (default 192)")
	_ = cmd.MarkFlagFilename("plot", figure.Formats...)
	if alias {
		f.set.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
			if name == "out" {
				name = "plot"
			}
			return pflag.NormalizedName(name)
		})
	}
}

// check reads the size of the picture and reports what is wrong with the flags.
func (f *pictureFlags) check() error {
	format := figure.Format(f.file)
	var rules []rule
	for _, name := range []string{"width", "height", "dpi"} {
		rules = append(rules, rule{f.file == "" && f.set.Changed(name), "--" + name + " is for --plot"})
	}
	if err := keep(rules...); err != nil || f.file == "" {
		return err
	}
	switch {
	case format == "":
		return fault.New("--plot", "%q does not end in .svg, .png or .pdf", f.file)
	case f.set.Changed("dpi") && format != "png":
		return usageError{errors.New("--dpi is for .png")}
	case f.dpi != "":
		n, err := decimal.Whole(f.dpi)
		if err != nil || n < leastDPI || n > mostDPI {
			return fault.New("--dpi", "%s is not a whole number in [%d, %d]", show(f.dpi), leastDPI, mostDPI)
		}
		f.size.DPI = int(n)
	}
	pixel := 96 // of CSS
	if format == "png" {
		pixel = f.size.DPI
	}
	for i, to := range []*vg.Length{&f.size.Width, &f.size.Height} {
		if f.sides[i] == "" {
			continue
		}
		name := []string{"--width", "--height"}[i]
		l, err := length(f.sides[i], pixel)
		if err != nil {
			return fault.New(name, "%v", err)
		}
		if !(l >= leastSide && l <= mostSide) {
			return fault.New(name, "%s is not in [%vcm, %vcm]", f.sides[i], leastSide/vg.Centimeter, mostSide/vg.Centimeter)
		}
		*to = l
	}
	if dots := float64(f.size.Width/vg.Inch) * float64(f.size.Height/vg.Inch) * float64(f.size.DPI*f.size.DPI); dots > mostPixels && format == "png" {
		return fault.New("--dpi", "%d makes %.0f million dots; most are %.0f million", f.size.DPI, dots/1e6, mostPixels/1e6)
	}
	return nil
}

// length reads a length with its unit.
func length(text string, dpi int) (vg.Length, error) {
	units := map[string]vg.Length{"cm": vg.Centimeter, "mm": vg.Millimeter, "in": vg.Inch, "pt": 1, "px": vg.Inch / vg.Length(dpi)}
	for unit, l := range units {
		if number, ok := strings.CutSuffix(text, unit); ok {
			v, err := decimal.Parse(strings.TrimSpace(number))
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				break
			}
			return vg.Length(v) * l, nil
		}
	}
	if _, err := decimal.Parse(text); err == nil {
		return 0, fmt.Errorf("%s has no unit: write %[1]spx, %[1]scm or %[1]sin", text)
	}
	return 0, fmt.Errorf("%s is not a length such as 12cm, 6in or 800px", show(text))
}

// write draws the picture into the file, whole or not at all. Without a file it does nothing.
func (f *pictureFlags) write(pic *figure.Picture) error {
	if f.file == "" {
		return nil
	}
	data, err := pic.Encode(figure.Format(f.file), f.size)
	if err != nil {
		return fmt.Errorf("--plot: %w", err)
	}
	if err := writeFileAtomic(f.file, data); err != nil {
		return pathProblem("--plot", err)
	}
	return nil
}
