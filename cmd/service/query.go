package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/cmd/query"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
)

// This file answers a query of a table: it splits the budget, spends it, and adds the noise. The table is a secret of whoever
// runs the program: a front end with many users has no such operation.

// QueryRequest asks for statistics of a table, and says what they may cost.
type QueryRequest struct {
	In     string   `json:"in"`
	Budget Decimal  `json:"budget" in:"(0, 500]" help:"{ε} of the whole query"`
	Delta  Decimal  `json:"delta,omitempty" in:"[0, 1)" preset:"0" help:"{δ} of the whole query; 0 is for public groups, with Laplace noise"`
	Group  []string `json:"group,omitempty" help:"{columns} whose values make a group; the whole table if not given"`
	// Keys are the groups, one list of values each, which must be public; which there are is private if not given.
	Keys      [][]string `json:"keys,omitempty"`
	Person    string     `json:"person,omitempty" help:"{column} that tells persons apart"`
	PerPerson Decimal    `json:"per-person,omitempty" in:"whole [1, 1000000]" preset:"1" help:"{groups} that a person is counted in at most; without --person the rows that a person has at most"`
	PerGroup  Decimal    `json:"per-group,omitempty" in:"whole [1, 1000000]" preset:"1" help:"{rows} of a person that count in one group at most"`
	Count     bool       `json:"count,omitempty" help:"count the rows of each group"`
	Sum       []string   `json:"sum,omitempty" help:"sum a column, its values clamped: {column:low:high}"`
	Mean      []string   `json:"mean,omitempty" help:"mean of a column: {column:low:high}"`
	Quantile  []string   `json:"quantile,omitempty" help:"quantiles of a column, on a grid of so many cells: {column:low:high:cells:level[:level…]}"`
	Weight    []string   `json:"weight,omitempty" help:"{name=number}: by how much less noise a measure gets than others, such as count=2 or sum(amount)=3; the choice of groups is called keys"`
	// Ledger is the name of an open ledger, which the query is spent from before any noise is drawn.
	Ledger string `json:"ledger,omitempty"`
	Note   string `json:"note,omitempty" help:"free {text} for the readers of the ledger"`
	Limits
}

// QueryAnswer is the table that may be published, and what it promises.
type QueryAnswer struct {
	Columns []string     `json:"columns"`
	Rows    [][]string   `json:"rows" py:"table"`
	Epsilon Bounds       `json:"epsilon" py:"epsilon_*"`
	Delta   Number       `json:"delta"`
	Noise   []QueryNoise `json:"noise"`
	// Plan is what was spent.
	Plan      string   `json:"plan"`
	Statement []string `json:"statement"`
	Spent     bool     `json:"spent"`
	Warnings  []string `json:"warnings,omitempty"`
}

// QueryNoise is the noise of the numbers that a measure is made of.
type QueryNoise struct {
	Name string `json:"name"`
	Law  string `json:"law"`
	SD   Number `json:"standard-deviation"`
}

// query returns what is asked.
func (q QueryRequest) query() (out query.Query, err error) {
	out = query.Query{Epsilon: q.Budget.float(), Delta: q.Delta.float(), Group: q.Group, Keys: q.Keys, Person: q.Person, PerPerson: int(q.PerPerson.whole()), PerGroup: int(q.PerGroup.whole())}
	if out.Measures, err = query.ParseMeasures(q.Count, q.Sum, q.Mean, q.Quantile); err != nil {
		return out, err
	}
	return out, q.weigh(&out)
}

// weigh sets the weights.
func (q QueryRequest) weigh(out *query.Query) error {
	names := []string{"keys"}
	for _, m := range out.Measures {
		names = append(names, m.Name())
	}
	for _, text := range q.Weight {
		name, value, ok := strings.Cut(text, "=")
		d := Decimal(strings.TrimSpace(value))
		if err := d.check("weight", spanOf("(0, inf)")); !ok || err != nil {
			return fault.New("weight", "%s is not name=number, with a number above 0", nearest.Quote(text))
		}
		at := slices.Index(names, strings.TrimSpace(name))
		switch {
		case at < 0:
			return fault.New("weight", "%s", nearest.Value(name, names))
		case at == 0:
			out.KeyWeight = d.float()
		default:
			out.Measures[at-1].Weight = d.float()
		}
	}
	return nil
}

// query answers a query of the file at a path, by the randomness of the operating system.
func (s *Service) query(ctx context.Context, q QueryRequest) (QueryAnswer, error) {
	asked, err := q.query()
	if err != nil {
		return QueryAnswer{}, err
	}
	report(ctx, Progress{Note: "reading"})
	t, err := s.readTable(ctx, &asked, q.In)
	if err != nil {
		return QueryAnswer{}, err
	}
	report(ctx, Progress{Note: "splitting the budget"})
	p, err := asked.Price(ctx, q.options(ctx, Narrowing{})...)
	if err != nil {
		return QueryAnswer{}, err
	}
	if q.Ledger != "" {
		if _, err := s.LedgerSpend(ctx, LedgerSpendRequest{Ledger: q.Ledger, Plan: p.Plan, Note: q.Note}); err != nil {
			return QueryAnswer{}, err
		}
	}
	a, err := t.Release(ctx, p, nil)
	if err != nil {
		return QueryAnswer{}, err
	}
	out := QueryAnswer{Columns: a.Columns, Rows: a.Rows, Epsilon: boundsOf(p.Epsilon.Lower, p.Epsilon.Estimate, p.Epsilon.Upper), Delta: Number(asked.Delta), Plan: string(p.Plan),
		Statement: promise(asked, p.Epsilon), Spent: q.Ledger != "", Warnings: p.Epsilon.Warnings}
	if out.Rows == nil {
		out.Rows = [][]string{}
	}
	for _, n := range p.Noise {
		out.Noise = append(out.Noise, QueryNoise{n.Name, n.Law, Number(n.SD)})
	}
	return out, nil
}

// Tables are where a front end keeps tables: Files of one that has them.
type Tables interface {
	OpenTable(path string) (io.ReadCloser, error)
}

func (s *Service) readTable(ctx context.Context, q *query.Query, path string) (*query.Table, error) {
	files, ok := s.files.(Tables)
	if !ok {
		return nil, fault.New("in", "there are no tables here")
	}
	f, err := files.OpenTable(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := query.Read(ctx, q, f)
	if e := (*fault.Error)(nil); err != nil && !errors.As(err, &e) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return t, err
}

// promise is the statement of a query.
func promise(q query.Query, iv accountant.Interval) []string {
	out := []string{fmt.Sprintf("Adding or removing one person changes the law of this table by at most ε = %s at δ = %s.", decimal.Rounded(iv.Upper, 5, decimal.Up), decimal.Short(q.Delta))}
	if q.Person == "" {
		out = append(out, fmt.Sprintf("This holds for persons with at most %s in the table. Nothing was dropped to make it so.", counted(int64(q.PerPerson), "one row", "%d rows")))
	} else {
		out = append(out, fmt.Sprintf("Of each person at most %s, with at most %s in each, drawn at random from that person's rows.", counted(int64(q.PerPerson), "one group counts", "%d groups count"), counted(int64(q.PerGroup), "one row", "%d rows")))
	}
	if q.Keys == nil && len(q.Group) > 0 {
		out = append(out, "Which groups exist is hidden: the table has those that noise has chosen, and no group of few persons but by chance.")
	}
	return append(out, "Values are clamped to the ranges given, which must not come from the data. Noise is drawn exactly, with the system's randomness; a second answer to the same query costs as much again.")
}
