package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/decimal"
)

// maxScores bounds the size of a file of scores, some five million of them.
const maxScores = 1 << 27

// rocPoints is how many points of a curve a picture has: stairs of less than a pixel.
const rocPoints = 1000

func newAuditCmd() *cobra.Command {
	return question{name: "audit", what: "auditing", picture: "the ROC of the attack and the certified curve of the plan", width: 16, height: 12, text: printing(printAudit), draw: drawing(auditPicture), extra: func(a *asking) {
		q := a.request.(*service.AuditRequest)
		a.cmd.Args, a.cmd.ValidArgsFunction = exactly("scores.csv"), completeFiles(0, 0, "csv")
		a.read = func() error {
			if a.plot.file != "" {
				q.Points = service.Float(rocPoints)
			}
			data, name, err := readSmall(a.cmd, a.args[0], maxScores)
			if err == nil {
				a.name = name
				q.Members, q.NonMembers, err = parseScores(name, data)
			}
			return err
		}
		a.wrote = func(answer any) (any, error) {
			for _, c := range answer.(service.Answers[*service.AuditAnswer]).Results {
				c.ROC, c.Curve, c.Band = nil, nil, nil // they are in the picture
			}
			return answer, nil
		}
	}}.command()
}

// parseScores reads the score,member rows of a file of that name.
func parseScores(name string, data []byte) (members, others []float64, err error) {
	score, member := -1, -1
	err = eachRow(bytes.NewReader(data), name, func(cells []string, first bool) error {
		if first {
			score, member = slices.Index(cells, "score"), slices.Index(cells, "member")
			if score < 0 || member < 0 || len(cells) != 2 {
				return fmt.Errorf("header: %s is not score,member", show(strings.Join(cells, ",")))
			}
			return nil
		}
		x, err := scoreOf(cells[score])
		if err != nil {
			return fmt.Errorf("score: %s is not a number", show(cells[score]))
		}
		switch strings.ToLower(cells[member]) {
		case "1", "true":
			members = append(members, x)
		case "0", "false":
			others = append(others, x)
		default:
			return fmt.Errorf("member: %s is not 1 or 0", show(cells[member]))
		}
		return nil
	})
	if err == nil && score < 0 {
		err = fmt.Errorf("%s: is empty; its header must be score,member", name)
	}
	return members, others, err
}

// scoreOf is the score that a text stands for. Only the order of scores matters: one that is too large is an
// infinity, which may be written as programs do.
func scoreOf(text string) (float64, error) {
	switch strings.ToLower(text) {
	case "inf", "+inf", "infinity", "+infinity":
		return math.Inf(1), nil
	case "-inf", "-infinity":
		return math.Inf(-1), nil
	}
	x, err := decimal.Plain(text)
	if math.IsInf(x, 0) {
		return x, nil
	}
	return x, err
}

func printAudit(w io.Writer, a *service.AuditAnswer, _ *asking) {
	fmt.Fprintf(w, "%s: %d members, %d others, confidence %s\n\n", a.Design, a.Members, a.NonMembers, short(a.Confidence))
	of := ""
	if a.Family != "" {
		of = ", as the mechanism is said to be " + strings.ToUpper(a.Family[:1]) + a.Family[1:]
	}
	fmt.Fprintf(w, "  ε ≥ %s at δ = %s%s\n", rounded(a.Epsilon.Lower, 5, down), short(a.Delta), of)
	fmt.Fprintf(w, "  μ ≥ %s (Gaussian differential privacy)\n\n", rounded(a.Mu.Lower, 5, down))
	if r := a.Rates; r != nil {
		fmt.Fprintf(w, "A score of at least %s had %d of %d members and %d of %d others:\n", rounded(r.Threshold, 6, near), r.TruePositives, r.Members, r.FalsePositive, r.NonMembers)
		fmt.Fprintf(w, "true-positive rate ≥ %s, false-positive rate ≤ %s.\n", rounded(r.TruePositive.Lower, 4, down), rounded(r.FalsePosRate.Upper, 4, up))
	}
	if g := a.Guesses; g != nil {
		fmt.Fprintf(w, "The %d highest scores guessed to be members and the %d lowest not to be:\n%d of %d right, the best of %d such tests.\n", g.In, g.Out, g.Correct, g.In+g.Out, g.Tests)
	}
	c := a.Claim
	if c == nil {
		return
	}
	fmt.Fprintf(w, "\nplan (%s): %s %s\n", c.Unit.Text(), ends(c.Epsilon.Lower, c.Epsilon.Upper, 0, " ≤ ε ≤ "), titleOf(c.Epsilon))
	verdict := "consistent: the attack does not refute the plan; it does not confirm it either"
	if !c.Consistent {
		verdict = print.Paint(w, print.Red, "REFUTED: this plan is not what ran, or chance was against it")
	}
	fmt.Fprintf(w, "%s\n(%s)\n", verdict, c.Reason)
}

