package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
)

// This file has the commands that ask an operation of the service and print its answer. Their flags
// are the keys of its request; plans are read from the files that the arguments name, or a flag.

// A question is such a command.
type question struct {
	name, op string // "" for that of the command
	what     string // what it is doing, for the meter

	verbose, hidden bool // it has --verbose, which the help does not show
	progress        bool // it has --progress
	under           bool // the limits are those of the whole command, with its picture
	// picture is what --plot draws, if anything, so many centimetres large.
	picture       string
	width, height float64
	out           bool // --out is another name of --plot

	recursion string   // what --recursion is where it is not given
	except    []string // keys without a flag
	// extra adds other flags and arguments, and what they do.
	extra func(*asking)
}

// An asking is a question that is asked.
type asking struct {
	question
	output
	cmd     *cobra.Command
	request any // a pointer to its struct
	args    []string
	detail  bool   // --verbose
	of      string // what a file is called that answers without a plan are about
	meter   string
	draw    pictureFlags
	title   string // of the picture, if it is not that of the answer

	late bool // the request cannot be checked before read
	// read fills in what is neither a flag nor a plan; wrote does something with the answer before it is printed.
	read  func() error
	wrote func(answer any) (any, error)
}

// command returns the command.
func (q question) command() *cobra.Command {
	if q.op == "" {
		q.op = q.name
	}
	a := &asking{question: q, request: service.NewRequest(q.op), meter: "auto"}
	cmd := &cobra.Command{Use: q.name, Args: noArgs}
	a.cmd = cmd
	if plans := a.plans(); len(plans) == 1 {
		cmd.Args, cmd.ValidArgsFunction = planArg, completePlans(0, 0)
	} else if len(plans) == 2 {
		cmd.Args, cmd.ValidArgsFunction = ledgerArgs("old plan (- reads standard input)", "new plan"), completePlans(0, 1)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a.args = args
		return a.run()
	}
	a.output.register(cmd)
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
	switch {
	case q.out:
		a.draw.registerOut(cmd, q.picture, q.width, q.height)
	case q.picture != "":
		a.draw.register(cmd, q.picture, q.width, q.height)
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
	if a.picture != "" {
		if err := a.draw.check(a.output); err != nil {
			return err
		}
	}
	answer, pic, err := a.ask()
	if err != nil {
		return err
	}
	if a.wrote != nil {
		if answer, err = a.wrote(answer); err != nil {
			return err
		}
	}
	warnAbout(a.cmd.ErrOrStderr(), answer)
	if err := a.draw.write(&pic); err != nil {
		return err
	}
	return a.print(a.cmd.OutOrStdout(), answer, func(w io.Writer) { a.text(w, answer) })
}

// ask returns the answer and its picture.
func (a *asking) ask() (answer any, pic figure.Picture, err error) {
	flag := a.planFlag()
	if flag != nil {
		*flag = service.PlanText{} // of the file
	}
	if !a.late {
		if err := service.Check(a.request); err != nil {
			return nil, pic, flagged(a.cmd, err)
		}
	}
	if a.read != nil {
		if err := a.read(); err != nil {
			return nil, pic, err
		}
	}
	paths, plans := a.args, a.plans()
	if flag != nil {
		paths, plans = []string{a.cmd.Flags().Lookup("plan").Value.String()}, []*service.PlanText{flag}
	}
	if len(plans) == 2 && paths[0] == "-" && paths[1] == "-" {
		return nil, pic, usageError{errors.New("both plans are standard input")}
	}
	name := ""
	for i, p := range plans {
		if *p, name, err = readInput(a.cmd, paths[i]); err != nil {
			return nil, pic, err
		}
	}
	answer, err = measuredIf(a.cmd, a.meter, a.what, func(m *meter) (any, error) {
		ctx := service.WithProgress(a.cmd.Context(), m.show)
		answer, err := service.New(ledgerFiles{}).Ask(ctx, a.op, a.request)
		if err == nil && a.draw.file != "" {
			pic, err = a.pictureOf(ctx, answer)
		}
		return answer, err
	})
	if pe := new(service.PlanError); errors.As(err, &pe) {
		return nil, pic, planProblem(inputName(a.args[pe.Index]), a.args[pe.Index], pe.Err)
	}
	switch err = flagged(a.cmd, err); {
	case len(plans) == 1:
		err = planProblem(name, paths[0], err)
	case err != nil && a.of != "":
		err = fmt.Errorf("%s: %w", a.of, err)
	}
	return answer, pic, err
}

// planFlag returns where the plan of --plan goes, nil where it is not given.
func (a *asking) planFlag() *service.PlanText {
	if f := a.cmd.Flags().Lookup("plan"); f != nil && f.Value.String() != "" {
		for _, k := range service.Keys(a.request) {
			if p, ok := k.Field(a.request).(*service.PlanText); ok && k.Name == "plan" {
				return p
			}
		}
	}
	return nil
}
