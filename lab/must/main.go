// Must regenerates the privacy tables and figures of Zhao and Liu
// (arXiv:2312.13389) and its utility experiments.
//
//	go run ./lab/must -adult adult_processed2.csv -out docs/experiments
//
// It writes must.md, must-adult.md and must-bags.md, the pictures beside them and the
// numbers of each picture. The seeds are fixed: the same program gives the same files,
// whatever the number of cores. The Adult data are the file of that name of the authors'
// repository, github.com/zhao-xingyuan/MUST (MIT); without -adult, must-adult.md is left out.
package main

import (
	"embed"
	"flag"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/lab/try"
)

//go:embed *.tmpl
var texts embed.FS

// pages are what the program writes, each with its parts.
var pages = []struct {
	name     string
	sections []func(*report)
}{
	{"must", []func(*report){
		profilesTable, alignedFigure, profilesFigure, equalFigure, sizesFigure,
		compositionTable, historicTable, table8CompositionTable, laplaceTable,
		bootstrap, regression, distinctTable,
	}},
	{"must-adult", []func(*report){adultPage}},
	{"must-bags", []func(*report){bagsPage}},
}

func main() {
	out := plots.OutFlag("docs/experiments")
	adult := flag.String("adult", "", "the authors' adult_processed2.csv; without it must-adult is left out")
	only := flag.String("pages", "must,must-adult,must-bags", "pages to write")
	quick := flag.Bool("quick", false, "few repetitions and few steps, for a look")
	flag.Parse()
	try.Main(func() {
		for _, p := range pages {
			if !slices.Contains(strings.Split(*only, ","), p.name) || p.name == "must-adult" && *adult == "" {
				continue
			}
			r := &report{dir: out(), quick: *quick, adult: *adult, page: plots.Values{}}
			for _, section := range p.sections {
				section(r)
			}
			plots.WritePage(out(), p.name, r.page.Page(string(try.Must(texts.ReadFile(p.name+".tmpl")))))
		}
	})
}

// A report collects a page.
type report struct {
	dir   string // of the pictures; none are drawn if it is empty
	quick bool
	adult string // the file of the Adult data
	page  plots.Values
}

// pick returns the number of repetitions.
func (r *report) pick(full, quick int) int {
	if r.quick {
		return quick
	}
	return full
}
