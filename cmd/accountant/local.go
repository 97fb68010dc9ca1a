package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/random"
	"github.com/dpaccountant/accountant/internal/tables"
	"github.com/dpaccountant/accountant/subsample/shuffler"
)

func newLocalCmd() *cobra.Command {
	cmd := &cobra.Command{Use: "local", Args: needCommand, RunE: missingCommand}
	cmd.AddCommand(newLocalRunCmd())
	return cmd
}

// A localJob is one run of local run.
type localJob struct {
	mechanism        string
	epsilon          float64
	categories, size int
	seed             uint64
	output
}

// localRun is the JSON of local run: what the messages say of the number of users with each value.
type localRun struct {
	Users     int             `json:"users"`
	Mechanism string          `json:"mechanism"`
	Epsilon   float64         `json:"epsilon"`
	Seeded    bool            `json:"seeded"`
	Estimates []localEstimate `json:"estimates"`
}

type localEstimate struct {
	Value     int     `json:"value"`
	Count     float64 `json:"count"`
	Deviation float64 `json:"deviation"`
}

func newLocalRunCmd() *cobra.Command {
	var j localJob
	cmd := &cobra.Command{
		Use:  "run",
		Args: ledgerArgs("file of values", "file for messages"),
		RunE: func(cmd *cobra.Command, args []string) error {
			src := random.Source(nil)
			seeded := cmd.Flags().Changed("seed")
			if seeded {
				src = random.Seeded(j.seed)
			}
			a, err := j.run(args[0], args[1], src)
			if err != nil {
				return flagged(cmd, err)
			}
			a.Seeded = seeded
			return j.print(cmd.OutOrStdout(), a, a.print)
		},
	}
	f := cmd.Flags()
	addChoice(cmd, &j.mechanism, "mechanism", "one of k-rr, unary, subset-selection, hadamard, local-hash", "k-rr", "unary", "subset-selection", "hadamard", "local-hash")
	f.Float64Var(&j.epsilon, "epsilon", 0, "local `ε` of each message")
	f.IntVar(&j.categories, "categories", 0, "number `k` of values, which are 0 to k − 1")
	f.IntVar(&j.size, "size", 0, "`size` of the sets of subset-selection (default: k/(e^ε + 1), at least 1), or of the hashes of local-hash (default 4)")
	f.Uint64Var(&j.seed, "seed", 0, "make the run reproducible; whoever knows the seed can undo the noise")
	j.register(cmd)
	required(cmd, "mechanism", "epsilon", "categories")
	return cmd
}

// maxEstimates bounds the values that are estimated.
const maxEstimates = 10000

func (j *localJob) run(in, out string, src rand.Source) (*localRun, error) {
	r, err := service.LocalRandomizer(j.mechanism, j.epsilon, j.categories, j.size)
	if err != nil {
		return nil, err
	}
	if j.categories < 2 || j.categories > maxEstimates {
		return nil, fault.New("categories", "%d is not in [2, %d]", j.categories, maxEstimates)
	}
	f, err := openInput(in)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows := tables.NewReader(f)
	rows.Columns = 1
	var messages []shuffler.Message
	for first := true; ; first = false {
		cells, err := rows.Row()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && first && tables.IsHeader(cells) {
			continue
		}
		value := 0
		if err == nil {
			if value, err = strconv.Atoi(cells[0]); err != nil || value < 0 || value >= j.categories {
				err = fmt.Errorf("%s is not a value in [0, %d]", printable(cells[0]), j.categories-1)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", inputName(in), rows.Line(), err)
		}
		m, err := r.Sample(value, src)
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	found, err := r.Estimates(messages, j.categories)
	if err != nil {
		return nil, err
	}
	a := &localRun{Users: len(messages), Mechanism: r.Name(), Epsilon: j.epsilon}
	for v, e := range found {
		a.Estimates = append(a.Estimates, localEstimate{v, e.Count, e.Deviation})
	}
	return a, produceFileAtomic(out, func(w io.Writer) error {
		buf := bufio.NewWriter(w)
		fmt.Fprintln(buf, "message")
		for _, m := range messages {
			fmt.Fprintln(buf, strings.Trim(fmt.Sprint([]int(m)), "[]"))
		}
		return buf.Flush()
	})
}

func (a *localRun) print(w io.Writer) {
	fmt.Fprintf(w, "%s with local ε %v: messages of %d users\n\n", a.Mechanism, a.Epsilon, a.Users)
	t := newTable(w, 2, tabwriter.AlignRight)
	fmt.Fprint(t, "value\testimate\tdeviation\t\n")
	for _, e := range a.Estimates {
		fmt.Fprintf(t, "%d\t%.1f\t%.1f\t\n", e.Value, e.Count, e.Deviation)
	}
	t.Flush()
}