// auditPicture draws the ROC of an attack, and above it what the plan allows.
func auditPicture(a *service.AuditAnswer) figure.Picture {
	low := min(1e-3, 0.5/float64(a.NonMembers))
	pic := figure.Picture{Title: "ROC of the attack", X: figure.Axis{Label: "false-positive rate", Log: true, Min: low, Max: 1},
		Y: figure.Axis{Label: "true-positive rate", Log: true, Min: low, Max: 1}, LegendLeft: true, LegendUp: true}
	// The observed rates are steps; what is not positive is not in a logarithmic picture.
	seen := figure.Band{Name: "observed", Between: figure.ToLeft}
	for _, r := range a.ROC {
		seen.Add(max(float64(r.FalsePositive), low), max(float64(r.TruePositive), low))
	}
	// The certified power at a larger rate holds at a smaller one, what some attack
	// reaches at a smaller one at a larger: steps are on the proved side everywhere.
	upper := figure.Band{Name: "plan: no attack is above", Between: figure.ToRight}
	lower := figure.Band{Name: "plan: some attack attains", Between: figure.ToLeft}
	for _, c := range a.Curve {
		upper.Add(float64(c.FalsePositive), max(low, float64(c.Upper)))
		lower.Add(float64(c.FalsePositive), max(low, float64(c.Lower)))
	}
	pic.Bands = []figure.Band{seen}
	if a.Curve != nil {
		pic.Bands = append(pic.Bands, upper)
		if a.Claim.Epsilon.Upper-a.Claim.Epsilon.Lower > 1e-3*a.Claim.Epsilon.Upper {
			pic.Bands = append(pic.Bands, lower)
		}
	}
	pic.Bands = append(pic.Bands, figure.Band{Name: "guessing", X: []float64{low, 1}, Proved: []float64{low, 1}, Muted: true})
	if a.Band != nil {
		// What is attained at a rate is attained at a larger one.
		proved := figure.Band{Name: "proved: some attack is above", Between: figure.ToLeft}
		band := slices.SortedFunc(slices.Values(a.Band), func(a, b service.ROCPoint) int { return cmp.Compare(a.FalsePositive, b.FalsePositive) })
		most := low
		for _, r := range band {
			if x, y := float64(r.FalsePositive), float64(r.TruePositive); x < 1 && y > most {
				most = y
				proved.Add(max(low, x), most)
			}
		}
		if proved.X != nil {
			proved.Add(1, most)
			pic.Bands = append(pic.Bands, proved)
		}
	}
	if mu := float64(a.Mu.Lower); a.Family != "" && mu > 0 {
		normal := figure.Band{Name: "proved, as it is Gaussian"}
		for i := range rocPoints {
			x := math.Pow(low, 1-float64(i)/rocPoints)
			normal.Add(x, max(low, distuv.UnitNormal.CDF(distuv.UnitNormal.Quantile(x)+mu)))
		}
		pic.Bands = append(pic.Bands, normal)
	}
	return pic
}
