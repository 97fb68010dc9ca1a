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
	"github.com/dpaccountant/accountant/lab/try"
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
	try.Main(func() {
		var ks []int64
		for _, s := range strings.Split(*steps, ",") {
			ks = append(ks, try.Must(strconv.ParseInt(s, 10, 64)))
		}
		run(context.Background(), dir(), ks)
	})
}

// cost returns the interval of ε after k steps; recursion is up to how many runs it is narrowed.
func cost(ctx context.Context, s subsample.FixedSize, k, recursion int64) accountant.Interval {
	a := accountant.New(profiles.Substitute, accountant.WithRecursion(recursion),
		accountant.WithProgress(func(done, total int) {
			if done%1024 < 64 {
				fmt.Fprintf(os.Stderr, "\r%s, %d steps: %d %% ", s.Name(), k, 100*done/total)
			}
		}))
	try.Check(a.Add(ctx, accountant.Step{Mechanism: try.Must(profiles.NewGaussianMechanism(noiseMultiplier)), Sampling: s}, k))
	return try.Must(a.Epsilon(ctx, delta))
}

// run writes the table of the schemes whose gap the recursion narrows.
func run(ctx context.Context, dir string, steps []int64) {
	list := []subsample.FixedSize{try.Must(subsample.NewWithoutReplacement(examples, batch)), try.Must(subsample.NewWithReplacement(examples, batch))}
	rows := [][]string{{"sampling", "steps", "attack-fixed", "attack-adaptive", "upper-recursion", "upper-product", "width-percent"}}
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }
	for _, k := range steps {
		for _, s := range list {
			without, with := cost(ctx, s, k, 0), cost(ctx, s, k, k)
			for _, w := range with.Warnings {
				log.Printf("%s, %d steps: %s", s.Name(), k, w)
			}
			rows = append(rows, []string{s.Name(), strconv.FormatInt(k, 10), number(without.Lower), number(with.Lower), number(with.Upper), number(without.Upper), strconv.FormatFloat(100*(with.Upper/with.Lower-1), 'f', 2, 64)})
			log.Print(rows[len(rows)-1])
		}
	}
	var data bytes.Buffer
	try.Check(csv.NewWriter(&data).WriteAll(rows))
	try.Check(os.WriteFile(filepath.Join(dir, "scale.csv"), data.Bytes(), 0o644))
}
