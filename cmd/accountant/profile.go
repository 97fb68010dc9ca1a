package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/fourier"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/profiles"
)

// profileParams are the parameters of mechanisms in plan files, one flag each.
var profileParams = []struct{ name, usage string }{
	{"noise-multiplier", "gaussian, laplace, discrete-gaussian, discrete-laplace: `scale` of the noise over the sensitivity"},
	{"sensitivity", "discrete-gaussian (L2), discrete-laplace (L1): a whole `number` (default 1)"},
	{"dimension", "discrete-gaussian: 1 says that the query is one whole `number` (default: any number of them)"},
	{"probability", "randomized-response: `probability` that the answer is random"},
	{"categories", "randomized-response: `number` of answers"},
	{"epsilon", "pure, approximate: `ε` of the guarantee"},
	{"delta", "approximate: `δ` of the guarantee"},
	{"p", "finite: `probabilities` of the outcomes on a data set, with commas between them"},
	{"q", "finite: `probabilities` on its neighbour"},
}

func newProfileCmd() *cobra.Command {
	in := profileFlags{params: map[string]*string{}}
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
	addChoice(cmd, &in.mechanism, "mechanism", "`name` of the mechanism (required)",
		"gaussian", "laplace", "discrete-gaussian", "discrete-laplace", "randomized-response", "pure", "approximate", "finite")
	_ = cmd.MarkFlagRequired("mechanism")
	for _, p := range profileParams {
		in.params[p.name] = fs.String(p.name, "", p.usage)
	}
	fs.StringVar(&in.rate, "sampling-rate", "", "`probability` of each record to take part, independently")
	addNeighbors(cmd, &in.neighbors)
	fs.StringVar(&in.at, "at", "", "show these `ε`, with commas between them, may be negative (default: a range that suits the mechanism)")
	fs.StringVar(&in.minDelta, "min-delta", "1e-12", "the default range ends where `δ` is this small")
	fs.StringVar(&in.out, "out", "", "draw the profile to this `file` (.svg, .png or .pdf)")
	in.output.register(cmd)
	_ = cmd.MarkFlagFilename("out", pictures...)
	return cmd
}

type profileFlags struct {
	mechanism, rate, neighbors, at, minDelta, out string
	params                                        map[string]*string
	output
}

// plan returns the one-step plan that the flags describe. Plans are read
// strictly, so that the flags are as well.
func (f *profileFlags) plan(cmd *cobra.Command) (*accountant.Plan, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "neighbors: %s\nsteps:\n  - mechanism:\n      %s: {", f.neighbors, quoteYAML(f.mechanism))
	comma := ""
	for _, p := range profileParams {
		if !cmd.Flags().Changed(p.name) {
			continue
		}
		value := strings.TrimSpace(*f.params[p.name])
		if p.name == "p" || p.name == "q" {
			xs, err := parseNumbers(p.name, value, interval{lo: 0, hi: 1})
			if err != nil {
				return nil, err
			}
			var list []string
			for _, x := range xs {
				list = append(list, short(x))
			}
			value = "[" + strings.Join(list, ", ") + "]"
		} else if _, err := parseNumber(p.name, value, interval{lo: -math.MaxFloat64, hi: math.MaxFloat64}); err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s%s: %s", comma, p.name, value)
		comma = ", "
	}
	b.WriteString("}\n")
	if f.rate != "" {
		if _, err := parseNumber("sampling-rate", f.rate, interval{lo: 0, hi: 1}); err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "    sampling: {poisson: {rate: %s}}\n", strings.TrimSpace(f.rate))
	}
	p, err := plan.Parse([]byte(b.String()))
	var pe *plan.Error
	if errors.As(err, &pe) {
		// In the words of the command line.
		field := strings.TrimPrefix(strings.TrimPrefix(pe.Field, "steps[0]."), "mechanism.")
		field = strings.TrimPrefix(strings.TrimPrefix(field, f.mechanism), ".")
		switch {
		case pe.Field == "steps[0].mechanism":
			field = "mechanism"
		case field == "" || !cmd.Flags().Changed(strings.Split(field, "[")[0]):
			return nil, fmt.Errorf("--mechanism %s: %s", f.mechanism, pe.Problem)
		}
		return nil, fmt.Errorf("--%s: %s", field, pe.Problem)
	}
	return p, err
}

