package main

// This file builds the pipelines of the jobs from the flags.

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	jobs "github.com/dpaccountant/accountant/beam"
	stats "github.com/dpaccountant/accountant/cmd/query"
	"github.com/dpaccountant/accountant/cmd/service"
)

func account(ctx context.Context, s beam.Scope) error {
	if *format != "" && *format != "jsonl" {
		return fmt.Errorf("--format: %q is not jsonl, the format of requests", *format)
	}
	lines, bad := jobs.ReadLines(s, *in, jobs.Layout{Format: jobs.JSON})
	answers, dead := jobs.Account(s, lines)
	jobs.WriteLines(s, *out, ".jsonl", "", *shards, answers)
	writeDead(s, bad, dead)
	return nil
}

func labels(ctx context.Context, s beam.Scope) error {
	l, err := layout(ctx)
	if err != nil {
		return err
	}
	f := jobs.LabelFields{Layout: l, Label: *column, Group: *group, ID: *idColumn}
	if err := f.Check(); err != nil {
		return err
	}
	o := jobs.LabelOptions{Epsilon: *epsilon, PriorEpsilon: *priorEps, Floor: *floor, Method: *method, Round: *round,
		UniqueIDs: *idColumn == "", Key: jobs.Key{File: *keyFile}}
	if *labelSet == "" {
		return fmt.Errorf("missing --label_set")
	}
	if o.Labels, err = labelsOf(*labelSet); err != nil {
		return err
	}
	if *weights != "" {
		if o.Weights, err = floats("weights", *weights); err != nil {
			return err
		}
	}
	if err := o.Check(); err != nil {
		return err
	}
	if err := o.Key.Check(ctx); err != nil {
		return err
	}
	lines, bad := jobs.ReadLines(s, *in, l)
	rows, unread := jobs.LabelRows(s, f, lines)
	if onlyPrior {
		private, dead := jobs.Prior(s, o, rows)
		jobs.WriteLines(s, *out, ".json", "", 1, private)
		writeDead(s, bad, unread, dead)
		return nil
	}
	r := jobs.RandomizeLabels(s, o, rows)
	jobs.WriteLines(s, *out, suffix(l), l.Header, *shards, jobs.PrivateLines(s, f, r.Private))
	jobs.WriteLines(s, *out+"-report", ".json", "", 1, r.Report)
	writeDead(s, bad, unread, r.Dead)
	return nil
}

func votes(ctx context.Context, s beam.Scope) error {
	l, err := layout(ctx)
	if err != nil {
		return err
	}
	f := jobs.VoteFields{Layout: l, Query: *query, Teacher: *teacher, Class: *class}
	if err := f.Check(); err != nil {
		return err
	}
	q := service.PateRequest{PateVotes: service.PateVotes{PateMechanism: service.PateMechanism{Mechanism: *mechanism}, Delta: service.Decimals{service.Float(*delta)}, Price: *price, Report: *report}}
	for _, x := range []struct {
		name, text string
		to         **float64
	}{{"sigma1", *sigma1, &q.Sigma1}, {"sigma2", *sigma2, &q.Sigma2}, {"threshold", *threshold, &q.Threshold}, {"gamma", *gamma, &q.Gamma}} {
		if *x.to, err = optional(x.name, x.text); err != nil {
			return err
		}
	}
	o := jobs.VoteOptions{Classes: *classes, Teachers: *teachers, Request: q, Key: jobs.Key{File: *keyFile}}
	if err := o.Check(); err != nil {
		return err
	}
	if err := o.Key.Check(ctx); err != nil {
		return err
	}
	lines, bad := jobs.ReadLines(s, *in, l)
	rows, unread := jobs.VoteRows(s, f, lines)
	v := jobs.Votes(s, o, rows)
	jobs.WriteLines(s, *out, ".jsonl", "", *shards, v.Answers)
	jobs.WriteLines(s, *out+"-cost", ".json", "", 1, v.Cost)
	writeDead(s, bad, unread, v.Dead)
	return nil
}

func partitions(ctx context.Context, s beam.Scope) error {
	l, err := layout(ctx)
	if err != nil {
		return err
	}
	f := jobs.PartitionFields{Layout: l, Person: *person, Partition: *partition}
	if err := f.Check(); err != nil {
		return err
	}
	o := jobs.PartitionOptions{Epsilon: *epsilon, Delta: *delta, PerPerson: *perPerson, Key: jobs.Key{File: *keyFile}}
	if err := o.Check(); err != nil {
		return err
	}
	if err := o.Key.Check(ctx); err != nil {
		return err
	}
	lines, bad := jobs.ReadLines(s, *in, l)
	rows, unread := jobs.PartitionRows(s, f, lines)
	jobs.WriteLines(s, *out, ".jsonl", "", *shards, jobs.SelectPartitions(s, o, rows))
	charge, err := service.Marshal(struct {
		Charge []jobs.Charge `json:"charge"`
	}{[]jobs.Charge{o.Charge()}})
	if err != nil {
		return err
	}
	jobs.WriteLines(s, *out+"-report", ".json", "", 1, beam.Create(s, "\n"+string(charge)))
	writeDead(s, bad, unread)
	return nil
}

// answerQuery is the query of `accountant query`, at scale. The report has the plan that is to be spent before the job runs.
func answerQuery(ctx context.Context, s beam.Scope) error {
	l, err := layout(ctx)
	if err != nil {
		return err
	}
	q := stats.Query{Epsilon: *budget, Delta: *delta, Group: listed(*group), PerPerson: *perPerson, PerGroup: *perGroup}
	flag.Visit(func(f *flag.Flag) {
		if f.Name == "person" {
			q.Person = *person
		}
	})
	for _, k := range listed(*keys) {
		q.Keys = append(q.Keys, []string{k})
	}
	if q.Measures, err = stats.ParseMeasures(*count, listed(*sums), listed(*means), listed(*quantiles)); err != nil {
		return err
	}
	price, err := q.Price(ctx)
	if err != nil {
		return err
	}
	f := jobs.QueryFields{Layout: l, Query: q}
	if err := f.Check(); err != nil {
		return err
	}
	o := jobs.QueryOptions{Query: q, Paid: price.Paid, Key: jobs.Key{File: *keyFile}}
	if err := o.Key.Check(ctx); err != nil {
		return err
	}
	lines, bad := jobs.ReadLines(s, *in, l)
	rows, unread := jobs.QueryRows(s, f, lines)
	jobs.WriteLines(s, *out, ".csv", strings.Join(q.Columns(), ","), *shards, jobs.Query(s, o, rows))
	report, err := service.Marshal(struct {
		Plan  string        `json:"plan"`
		Noise []stats.Noise `json:"noise"`
	}{string(price.Plan), price.Noise})
	if err != nil {
		return err
	}
	jobs.WriteLines(s, *out+"-report", ".json", "", 1, beam.Create(s, "\n"+string(report)))
	writeDead(s, bad, unread)
	return nil
}

// listed splits a list with commas.
func listed(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
