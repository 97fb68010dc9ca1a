// Command pate reproduces what can be reproduced, without its votes, of the tables of Papernot et
// al., "Scalable Private Learning with PATE" (ICLR 2018). It shows the rest on synthetic votes and
// on the votes of teachers on real digits (lab/digits). It writes docs/experiments/pate.md and
// pate-digits.md, their figures and their numbers.
//
//	go run ./lab/pate -out docs/experiments [-only paper|digits]
package main

import (
	"flag"
	"os"
	"path/filepath"
	"slices"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
)

func main() {
	out := plots.OutFlag("docs/experiments")
	only := flag.String("only", "", "page to write: paper or digits (default both)")
	from := flag.String("votes", "lab/votes/testdata", "`directory` of the votes on digits")
	flag.Parse()
	try.Main(func() {
		if *only != "digits" {
			run(out())
		}
		if *only != "paper" {
			digits(*from, out())
		}
	})
}

func run(out string) {
	plots.WritePage(out, "pate", page())
	for _, f := range figures {
		p := f.draw()
		name := filepath.Join(out, "pate-"+f.name)
		plots.Save(name+".svg", size, []figure.Picture{p})
		named := slices.DeleteFunc(p.Bands, func(b figure.Band) bool { return b.Name == "" })
		try.Check(os.WriteFile(name+".csv", plots.Numbers(p.X.Label, p.Y.Label, 6, named), 0o644))
	}
}
