package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
)

// This file has the commands that print an answer, mostly that of an operation of the service. Their flags
// are the keys of its request; plans are read from the files that the arguments name, or a flag.

// A question is such a command.
type question struct {
	name, op string // "" for that of the command
	request  any    // a pointer to its struct; nil for that of the operation
	what     string // what it is doing, for the meter

	verbose, hidden bool // it has --verbose, which the help does not show
	progress        bool // it has --progress
	under           bool // the limits are those of the whole command, with its picture
	// picture is what --plot draws, if anything, so many centimetres large.
	picture       string
	width, height float64
	alias         bool // --out is another name of --plot
	onLedger      bool // the first argument is the file of a ledger

	recursion string   // what --recursion is where it is not given
	except    []string // keys without a flag
	// extra adds other flags and arguments, and what they do.
	extra func(*asking)

	// text prints an answer for people, and draw draws it. rows has its rows of CSV where they are in another order
	// than that of its JSON. An operation that answers with a list has each of its answers printed.
	text func(w io.Writer, answer any, a *asking)
	draw func(ctx context.Context, answer any, a *asking) (figure.Picture, error)
	rows func(answer any) any
	// table writes what a command shows that runs a mechanism: such an answer is JSON or this. It goes to --out, of
	// which writes is the help, or without one to standard output.
	table  func(w io.Writer, answer any, a *asking) error
	writes string
	// verdict is the error that a command ends with after its answer is printed.
	verdict func(answer any) error
}

// printing, drawing, listing and showing make the functions of a question of those for the type of its answers.

func printing[A any](print func(io.Writer, A, *asking)) func(io.Writer, any, *asking) {
	return func(w io.Writer, answer any, a *asking) { print(w, answer.(A), a) }
}

func drawing[A any](draw func(A) figure.Picture) func(context.Context, any, *asking) (figure.Picture, error) {
	return func(_ context.Context, answer any, _ *asking) (figure.Picture, error) { return draw(answer.(A)), nil }
}

func listing[A any](rows func(A) any) func(any) any {
	return func(answer any) any { return rows(answer.(A)) }
}

func showing[A any](table func(A, *asking) [][]string) func(io.Writer, any, *asking) error {
	return func(w io.Writer, answer any, a *asking) error { return csv.NewWriter(w).WriteAll(table(answer.(A), a)) }
}

// An asking is a question that is asked.
type asking struct {
	question
	output
	cmd    *cobra.Command
	args   []string
	detail bool   // --verbose
	name   string // what the file is called that errors are about: that of the plan, if there is one
	within string // the place of the request's fields in a plan that was made of them
	meter  string
	plot   pictureFlags
	title  string             // of the picture, if it is not that of the answer
	drawn  [][]figure.Picture // each below the one before
	to     io.Writer          // where the answer is printed; nil for standard output

	ledger string    // file of a ledger that a run is spent from
	spend  *string   // the key of the request that has it
	out    string    // file of what a run shows
	files  []outFile // all that are written

	late bool // the request cannot be checked before read
	// read fills in what is neither a flag nor a plan; wrote does something with the answer before it is printed.
	read  func() error
	wrote func(answer any) (any, error)
	// compute answers the request: by the operation, unless a command has its own way. An answer that it has printed itself
	// is nil.
	compute func(ctx context.Context, s *service.Service, m *meter) (any, error)
}

// command returns the command.
func (q question) command() *cobra.Command {
	if q.op == "" {
		q.op = q.name
	}
	if q.request == nil {
		q.request = service.NewRequest(q.op)
	}
	a := &asking{question: q, meter: "auto"}
	a.compute = func(ctx context.Context, s *service.Service, _ *meter) (any, error) {
		return s.Ask(ctx, a.op, a.request)
	}
	cmd := &cobra.Command{Use: q.name, Args: noArgs}
	a.cmd = cmd
	switch plans := a.plans(); {
	case q.onLedger && len(plans) == 1:
		cmd.Args, cmd.ValidArgsFunction = exactly("ledger file", ofPlan), completePlans(1, 1)
	case q.onLedger:
		cmd.Args, cmd.ValidArgsFunction = exactly("ledger file"), completePlans(1, 0)
	case len(plans) == 1:
		cmd.Args, cmd.ValidArgsFunction = planArg, completePlans(0, 0)
	case len(plans) == 2:
		cmd.Args, cmd.ValidArgsFunction = exactly("old plan (- reads standard input)", "new plan"), completePlans(0, 1)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a.args = args
		return a.run()
	}
	a.registerRun()
	switch {
	case q.table != nil:
		a.output.registerJSON(cmd)
	case q.text != nil:
		a.output.register(cmd)
	}
	if q.under {
		a.except = append(a.except, capsKeys...)
		underCaps(cmd)
	} else {
		limited(cmd, a.request)
	}
	bind(cmd, a.request, a.except...)
	if q.recursion != "" {
		preset(cmd, "recursion", q.recursion)
	}
	if q.verbose {
		cmd.Flags().BoolVarP(&a.detail, "verbose", "v", false, "print what the width of each interval is made of")
		cmd.Flags().Lookup("verbose").Hidden = q.hidden
	}
	if q.progress {
		addProgress(cmd, &a.meter)
	}
	if q.picture != "" {
		a.plot.register(cmd, q.picture, q.width, q.height, q.alias)
		a.files = append(a.files, outFile{flag: "--plot", path: &a.plot.file, text: func(any) ([]byte, error) {
			return figure.Tiles(figure.Format(a.plot.file), a.plot.size, a.drawn...)
		}})
	}
	if q.extra != nil {
		q.extra(a)
	}
	return cmd
}

