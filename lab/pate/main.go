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
		plots.Save(p.Plot, width, height, name+".svg")
		table := plots.Numbers(p.X.Label.Text, p.Y.Label.Text, 6, p.curves)
		try.Check(os.WriteFile(name+".csv", table, 0o644))
	}
}
