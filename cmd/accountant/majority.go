package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
)

type majorityFlags struct {
	service.MajorityRequest
	outputDelta, mean float64
	monotone          bool
	plan              string
	picture           pictureFlags
	delta             float64
	output
}

func newMajorityCmd() *cobra.Command {
	f := &majorityFlags{}
	q := &f.MajorityRequest
	cmd := &cobra.Command{
		Use:  "majority",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd)
		},
	}
	fs := cmd.Flags()
	fs.IntVar(&q.Mechanisms, "mechanisms", 0, "number `K` of mechanisms (required)")
	fs.Float64Var(&q.Epsilon, "epsilon", 0, "`ε` of every mechanism (required)")
	fs.Float64Var(&q.Allowance, "allowance", 0, "`m`: the answer may cost m times ε (required)")
	fs.Float64Var(&q.DeltaEach, "delta-each", 0, "`Δ` of every mechanism")
	fs.Float64Var(&f.outputDelta, "output-delta", 0, "`δ` of the answer (default 1 − (1−Δ)^m)")
	q.Gamma, q.Objective = "optimal", "error"
	addChoice(cmd, &q.Gamma, "gamma", "noise `function`: optimal, subsampling, double or constant", "optimal", "subsampling", "double", "constant")
	addChoice(cmd, &q.Objective, "objective", "what optimal means: error (of votes above ½), disagreement or common-p", "error", "disagreement", "common-p")
	fs.Float64Var(&f.mean, "prior-mean", 0.75, "mean vote probability of the objective")
	fs.BoolVar(&f.monotone, "monotone", true, "let clearer majorities be answered at least as truthfully")
	fs.BoolVar(&q.Disjoint, "disjoint-shards", false, "the mechanisms run on disjoint shards of the records")
	fs.Float64SliceVar(&q.VoterEpsilons, "voter-epsilons", nil, "`ε` of each mechanism, if they are unlike; --epsilon is then the unit of the allowance")
	fs.Float64SliceVar(&q.VoterDeltas, "voter-deltas", nil, "`Δ` of each of them")
	fs.StringVar(&f.plan, "plan", "", "plan `file` of each mechanism, a training run (- reads standard input)")
	fs.IntVar(&q.Classes, "classes", 0, "`number` of labels that are voted for (default 2)")
	fs.IntVar(&q.Answers, "answers", 0, "price so `many` answers at --delta: of two labels as one mechanism, of more by composing the bound of one")
	fs.Float64Var(&f.delta, "delta", 0, "`δ` of all those answers")
	_ = cmd.MarkFlagFilename("plan", "yaml", "yml", "json")
	f.output.register(cmd)
	underCaps(cmd)
	f.picture.register(cmd, "the noise functions", 15, 10)
	required(cmd, "mechanisms", "epsilon", "allowance")
	return cmd
}

func (f *majorityFlags) run(cmd *cobra.Command) error {
	q := f.MajorityRequest
	q.OutputDelta, q.PriorMean, q.Monotone = given(cmd, "output-delta", f.outputDelta), &f.mean, &f.monotone
	q.Delta = given(cmd, "delta", f.delta)
	if f.plan != "" {
		q.Plan = service.PlanText{} // of the file
	}
	if err := f.picture.check(f.output); err != nil {
		return err
	}
	var a *service.MajorityAnswer
	var err error
	if f.plan == "" {
		a, err = ask(cmd, "linear programs", (*service.Service).Majority, q)
	} else {
		a, err = askPlan(cmd, "linear programs", (*service.Service).Majority, &q, &q.Plan, f.plan)
	}
	if err != nil {
		return err
	}
	return f.picture.show(cmd, f.output, a, func() figure.Picture { return majorityPicture(a.Families) }, func(w io.Writer) {
		printMajority(w, a)
	})
}

func printMajority(w io.Writer, a *service.MajorityAnswer) {
	p := a.Params
	kind := fmt.Sprintf("each (%g, %g)-DP", p.Epsilon, p.Delta)
	switch {
	case p.Voters != nil && p.Voters[0].Profile != nil:
		kind = "each with the profile of the plan"
	case p.Voters != nil:
		kind = fmt.Sprintf("of %d kinds", len(p.Voters))
	}
	f := newFacts(w, 12)
	f.add("budget", "(%.6g, %.6g)-DP for the majority of %d mechanisms, %s", p.Allowance*p.Epsilon, p.OutputDelta, p.Mechanisms, kind)
	if p.Classes > 2 {
		f.add("votes", "for one of %d labels; without an absolute majority, or else, a uniform one is told", p.Classes)
	}
	f.add("certified", "%v: %s", a.Certified, a.Proof)
	f.add("max f", "%.12g of at most %.12g", a.MaxF, a.BudgetF)
	if a.MaxF-a.Attained > 1e-9*a.MaxF {
		f.add("attained", "%.6g of max f for certain: the certificate has this gap", a.Attained)
	}
	f.add("objective", "%.12g", a.Objective)
	// What rounding leaves is not worth a line.
	if a.Gap != nil && *a.Gap > 1e-9*a.Objective {
		f.add("gap", "the largest objective is at most %s more", rounded(*a.Gap, 2, up))
	}
	if a.EpsilonUpper != nil {
		how := "whatever families are chosen in the light of earlier answers"
		if p.Classes > 2 {
			how = "by composing the bound of one"
		}
		f.add("answers", "%d cost %s ≤ ε ≤ %s, %s", a.Answers, rounded(*a.EpsilonLower, 5, down), rounded(*a.EpsilonUpper, 5, up), how)
	}
	f.Flush()
	fmt.Fprintln(w, "expected error")
	f = newFacts(w, 15)
	for _, fam := range a.Families {
		f.add("  "+fam.Name, "%.6g", a.Error[fam.Name])
	}
	f.Flush()
	fmt.Fprintln(w, "votes for the majority, probability γ of telling it")
	f = newFacts(w, 13)
	for l := (p.Mechanisms + 1) / 2; l <= p.Mechanisms; l++ {
		f.add(fmt.Sprintf("  %5d", l), "%.15g", a.Gamma[l])
	}
	f.Flush()
}

// majorityPicture draws noise functions, which are defined at whole numbers of votes.
func majorityPicture(families []service.MajorityFamily) figure.Picture {
	pic := figure.Picture{Title: "Noise functions of equal budget", X: figure.Axis{Label: "votes for 1", Whole: true},
		Y: figure.Axis{Label: "γ, probability of telling the majority", Max: 1.04}}
	for _, fam := range families {
		b := figure.Band{Name: fam.Name, Method: figure.Named("private majority", fam.Name), Dots: true}
		for l, v := range fam.Gamma {
			b.X, b.Proved = append(b.X, float64(l)), append(b.Proved, v)
		}
		pic.Bands = append(pic.Bands, b)
	}
	return pic
}
