// Must regenerates the privacy tables and figures of Zhao and Liu
// (arXiv:2312.13389) and its utility experiments on synthetic data.
//
//	go run ./experiments/must -out docs/experiments
//
// It writes must.md and the pictures beside it. The seed is fixed: the same
// program gives the same files.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

func main() {
	out := flag.String("out", "docs/experiments", "folder for must.md and its pictures")
	quick := flag.Bool("quick", false, "few repetitions and few steps, for a look")
	flag.Parse()
	r := &report{dir: *out, quick: *quick}
	for _, section := range []func(*report) error{intro, profilesTable, alignedFigure, sizesFigure, compositionTable, laplaceTable, historicTable, distinctTable, bootstrap, regression, logistic} {
		if err := section(r); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(*out, "must.md"), r.text.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// A report collects the page.
type report struct {
	dir   string
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

Zhao and Liu (arXiv:2312.13389). This page is written by experiments/must; what it means is told in
[../theory/must-composition.md](../theory/must-composition.md). The relation is substitution. Utility runs use synthetic data.

`)
	return nil
}
