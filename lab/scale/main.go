// Command scale computes what sampling of a fixed size costs at training scale: the certified
// ε of the README's run, 60,000 examples, batches of 256, noise multiplier 1.1 and δ = 1e-5
// when an example is substituted, with and without the recursion over data configurations. It
// writes a table that docs/choosing-a-sampler.md quotes. It takes minutes.
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/lab/plots"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

const (
	examples, batch = 60000, 256
	noiseMultiplier = 1.1
	delta           = 1e-5
)

func main() {
	dir := plots.OutFlag("docs/experiments")
	steps := flag.String("steps", "1000,14063", "numbers of steps")
	flag.Parse()
	var ks []int64
	for _, s := range strings.Split(*steps, ",") {
		k, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			log.Fatal(err)
		}
		ks = append(ks, k)
	}
	if err := run(context.Background(), dir(), ks); err != nil {
		log.Fatal(err)
	}
}

// schemes are those whose gap the recursion narrows.
func schemes() ([]subsample.FixedSize, error) {
	wor, err := subsample.NewWithoutReplacement(examples, batch)
	if err != nil {
		return nil, err
	}
	wr, err := subsample.NewWithReplacement(examples, batch)
	return []subsample.FixedSize{wor, wr}, err
}

// cost returns the interval of ε after k steps; recursion is up to how many runs it is narrowed.
func cost(ctx context.Context, s subsample.FixedSize, k, recursion int64) (accountant.Interval, error) {
	base, err := profiles.NewGaussianMechanism(noiseMultiplier)
	if err != nil {
		return accountant.Interval{}, err
	}
	a := accountant.New(profiles.Substitute, accountant.WithRecursion(recursion),
		accountant.WithProgress(func(done, total int) {
			if done%1024 < 64 {
				fmt.Fprintf(os.Stderr, "\r%s, %d steps: %d %% ", s.Name(), k, 100*done/total)
			}
		}))
	if err := a.Add(ctx, accountant.Step{Mechanism: base, Sampling: s}, k); err != nil {
		return accountant.Interval{}, err
	}
	return a.Epsilon(ctx, delta)
}

func run(ctx context.Context, dir string, steps []int64) error {
	list, err := schemes()
	if err != nil {
		return err
	}
	rows := [][]string{{"sampling", "steps", "attack-fixed", "attack-adaptive", "upper-recursion", "upper-product", "width-percent"}}
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }
	for _, k := range steps {
		for _, s := range list {
			without, err := cost(ctx, s, k, 0)
			if err != nil {
				return err
			}
			with, err := cost(ctx, s, k, k)
			if err != nil {
				return err
			}
			for _, w := range with.Warnings {
				log.Printf("%s, %d steps: %s", s.Name(), k, w)
			}
			width := 100 * (with.Upper/with.Lower - 1)
			rows = append(rows, []string{s.Name(), strconv.FormatInt(k, 10), number(without.Lower), number(with.Lower), number(with.Upper), number(without.Upper), strconv.FormatFloat(width, 'f', 2, 64)})
			log.Print(rows[len(rows)-1])
		}
	}
	var data bytes.Buffer
	if err := csv.NewWriter(&data).WriteAll(rows); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "scale.csv"), data.Bytes(), 0o644)
}
