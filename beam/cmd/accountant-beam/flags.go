package main

// This file has the flags, and what is common to all jobs: where lines come from and go to.

import (
	"context"
	"flag"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	jobs "github.com/dpaccountant/accountant/beam"
	"github.com/dpaccountant/accountant/internal/decimal"
)

var (
	in      = flag.String("in", "", "files to read, a glob: local, gs:// or s3://; .gz is unpacked")
	out     = flag.String("out", "", "where files are written: PREFIX makes PREFIX-00000-of-00001.csv and so on")
	deadOut = flag.String("dead", "", "the same for refused rows, as JSON lines (default: --out with -dead). They are as private as the input")
	format  = flag.String("format", "", "text, csv or jsonl (default: by the name of --in)")
	shards  = flag.Int("shards", 1, "number of output files; each is sorted in memory, so have one for each million rows")
	keyFile = flag.String("key_file", "", "file of the secret key of this run, which every worker can read (made by the job key)")

	column   = flag.String("column", "label", "labels: field of the label")
	group    = flag.String("group", "", "labels: public field; each of its values has a design of its own. query: fields of the group, with commas")
	idColumn = flag.String("id_column", "", "labels: field that names a row (default: its file and offset)")
	labelSet = flag.String("label_set", "", "labels: the public set, as 1..52, 0..10..2 (step 2) or 0,1,5")
	weights  = flag.String("weights", "", "labels: public prior, a weight for each label with commas (default: a private histogram)")
	method   = flag.String("method", "optimal", "labels: optimal, debiased-rr, two-point, randomized-response or rr-on-bins")
	round    = flag.Bool("round", false, "labels: round labels between two of the set, without bias")
	priorEps = flag.Float64("prior_epsilon", 0, "labels: part of the budget for the histogram (0: sqrt(cells/rows))")
	floor    = flag.Float64("floor", 1e-3, "labels: share of the uniform prior mixed into an estimated one")

	query     = flag.String("query", "query", "votes: field of the query")
	teacher   = flag.String("teacher", "teacher", "votes: field of the teacher")
	class     = flag.String("class", "class", "votes: field of the class, from 0")
	classes   = flag.Int("classes", 0, "votes: number of classes")
	teachers  = flag.Int64("teachers", 0, "votes: number of teachers")
	mechanism = flag.String("mechanism", "", "votes: gnmax, confident or lnmax")
	sigma1    = flag.String("sigma1", "", "votes: standard deviation of the check")
	sigma2    = flag.String("sigma2", "", "votes: standard deviation of the answer")
	threshold = flag.String("threshold", "", "votes: threshold of the check")
	gamma     = flag.String("gamma", "", "votes: noise of lnmax has scale 1/gamma")
	price     = flag.String("price", "", "votes: best, exact or theorem6")
	report    = flag.String("report", "", "votes: joint, expected, worst or independent")

	person    = flag.String("person", "person", "partitions, query: field of the person; a query has none unless this is set")
	partition = flag.String("partition", "partition", "partitions: field of the partition")
	perPerson = flag.Int("per_person", 1, "partitions, query: in how many a person counts")

	budget    = flag.Float64("budget", 0, "query: ε of the whole query, at --delta")
	perGroup  = flag.Int("per_group", 1, "query: how many rows of a person count in a group; --per_person is in how many groups it counts, of --group")
	keys      = flag.String("keys", "", "query: the groups with commas, which must be public (default: they are private)")
	count     = flag.Bool("count", false, "query: count the rows of each group")
	sums      = flag.String("sum", "", "query: column:low:high, with commas")
	means     = flag.String("mean", "", "query: column:low:high, with commas")
	quantiles = flag.String("quantile", "", "query: column:low:high:cells:level, with commas")

	epsilon = flag.Float64("epsilon", 0, "labels: whole budget; partitions: ε of one partition")
	delta   = flag.Float64("delta", 0, "partitions: δ of one partition; votes: δ of the report; query: δ of the whole")

	onlyPrior bool
)

// maxShards is what the names of files have room for.
const maxShards = 99999

