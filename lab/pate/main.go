// Command pate reproduces what can be reproduced, without its votes, of the
// tables of Papernot et al., "Scalable Private Learning with PATE" (ICLR 2018),
// and shows the rest on synthetic votes and on the votes of teachers on real digits
// (lab/digits). It writes docs/experiments/pate.md and pate-digits.md,
// their figures and their numbers.
//
//	go run ./lab/pate -out docs/experiments [-only paper|digits]
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dpaccountant/accountant/lab/plots"
)

func main() {
	out := plots.OutFlag("docs/experiments")
	format := flag.String("format", "svg", "format of the figures: svg or png")
	only := flag.String("only", "", "page to write: paper or digits (default both)")
	from := flag.String("votes", "lab/votes/testdata", "`directory` of the votes on digits")
	flag.Parse()
	var err error
	if *only != "digits" {
		err = run(out(), *format)
	}
	if err == nil && *only != "paper" {
		err = digits(*from, out(), *format)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pate:", err)
		os.Exit(1)
	}
}

func run(out, format string) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "pate.md"), b.Bytes(), 0o644); err != nil {
		return err
	}
	for _, f := range figures {
		p, err := f.draw()
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		name := filepath.Join(out, "pate-"+f.name)
		if err := plots.Save(p.Plot, width, height, name+"."+format); err != nil {
			return err
		}
		table, err := plots.Numbers(p.X.Label.Text, p.Y.Label.Text, 6, p.curves)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name+".csv", table, 0o644); err != nil {
			return err
		}
	}
	return nil
}
