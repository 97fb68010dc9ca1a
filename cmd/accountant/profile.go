package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
)

func newProfileCmd() *cobra.Command {
	return question{name: "profile", what: "computing", under: true, picture: "the profile", width: 17, height: 11, alias: true, except: []string{"mechanism"}, text: printing(printProfile), draw: profilePicture, extra: func(a *asking) {
		addChoice(a.cmd, &a.request.(*service.ProfileRequest).Mechanism, "mechanism", "`name` of the mechanism (required)",
			"gaussian", "laplace", "discrete-gaussian", "discrete-laplace", "skellam", "summed-noise", "randomized-response", "pure", "approximate", "finite", "gaussian-mixture",
			"exponential", "permute-and-flip", "noisy-max", "threshold", "select-partitions")
		required(a.cmd, "mechanism")
	}}.command()
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
func profilePicture(ctx context.Context, answer any, _ *asking) (figure.Picture, error) {
	const n = 60
	a := answer.(service.Profile)
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

func printProfile(w io.Writer, a service.Profile, of *asking) {
	fmt.Fprintf(w, "%s; neighbors: %s\n\n", profileTitle(a), a.Neighbors)
	tw := print.NewTable(w, 3, 0)
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
	tw.Flush()
	if a.TheoryGap {
		fmt.Fprintln(w, "\nThe larger end is proved; the smaller one is what a known attack reaches.")
	}
	if of.plot.file != "" {
		fmt.Fprintf(w, "\nwrote %s\n", printable(of.plot.file))
	}
}

// certifiedDelta writes one number where rounding to seven digits hides the width.
func certifiedDelta(lower, upper service.Number) string {
	if upper == 0 {
		return "0"
	}
	if lo, hi := rounded(lower, 7, near), rounded(upper, 7, near); lo == hi {
		return lo
	}
	return ends(lower, upper, 5, " … ")
}