// layout returns the format of the input and, of CSV, its header.
func layout(ctx context.Context) (l jobs.Layout, err error) {
	name := strings.TrimSuffix(*in, ".gz")
	switch kind := *format; {
	case kind == "csv" || kind == "" && path.Ext(name) == ".csv":
		l.Format = jobs.CSV
		l.Header, err = jobs.Header(ctx, *in)
		return l, err
	case kind == "jsonl" || kind == "" && (path.Ext(name) == ".jsonl" || path.Ext(name) == ".ndjson" || path.Ext(name) == ".json"):
		l.Format = jobs.JSON
	case kind == "text" || kind == "" && path.Ext(name) == ".txt":
		l.Format = jobs.Text
	case kind == "":
		return l, fmt.Errorf("missing --format: the name of --in does not say it")
	default:
		return l, fmt.Errorf("--format: %q is not text, csv or jsonl", kind)
	}
	return l, nil
}

func suffix(l jobs.Layout) string {
	return map[string]string{jobs.CSV: ".csv", jobs.JSON: ".jsonl", jobs.Text: ".txt"}[l.Format]
}

// checkOut refuses inputs that are not there and outputs that would lie beside those of
// another number of shards, which whoever reads them by a glob would read too.
func checkOut(ctx context.Context) error {
	if *shards < 1 || *shards > maxShards {
		return fmt.Errorf("--shards: %d is not in [1, %d]", *shards, maxShards)
	}
	found, err := list(ctx, *in)
	if err != nil {
		return fmt.Errorf("--in: %s: %w", *in, err)
	}
	if len(found) == 0 {
		return fmt.Errorf("--in: no file matches %s", *in)
	}
	if *deadOut == "" {
		*deadOut = *out + "-dead"
	}
	// Their files could have the same names, and the one that is written last would be all that is left.
	if path.Clean(*deadOut) == path.Clean(*out) {
		return fmt.Errorf("--dead: %s is --out, and must be another prefix", *deadOut)
	}
	if name := jobs.ShardName(*deadOut, ".jsonl", 0, 1); slices.Contains(found, name) {
		return fmt.Errorf("--dead: %s is read and would be written", name)
	}
	there, err := list(ctx, *out+"-*-of-*")
	if err != nil {
		return fmt.Errorf("--out: %s: %w", *out, err)
	}
	for _, name := range there {
		if slices.Contains(found, name) {
			return fmt.Errorf("--out: %s is read and would be written", name)
		}
		rest, ok := strings.CutPrefix(name, *out+"-")
		if ok && len(rest) >= 14 && rest[5:9] == "-of-" && rest[9:14] != fmt.Sprintf("%05d", *shards) {
			return fmt.Errorf("--out: %s is there, of a run with another number of shards", name)
		}
	}
	return nil
}

func list(ctx context.Context, glob string) ([]string, error) {
	fs, err := filesystem.New(ctx, glob)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	return fs.List(ctx, glob)
}

// writeDead writes refused rows with the numbers of their lines.
func writeDead(s beam.Scope, dead ...beam.PCollection) {
	jobs.WriteDead(s, *deadOut, jobs.NumberLines(s, beam.Flatten(s, dead...)))
}

// floats parses numbers with commas between.
func floats(name, text string) ([]float64, error) {
	var all []float64
	for _, part := range strings.Split(text, ",") {
		x, err := decimal.Plain(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("--%s: %q is not a number", name, part)
		}
		all = append(all, x)
	}
	return all, nil
}

// optional parses a number that may be left out.
func optional(name, text string) (*float64, error) {
	if text == "" {
		return nil, nil
	}
	x, err := floats(name, text)
	if err != nil || len(x) != 1 {
		return nil, fmt.Errorf("--%s: %q is not a number", name, text)
	}
	return &x[0], nil
}

// labelsOf parses 1..52, 0..10..2 or a list, as `accountant label apply` does.
func labelsOf(text string) ([]float64, error) {
	parts := strings.Split(text, "..")
	if len(parts) == 1 || len(parts) > 3 {
		return floats("label_set", text)
	}
	v, err := floats("label_set", strings.Join(parts, ","))
	if err != nil {
		return nil, err
	}
	if len(v) == 2 {
		v = append(v, 1)
	}
	n := (v[1] - v[0]) / v[2]
	if !(v[2] > 0 && n >= 0 && n < 500) {
		return nil, fmt.Errorf("--label_set: %q does not make between 1 and 500 labels", text)
	}
	var all []float64
	for i := 0; float64(i) <= n+1e-9; i++ {
		all = append(all, v[0]+float64(i)*v[2])
	}
	return all, nil
}
