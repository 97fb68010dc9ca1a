package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
)

func newProfileCmd() *cobra.Command {
	var in profileFlags
	q := &in.ProfileRequest
	cmd := &cobra.Command{
		Use:   "profile --mechanism gaussian --noise-multiplier 1",
		Short: "Show the privacy profile of one mechanism, sampled or not",
		Long: `profile shows δ at every ε for a single run of a mechanism, in each direction of
the neighbouring relation: what everything else is computed from. With
--sampling-rate the mechanism runs on a Poisson sample. Mechanisms and parameters
are those of plan files.`,
		Example: `  accountant profile --mechanism gaussian --noise-multiplier 1
  accountant profile --mechanism laplace --noise-multiplier 2 --sampling-rate 0.01 --plot profile.svg
  accountant profile --mechanism randomized-response --probability 0.5 --categories 4 --at 0,0.5,1 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return in.run(cmd) },
	}
	fs := cmd.Flags()
	addChoice(cmd, &q.Mechanism, "mechanism", "`name` of the mechanism (required)",
		"gaussian", "laplace", "discrete-gaussian", "discrete-laplace", "randomized-response", "pure", "approximate", "finite", "gaussian-mixture",
		"exponential", "permute-and-flip", "noisy-max", "threshold", "select-partitions")
	_ = cmd.MarkFlagRequired("mechanism")
	number(fs, &q.NoiseMultiplier, "noise-multiplier", "", "gaussian, laplace, discrete-gaussian, discrete-laplace, gaussian-mixture: `scale` of the noise over the sensitivity")
	number(fs, &q.Sensitivity, "sensitivity", "", "discrete-gaussian (L2), discrete-laplace (L1): a whole `number` (default 1)")
	number(fs, &q.Dimension, "dimension", "", "discrete-gaussian: 1 says that the query is one whole `number` (default: any number of them)")
	number(fs, &q.Probability, "probability", "", "randomized-response: `probability` that the answer is random")
	number(fs, &q.Categories, "categories", "", "randomized-response: `number` of answers")
	number(fs, &q.Epsilon, "epsilon", "", "pure, approximate, select-partitions: `ε` of the guarantee; exponential, permute-and-flip, noisy-max: twice the sensitivity over the scale of the noise")
	number(fs, &q.Delta, "delta", "", "approximate, select-partitions: `δ` of the guarantee")
	numbers(fs, &q.P, "p", "", "finite: `probabilities` of the outcomes on a data set, with commas between them")
	numbers(fs, &q.Q, "q", "", "finite: `probabilities` on its neighbour")
	numbers(fs, &q.Shifts, "shifts", "", "gaussian-mixture: whole `multiples` of the sensitivity by which the sum moves")
	numbers(fs, &q.Probabilities, "probabilities", "", "gaussian-mixture: their `probabilities`")
	fs.StringVar(&q.Noise, "noise", "", "`law` of the noise: gumbel, exponential or laplace of noisy-max, gaussian, laplace or discrete-laplace of threshold")
	number(fs, &q.StandardDeviation, "standard-deviation", "", "threshold with gaussian noise: its standard `deviation`")
	number(fs, &q.Scale, "scale", "", "threshold with laplace or discrete-laplace noise: its `scale`")
	number(fs, &q.Threshold, "threshold", "", "threshold: the least noisy `count` that is shown")
	number(fs, &q.Partitions, "partitions", "", "threshold: `number` of partitions that a person is in at most (default 1)")
	number(fs, &q.SamplingRate, "sampling-rate", "", "`probability` of each record to take part, independently")
	addNeighbors(cmd, &q.Neighbors)
	numbers(fs, &q.At, "at", "", "show these `ε`, with commas between them, may be negative (default: a range that suits the mechanism)")
	number(fs, &q.MinDelta, "min-delta", "1e-12", "the default range ends where `δ` is this small")
	in.output.register(cmd)
	addAccuracy(fs, &q.Accuracy)
	underCaps(cmd)
	in.picture.registerOut(cmd, "the profile", 17, 11)
	return cmd
}

type profileFlags struct {
	service.ProfileRequest
	picture pictureFlags
	output
}

func (f *profileFlags) run(cmd *cobra.Command) error {
	if err := f.picture.check(f.output); err != nil {
		return err
	}
	var pic figure.Picture
	a, err := measured(cmd, "computing", func(m *meter) (service.Profile, error) {
		ctx := service.WithProgress(cmd.Context(), m.show)
		a, err := service.New(nil).Profile(ctx, f.ProfileRequest)
		if err == nil && f.picture.file != "" {
			pic, err = profilePicture(ctx, a)
		}
		return a, err
	})
	if err != nil {
		return flagged(cmd, err)
	}
	warnAll(cmd.ErrOrStderr(), a.Warnings)
	return f.picture.show(cmd, f.output, a, func() figure.Picture { return pic }, func(w io.Writer) error {
		if err := printProfile(w, a); err != nil || f.picture.file == "" {
			return err
		}
		_, err := fmt.Fprintf(w, "\nwrote %s\n", printable(f.picture.file))
		return err
	})
}

// profileTitle names the mechanism with its parameters.
func profileTitle(a service.Profile) string {
	var parts []string
	for _, p := range a.Given {
		parts = append(parts, strings.ReplaceAll(p.Name, "-", " ")+" "+p.Value)
	}
	if a.SamplingRate != "" {
		parts = append(parts, "sampling rate "+a.SamplingRate)
	}
	return a.Mechanism + ", " + strings.Join(parts, ", ")
}

// profilePicture draws δ against ε in each direction, with more points where it bends.
func profilePicture(ctx context.Context, a service.Profile) (figure.Picture, error) {
	const n = 60
	from, to := -a.Reach/8, a.Reach
	pic := figure.Picture{Title: profileTitle(a), X: figure.Axis{Label: "ε", Min: from, Max: to}, Y: figure.Axis{Label: "δ", Log: true, Min: a.Floor, Max: 1}, LegendUp: true}
	all := service.Curves{From: from, To: to, Floor: a.Floor}
	for d := range 2 {
		b := figure.Band{Between: figure.Convex}
		ask := func(at []float64) (points []service.CurvePoint, err error) {
			for _, eps := range at {
				row, err := a.More(ctx, eps)
				if err != nil {
					return nil, err
				}
				p := row.Directions[d]
				low := p.Delta.Lower
				if p.Attack != nil {
					low = p.Attack.Lower
				}
				b.Name = p.Direction
				points = append(points, service.CurvePoint{X: service.Number(eps), Bounds: service.Bounds{Lower: low, Upper: p.Delta.Upper}})
			}
			return points, nil
		}
		var first []float64
		for i := range n {
			first = append(first, from+(to-from)*float64(i)/(n-1))
		}
		points, err := ask(first)
		if err != nil {
			return pic, err
		}
		points, err = finer(points, func(a, b service.CurvePoint) (float64, bool) { return middleOfDeltas(all, a, b) }, ask)
		if err != nil {
			return pic, err
		}
		for _, p := range points {
			b.X, b.Lower, b.Upper = append(b.X, float64(p.X)), append(b.Lower, float64(p.Lower)), append(b.Upper, float64(p.Upper))
		}
		b.Proved = b.Upper
		if a.SameUpper {
			b.Name = "both directions, " + a.Neighbors
			pic.Bands = append(pic.Bands, b)
			break
		}
		pic.Bands = append(pic.Bands, b)
	}
	return pic, nil
}

func printProfile(w io.Writer, a service.Profile) error {
	fmt.Fprintf(w, "%s; neighbors: %s\n\n", profileTitle(a), a.Neighbors)
	tw := newTable(w, 3, 0)
	if a.Same {
		fmt.Fprintf(tw, "  ε\tδ, either direction\n")
	} else {
		fmt.Fprintf(tw, "  ε\tδ, %s\tδ, %s\n", a.Results[0].Directions[0].Direction, a.Results[0].Directions[1].Direction)
	}
	for _, r := range a.Results {
		fmt.Fprintf(tw, "  %s", short(r.Epsilon))
		for d, p := range r.Directions {
			if d == 1 && a.Same {
				break
			}
			text := certifiedDelta(p.Delta.Lower, p.Delta.Upper)
			if p.Attack != nil {
				text = certifiedDelta(p.Attack.Lower, p.Delta.Upper)
			}
			fmt.Fprintf(tw, "\t%s", text)
		}
		fmt.Fprintln(tw)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if a.TheoryGap {
		fmt.Fprintln(w, "\nThe larger end is proved; the smaller one is what a known attack reaches.")
	}
	return nil
}

// certifiedDelta writes one number where rounding to seven digits hides the width.
func certifiedDelta(lower, upper service.Number) string {
	if upper == 0 {
		return "0"
	}
	if lo, hi := rounded(lower, 7, near), rounded(upper, 7, near); lo == hi {
		return lo
	}
	return rounded(lower, 5, down) + " … " + rounded(upper, 5, up)
}
