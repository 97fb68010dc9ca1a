// Must regenerates the privacy tables and figures of Zhao and Liu
// (arXiv:2312.13389) and its utility experiments on synthetic data.
//
//	go run ./experiments/must -out docs/experiments
//
// It writes must.md and the pictures beside it. The seeds are fixed: the same
// program gives the same files, whatever the number of cores.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// sections are the parts of the page, in order. None depends on another.
var sections = []func(*report) error{
	intro, profilesTable, alignedFigure, profilesFigure, equalFigure, sizesFigure,
	compositionTable, historicTable, laplaceTable,
	bootstrap, regression, logistic, distinctTable,
}

func main() {
	out := flag.String("out", "docs/experiments", "folder for must.md and its pictures")
	quick := flag.Bool("quick", false, "few repetitions and few steps, for a look")
	flag.Parse()
	text, err := page(*out, *quick)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*out, "must.md"), text, 0o644); err != nil {
		log.Fatal(err)
	}
}

// page writes the pictures and returns the text. Sections run at the same time.
func page(dir string, quick bool) ([]byte, error) {
	reports := make([]report, len(sections))
	errs := make([]error, len(sections))
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i, section := range sections {
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			reports[i] = report{dir: dir, quick: quick}
			errs[i] = section(&reports[i])
		}()
	}
	wg.Wait()
	var all bytes.Buffer
	for i := range reports {
		if errs[i] != nil {
			return nil, errs[i]
		}
		all.Write(reports[i].text.Bytes())
	}
	return all.Bytes(), nil
}

// A report collects a section.
type report struct {
	dir   string // of the pictures; none are drawn if it is empty
	quick bool
	text  bytes.Buffer
}

func (r *report) printf(format string, args ...any) { fmt.Fprintf(&r.text, format, args...) }

// pick returns the number of repetitions.
func (r *report) pick(full, quick int) int {
	if r.quick {
		return quick
	}
	return full
}

func intro(r *report) error {
	r.printf(`# MUST: the paper's experiments, recomputed

Zhao and Liu, *Enhancing Trade-offs in Privacy, Utility, and Computational Efficiency through MUltistage Sampling Technique*
(arXiv:2312.13389). This page is written by

    go run ./experiments/must -out docs/experiments

What it means is told in [../theory/must-composition.md](../theory/must-composition.md). The relation is substitution unless told. Figures and
tables are called as in the paper. MUST.WO is sampling with replacement (the paper's Corollary 6) and has no rows of its own.

| in the paper | here |
|---|---|
| Figures 1–3 | diagrams, without numbers |
| Table 3, Figures 4, 5, S1, S3 | recomputed; one row of Table 3 was wrong |
| Figure S2, equations 6–8 | recomputed, beside what is certified for them |
| Tables 4–7, Figure 6 | recomputed and run again, also with the right sensitivity and at equal privacy |
| Table 8, Figure S4 | on a synthetic stand-in for the Adult data, with and without the label among the features |
| Table 9 | exact and by simulation |
| Table 10 (run times of R code) | not comparable; what this library's samplers take is measured by the benchmarks of package ` + "`subsample`" + ` |

`)
	return nil
}
