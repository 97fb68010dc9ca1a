// Command faults takes ledgers in files, SQLite and PostgreSQL, alone and behind servers, through
// every fault for a time. It prints how often each was made and what was wrong afterwards.
//
//	go run ./internal/faults -time 1h -report faults.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dpaccountant/accountant/lab/faults"
	"github.com/dpaccountant/accountant/ledger/sqlledger/internal/dbfaults"
)

func main() {
	if faults.Process() {
		return
	}
	length := flag.Duration("time", time.Minute, "how long")
	rest := flag.Float64("rest", 4, "how many `times` as long as a round took to sleep after it")
	seed := flag.Uint64("seed", 1, "of what is random")
	report := flag.String("report", "", "`file` of the table; standard output without it")
	flag.Parse()
	if err := run(*length, *rest, *seed, *report); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(length time.Duration, rest float64, seed uint64, file string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	served := func(make func() (faults.Place, error), suffix string) func() (faults.Place, error) {
		return func() (faults.Place, error) {
			p, err := make()
			if err != nil {
				return nil, err
			}
			return faults.Serve(p, suffix)
		}
	}
	places := []struct {
		name string
		make func() (faults.Place, error)
	}{
		{"file", faults.NewFiles}, {"SQLite", dbfaults.NewSQLite}, {"PostgreSQL", dbfaults.NewPostgreSQL},
		{"HTTP, file", served(faults.NewFiles, ".ledger")}, {"HTTP, SQLite", served(dbfaults.NewSQLite, "")}, {"HTTP, PostgreSQL", served(dbfaults.NewPostgreSQL, "")},
	}
	begin := time.Now()
	reports := make([]*faults.Report, len(places))
	errs := make([]error, len(places))
	var mu sync.Mutex
	var turn sync.Mutex // one place at a time, so that the machine is left to others
	var all sync.WaitGroup
	for i, p := range places {
		all.Go(func() {
			turn.Lock()
			place, err := p.make()
			turn.Unlock()
			if err != nil {
				errs[i] = fmt.Errorf("%s: %w", p.name, err)
				return
			}
			defer place.Close()
			r, err := faults.Torment(ctx, p.name, place, seed+uint64(i), 0, rest, func(r *faults.Report, found string) {
				mu.Lock()
				defer mu.Unlock()
				reports[i] = r.Clone()
				if found != "" {
					fmt.Fprintf(os.Stderr, "%v %s: %s\n", time.Since(begin).Round(time.Second), p.name, found)
				}
				if file != "" {
					_ = os.WriteFile(file, []byte(table(reports, time.Since(begin))), 0o600)
				}
			})
			mu.Lock()
			reports[i] = r
			mu.Unlock()
			if err != nil {
				errs[i] = fmt.Errorf("%s: %w", p.name, err)
				fmt.Fprintln(os.Stderr, time.Since(begin).Round(time.Second), errs[i])
			}
		})
	}
	all.Wait()
	text := table(reports, time.Since(begin))
	if file == "" {
		fmt.Print(text)
	} else if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	return errors.Join(errs...)
}

// table is the report: of each kind of fault and place how often it was made, and how often something was wrong.
func table(reports []*faults.Report, took time.Duration) string {
	var b strings.Builder
	names := map[string]bool{}
	head, line, ledgers, granted := "| fault |", "|---|", "| ledgers |", "| spends granted |"
	var there []*faults.Report
	for _, r := range reports {
		if r == nil {
			continue
		}
		there = append(there, r)
		head += " " + r.Place + " |"
		line += "---|"
		ledgers += fmt.Sprintf(" %d |", r.Ledgers)
		granted += fmt.Sprintf(" %d |", r.Granted)
		for name := range r.Counts {
			names[name] = true
		}
	}
	rounds, wrong := 0, 0
	fmt.Fprintln(&b, head)
	fmt.Fprintln(&b, line)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, r := range there {
			if c := r.Counts[name]; c == nil {
				fmt.Fprint(&b, " – |")
			} else {
				fmt.Fprintf(&b, " %d, %d |", c.Rounds, c.Violations)
				rounds += c.Rounds
				wrong += c.Violations
			}
		}
		fmt.Fprintln(&b)
	}
	fmt.Fprintf(&b, "%s\n%s\n\n%d faults in %v, after %d of which something was wrong.\n", ledgers, granted, rounds, took.Round(time.Second), wrong)
	for _, r := range there {
		for _, name := range slices.Sorted(maps.Keys(r.Counts)) {
			if c := r.Counts[name]; c.First != "" {
				fmt.Fprintf(&b, "\n%s, %s: %s\n", r.Place, name, c.First)
			}
		}
		for name, why := range r.Skipped {
			fmt.Fprintf(&b, "\n%s, %s: %s\n", r.Place, name, why)
		}
	}
	return b.String()
}
