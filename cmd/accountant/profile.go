package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/service"
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
  accountant profile --mechanism laplace --noise-multiplier 2 --sampling-rate 0.01 --out profile.svg
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
	fs.StringVar(&in.out, "out", "", "draw the profile to this `file` (.svg, .png or .pdf)")
	in.output.register(cmd)
	_ = cmd.MarkFlagFilename("out", pictures...)
	return cmd
}

type profileFlags struct {
	service.ProfileRequest
	out string
	output
}

func (f *profileFlags) run(cmd *cobra.Command) error {
	if f.out != "" {
		if err := pictureFormat("out", f.out); err != nil {
			return err
		}
	}
	a, err := measured(cmd, "computing", func(m *meter) (service.Profile, error) {
		ctx := service.WithProgress(cmd.Context(), m.show)
		a, err := service.New(nil).Profile(ctx, f.ProfileRequest)
		if err == nil && f.out != "" {
			err = drawProfile(ctx, a, f.out)
		}
		return a, err
	})
	if err != nil {
		return flagged(cmd, err)
	}
	return f.print(cmd.OutOrStdout(), a, func(w io.Writer) error {
		if err := printProfile(w, a); err != nil || f.out == "" {
			return err
		}
		_, err := fmt.Fprintf(w, "\nwrote %s\n", printable(f.out))
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

func drawProfile(ctx context.Context, a service.Profile, path string) error {
	const n = 200
	pic := picture{title: profileTitle(a), x: "ε", y: "δ", logY: true, xMin: -a.Reach / 8, xMax: a.Reach, yMin: a.Floor, yMax: 1, legendUp: true}
	bands := make([]band, 2)
	bands[1].dashes = []vg.Length{vg.Points(6), vg.Points(4)}
	for i := range n {
		eps := pic.xMin + (pic.xMax-pic.xMin)*float64(i)/(n-1)
		row, err := a.More(ctx, eps)
		if err != nil {
			return err
		}
		for d, p := range row.Directions {
			b := &bands[d]
			low := p.Delta.Lower
			if p.Attack != nil {
				low = p.Attack.Lower
			}
			b.name = p.Direction
			b.x = append(b.x, eps)
			b.upper = append(b.upper, float64(p.Delta.Upper))
			b.lower = append(b.lower, float64(low))
			b.proved, b.between = b.upper, convex
		}
	}
	pic.bands = bands
	if a.SameUpper {
		pic.bands = bands[:1]
		pic.bands[0].name = "both directions, " + a.Neighbors
	}
	if err := pic.save(path); err != nil {
		return pathProblem("--out", err)
	}
	return nil
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