// plans returns the plans that arguments name, in their order.
func (a *asking) plans() (plans []*service.PlanText) {
	for _, k := range service.Keys(a.request) {
		if p, ok := k.Field(a.request).(*service.PlanText); ok && k.Help == "" && !slices.Contains(a.except, k.Name) {
			plans = append(plans, p)
		}
	}
	return plans
}

func (a *asking) run() error {
	answer, err := a.ask()
	if err != nil || answer == nil {
		return err
	}
	for _, f := range a.files {
		if err := f.write(answer); err != nil {
			return err
		}
	}
	if a.wrote != nil {
		if answer, err = a.wrote(answer); err != nil {
			return err
		}
	}
	warnAbout(a.cmd.ErrOrStderr(), answer)
	if a.table != nil {
		err := a.show(answer)
		if err != nil || a.text == nil || a.json {
			return err
		}
		told := a.cmd.OutOrStdout()
		if a.out == "-" {
			told = a.cmd.ErrOrStderr()
		}
		a.text(told, answer, a)
		return nil
	}
	all, printed := each(answer), answer
	if a.csv {
		for i := range all {
			if a.rows != nil {
				all[i] = a.rows(all[i])
			}
		}
		if printed = any(all); len(all) == 1 {
			printed = all[0]
		}
	}
	err = a.output.print(cmp.Or(a.to, a.cmd.OutOrStdout()), printed, func(w io.Writer) {
		for i, one := range all {
			if i > 0 {
				fmt.Fprintln(w)
			}
			a.text(w, one, a)
		}
	})
	if err == nil && a.verdict != nil {
		err = a.verdict(answer)
	}
	return err
}

// A list has several answers, which are printed one after the other.
type list interface{ All() []any }

// each returns the answers of a list, or the one that there is.
func each(answer any) []any {
	if all, ok := answer.(list); ok {
		return all.All()
	}
	return []any{answer}
}

// answers returns how many answers the lists of the request make.
func (a *asking) answers() int {
	n := 1
	for _, o := range service.Operations() {
		for _, key := range o.Several {
			if values, ok := fieldOf(a.request, key).(*service.Decimals); ok && o.Name == a.op {
				n *= max(1, len(*values))
			}
		}
	}
	return n
}

// ask returns the answer, of which it has drawn the picture.
func (a *asking) ask() (answer any, err error) {
	if a.picture != "" {
		if err := a.plot.check(a.answers()); err != nil {
			return nil, err
		}
	}
	flag := a.planFlag()
	if flag != nil {
		*flag = service.PlanText{} // of the file
	}
	if !a.late {
		if err := service.Check(a.request); err != nil {
			return nil, flagged(a.cmd, err)
		}
	}
	paths, plans := a.args, a.plans()
	if a.onLedger {
		paths = a.args[1:]
		if path, ok := fieldOf(a.request, "path").(*string); ok {
			*path = a.args[0]
		} else {
			a.ledger = a.args[0]
		}
	}
	if a.read != nil {
		if err := a.read(); err != nil {
			return nil, err
		}
	}
	if flag != nil {
		paths, plans = []string{a.cmd.Flags().Lookup("plan").Value.String()}, []*service.PlanText{flag}
	}
	if len(plans) == 2 && paths[0] == "-" && paths[1] == "-" {
		return nil, usageError{errors.New("both plans are standard input")}
	}
	for i, p := range plans[:min(len(plans), len(paths))] {
		if *p, a.name, err = readInput(a.cmd, paths[i]); err != nil {
			return nil, err
		}
	}
	for _, f := range a.files {
		if err := f.check(a.inputs()); err != nil {
			return nil, err
		}
	}
	s, err := a.open(a.cmd.Context())
	if err != nil {
		return nil, flagged(a.cmd, err)
	}
	m := startMeter(a.cmd, a.meter, a.what)
	defer m.stop()
	ctx := service.WithProgress(a.cmd.Context(), m.show)
	answer, err = a.compute(ctx, s, m)
	if err == nil && a.plot.file != "" {
		err = a.drawAll(ctx, each(answer))
	}
	if pe := new(service.PlanError); errors.As(err, &pe) {
		return nil, planProblem(inputName(a.args[pe.Index]), pe.Err)
	}
	if a.within != "" {
		err = keyed(err, a.within)
	}
	if err = flagged(a.cmd, err); a.name != "" && len(plans) < 2 {
		err = planProblem(a.name, err)
	}
	return answer, err
}

// drawAll draws answers. A picture that has nothing of what tells an answer from the one before is drawn once.
func (a *asking) drawAll(ctx context.Context, answers []any) error {
	for _, one := range answers {
		pic, err := a.draw(ctx, one, a)
		if err != nil {
			return err
		}
		if n := len(a.drawn); n == 0 || !reflect.DeepEqual(a.drawn[n-1][0], pic) {
			a.drawn = append(a.drawn, []figure.Picture{pic})
		}
	}
	return nil
}

// planFlag returns where the plan of --plan goes, nil where it is not given.
func (a *asking) planFlag() (to *service.PlanText) {
	if f := a.cmd.Flags().Lookup("plan"); f != nil && f.Value.String() != "" && !slices.Contains(a.except, "plan") {
		to, _ = fieldOf(a.request, "plan").(*service.PlanText)
	}
	return to
}

// fieldOf returns a pointer to the field of a request that has a key, nil where none has.
func fieldOf(request any, key string) any {
	if k := service.KeyOf(request, key); k != nil {
		return k.Field(request)
	}
	return nil
}
