// Accountant-beam runs the large jobs of the accountant on Apache Beam. It turns questions into
// answers, label rows into private rows, votes into labels, and visits into partitions that may be
// shown.
//
//	accountant-beam account    --in 'q-*.jsonl' --out answers
//	accountant-beam labels     --in 'data-*.csv' --column sales --label_set 0..50 --epsilon 2 --key_file run.key --out private
//	accountant-beam prior      as labels, but only the private histogram
//	accountant-beam votes      --in 'votes-*.csv' --classes 10 --teachers 250 --mechanism gnmax --sigma2 40 --delta 1e-5 ...
//	accountant-beam partitions --in 'visits-*.csv' --person user --partition url --epsilon 1 --delta 1e-8 ...
//	accountant-beam query      --in 'visits-*.csv' --group city --person user --per_person 3 --count --sum amount:0:100 --budget 1 --delta 1e-6 ...
//	accountant-beam key        --key_file run.key
//
// Flags are Beam's (--runner, --endpoint, --environment_type, --project, …) and those of -help. A
// worker is this program too: Beam starts it with flags alone.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	jobs "github.com/dpaccountant/accountant/beam"
)

func main() {
	job, args := "", os.Args[1:]
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		job, args = args[0], args[1:]
	}
	parse(args)
	beam.Init() // does not return on a worker
	if err := run(context.Background(), job); err != nil {
		fmt.Fprintln(os.Stderr, "error: "+err.Error())
		os.Exit(1)
	}
}

// parse reads the flags, and ends the program where that fails: with what is wrong alone, as the
// hundred flags, which package flag prints after it, push that off the screen.
func parse(args []string) {
	flag.CommandLine.Init(os.Args[0], flag.ContinueOnError)
	flag.CommandLine.SetOutput(io.Discard)
	err := flag.CommandLine.Parse(args)
	flag.CommandLine.SetOutput(os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flag.Usage()
		os.Exit(0)
	case err != nil:
		fmt.Fprintln(os.Stderr, "error: "+err.Error()+"; -help lists the flags")
		os.Exit(2)
	}
}

// builders are the jobs.
var builders = map[string]func(context.Context, beam.Scope) error{
	"account": account, "labels": labels, "prior": labels, "votes": votes, "partitions": partitions, "query": answerQuery,
}

func run(ctx context.Context, job string) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is no flag; the job comes first, flags after it", flag.Arg(0))
	}
	if job == "key" {
		if *keyFile == "" {
			return fmt.Errorf("missing --key_file")
		}
		return jobs.NewKey(*keyFile)
	}
	build, ok := builders[job]
	if !ok {
		return fmt.Errorf("%q is no job; must be account, labels, prior, votes, partitions, query or key", job)
	}
	if *in == "" || *out == "" {
		return fmt.Errorf("missing --in or --out")
	}
	if err := checkOut(ctx); err != nil {
		return err
	}
	onlyPrior = job == "prior"
	p, s := beam.NewPipelineWithRoot()
	if err := build(ctx, s); err != nil {
		return err
	}
	return beamx.Run(ctx, p)
}