// quoteYAML quotes what a mechanism could be called by mistake.
func quoteYAML(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// A profileRow holds δ at one ε: for each direction, the proved interval and, if it
// is another one, the attack's.
type profileRow struct {
	eps    float64
	proved [2]fourier.Result
	attack [2]*fourier.Result
}

func (f *profileFlags) run(cmd *cobra.Command) error {
	if f.out != "" {
		if err := pictureFormat("out", f.out); err != nil {
			return err
		}
	}
	plan, err := f.plan(cmd)
	if err != nil {
		return err
	}
	floor, err := parseNumber("min-delta", f.minDelta, interval{lo: 1e-300, hi: 0.5})
	if err != nil {
		return err
	}
	step := plan.Steps[0]
	var m profiles.Mechanism
	if step.Sampling == nil {
		m, err = profiles.Unsampled(cmd.Context(), step.Mechanism, plan.Neighbors)
	} else {
		m, err = step.Sampling.Apply(step.Mechanism, plan.Neighbors)
	}
	if err != nil {
		return err
	}
	rows, err := measured(cmd, "computing", func(bar *meter) ([]profileRow, error) { return f.compute(cmd.Context(), m, floor, bar) })
	if err != nil {
		return err
	}
	names := m.Relation.DirectionNames()
	return f.output.print(cmd.OutOrStdout(), f.toJSON(m, names, rows), func(w io.Writer) error {
		return f.print(w, m, names, rows)
	})
}

// compute asks for the rows, and draws the picture if there is to be one.
func (f *profileFlags) compute(ctx context.Context, m profiles.Mechanism, floor float64, bar *meter) (rows []profileRow, err error) {
	one := func(p profiles.Profile) (*fourier.Sum, error) {
		s := fourier.New(fourier.Options{})
		return s, s.Add(p, 1)
	}
	var upper, lower [2]*fourier.Sum
	for d, dir := range m.Directions {
		if upper[d], err = one(dir.Upper); err != nil {
			return nil, err
		}
		if dir.Lower != nil && !profiles.Equal(dir.Lower, dir.Upper) {
			if lower[d], err = one(dir.Lower); err != nil {
				return nil, err
			}
		}
	}
	ask := func(eps float64) (row profileRow, err error) {
		row.eps = eps
		for d := range upper {
			if row.proved[d], err = upper[d].Delta(ctx, eps); err != nil {
				return row, err
			}
			if lower[d] != nil {
				r, err := lower[d].Delta(ctx, eps)
				if err != nil {
					return row, err
				}
				row.attack[d] = &r
			}
		}
		return row, nil
	}
	reach := 0.0
	for _, s := range upper {
		for delta := floor; delta < 1; delta *= 10 {
			r, err := s.Epsilon(ctx, delta)
			if err != nil {
				return nil, err
			}
			if !math.IsInf(r.Upper, 0) {
				if delta > floor {
					r.Upper *= 1.25 // show the δ that no ε gets below
				}
				reach = max(reach, r.Upper)
				break
			}
		}
	}
	if reach == 0 {
		reach = 1
	}
	var at []float64
	if f.at != "" {
		if at, err = parseNumbers("at", f.at, interval{lo: -1e6, hi: 1e6}); err != nil {
			return nil, err
		}
	} else {
		// A round step, some sixteen of them.
		by := math.Pow(10, math.Floor(math.Log10(reach/16)))
		for _, k := range []float64{1, 2, 2.5, 5, 10} {
			if by*k*16 >= reach {
				by *= k
				break
			}
		}
		for i := -2; float64(i-1)*by < reach; i++ {
			at = append(at, math.Round(float64(i)*by*1e12)/1e12)
		}
	}
	for i, eps := range at {
		bar.at(i, len(at))
		row, err := ask(eps)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	if f.out != "" {
		if err := f.draw(m, ask, reach, floor); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// title names the mechanism with its parameters.
func (f *profileFlags) title() string {
	var parts []string
	for _, p := range profileParams {
		if v := *f.params[p.name]; v != "" {
			parts = append(parts, strings.ReplaceAll(p.name, "-", " ")+" "+v)
		}
	}
	if f.rate != "" {
		parts = append(parts, "sampling rate "+f.rate)
	}
	return f.mechanism + ", " + strings.Join(parts, ", ")
}

func (f *profileFlags) draw(m profiles.Mechanism, ask func(float64) (profileRow, error), reach, floor float64) error {
	const n = 200
	pic := picture{title: f.title(), x: "ε", y: "δ", logY: true, xMin: -reach / 8, xMax: reach, yMin: floor, yMax: 1, legendUp: true}
	var bands [2]band
	for d, name := range m.Relation.DirectionNames() {
		bands[d].name = name
		if d == 1 {
			bands[d].dashes = []vg.Length{vg.Points(6), vg.Points(4)}
		}
	}
	for i := range n {
		eps := pic.xMin + (pic.xMax-pic.xMin)*float64(i)/(n-1)
		row, err := ask(eps)
		if err != nil {
			return err
		}
		for d := range bands {
			b := &bands[d]
			b.x = append(b.x, eps)
			b.upper = append(b.upper, row.proved[d].Upper)
			low := row.proved[d].Lower
			if row.attack[d] != nil {
				low = row.attack[d].Lower
			}
			b.lower = append(b.lower, low)
			b.proved, b.between = b.upper, convex
		}
	}
	pic.bands = bands[:]
	if profiles.Equal(m.Directions[0].Upper, m.Directions[1].Upper) {
		pic.bands = bands[:1]
		pic.bands[0].name = "both directions, " + m.Relation.String()
	}
	if err := pic.save(f.out); err != nil {
		return pathProblem("--out", err)
	}
	return nil
}

func (f *profileFlags) print(w io.Writer, m profiles.Mechanism, names [2]string, rows []profileRow) error {
	fmt.Fprintf(w, "%s; neighbors: %v\n\n", f.title(), m.Relation)
	same := profiles.Equal(m.Directions[0].Upper, m.Directions[1].Upper) && !m.TheoryGap()
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	if same {
		fmt.Fprintf(tw, "  ε\tδ, either direction\n")
	} else {
		fmt.Fprintf(tw, "  ε\tδ, %s\tδ, %s\n", names[0], names[1])
	}
	for _, r := range rows {
		fmt.Fprintf(tw, "  %s", short(r.eps))
		for d := range r.proved {
			if d == 1 && same {
				break
			}
			p := r.proved[d]
			text := certifiedDelta(p.Lower, p.Upper)
			if a := r.attack[d]; a != nil {
				text = certifiedDelta(a.Lower, p.Upper)
			}
			fmt.Fprintf(tw, "\t%s", text)
		}
		fmt.Fprintln(tw)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if m.TheoryGap() {
		fmt.Fprintln(w, "\nThe larger end is proved; the smaller one is what a known attack reaches.")
	}
	if f.out != "" {
		fmt.Fprintf(w, "\nwrote %s\n", printable(f.out))
	}
	return nil
}

// certifiedDelta writes one number where rounding to seven digits hides the width.
func certifiedDelta(lower, upper float64) string {
	if upper == 0 {
		return "0"
	}
	if lo, hi := rounded(lower, 7, near), rounded(upper, 7, near); lo == hi {
		return lo
	}
	return rounded(lower, 5, down) + " … " + rounded(upper, 5, up)
}

type (
	profileJSON struct {
		Mechanism    string            `json:"mechanism"`
		Parameters   map[string]string `json:"parameters"`
		SamplingRate string            `json:"sampling-rate,omitempty"`
		Neighbors    string            `json:"neighbors"`
		Results      []profileRowJSON  `json:"results"`
	}
	profileRowJSON struct {
		Epsilon    number             `json:"epsilon"`
		Directions []profileDeltaJSON `json:"directions"`
	}
	profileDeltaJSON struct {
		Direction string      `json:"direction"`
		Delta     boundsJSON  `json:"delta"`
		Attack    *boundsJSON `json:"attack,omitempty"`
	}
)

func (f *profileFlags) toJSON(m profiles.Mechanism, names [2]string, rows []profileRow) profileJSON {
	out := profileJSON{f.mechanism, map[string]string{}, f.rate, m.Relation.String(), nil}
	for name, v := range f.params {
		if *v != "" {
			out.Parameters[name] = *v
		}
	}
	for _, r := range rows {
		row := profileRowJSON{Epsilon: number(r.eps)}
		for d, p := range r.proved {
			x := profileDeltaJSON{names[d], boundsJSON{number(p.Lower), number(p.Estimate), number(p.Upper)}, nil}
			if a := r.attack[d]; a != nil {
				x.Attack = &boundsJSON{number(a.Lower), number(a.Estimate), number(a.Upper)}
			}
			row.Directions = append(row.Directions, x)
		}
		out.Results = append(out.Results, row)
	}
	return out
}
