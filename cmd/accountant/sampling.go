package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/profiles"
	"github.com/dpaccountant/accountant/subsample"
)

func newSamplingCmd() *cobra.Command {
	var flags answerFlags
	var recursion recursionFlag
	var in samplingFlags
	cmd := &cobra.Command{
		Use:   "sampling --population N --batch M --noise-multiplier σ [--subset B]",
		Short: "Compare the sampling schemes for one mechanism",
		Long: `sampling compares Poisson sampling, sampling without and with replacement and
the multistage schemes of MUST for one mechanism: how likely a record takes part
(η), how many distinct records a step reads, what one step at a base ε becomes
(ε', δ'), and the certified interval of ε after many steps.

One step at equal base ε is no ranking: look at the last column. The neighbouring
relation is substitution for all schemes.`,
		Example: `  accountant sampling --population 10000 --subset 118 --batch 200 --mechanism gaussian --noise-multiplier 4
  accountant sampling --population 1000 --batch 50 --noise-multiplier 5 --steps 100 --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := in.parse()
			if err != nil {
				return err
			}
			opts, err := flags.options()
			if err != nil {
				return err
			}
			if opts, err = recursion.add(opts); err != nil {
				return err
			}
			rows, err := measured(cmd, "comparing", func(m *meter) ([]samplingRow, error) { return run.rows(cmd.Context(), m, opts) })
			if err != nil {
				return err
			}
			if in.plot != "" {
				if err := run.plot(in.plot, rows); err != nil {
					return err
				}
			}
			for _, text := range samplingWarnings(rows) {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s%s\n", warning(cmd.ErrOrStderr()), text)
			}
			return flags.print(cmd.OutOrStdout(), run.json(rows), func(w io.Writer) error { return run.print(w, rows) })
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&in.population, "population", "", "number of records `N` (required)")
	fs.StringVar(&in.subset, "subset", "", "number `B` of the first stage's records, for the schemes of MUST")
	fs.StringVar(&in.batch, "batch", "", "number `M` of records in a subsample (required)")
	in.mechanism = "gaussian"
	addChoice(cmd, &in.mechanism, "mechanism", "`name` of the noise: gaussian or laplace", "gaussian", "laplace")
	fs.StringVar(&in.noise, "noise-multiplier", "", "noise `σ` over one record's largest contribution (required)")
	fs.StringVar(&in.epsilon, "epsilon", "1", "`ε` of the unsampled mechanism that ε' and δ' belong to")
	fs.StringVar(&in.steps, "steps", "1000", "number of steps `K` of the last column")
	fs.StringVar(&in.delta, "delta", "1e-5", "`δ` of the last column")
	fs.StringVar(&in.plot, "plot", "", "draw the aligned privacy profiles into this `file` (.png, .svg or .pdf)")
	for _, name := range []string{"population", "batch", "noise-multiplier"} {
		_ = cmd.MarkFlagRequired(name)
	}
	flags.register(cmd)
	recursion.register(cmd, "2000", "takes seconds for 1000")
	_ = cmd.MarkFlagFilename("plot", pictures...)
	_ = fs.MarkHidden("verbose")
	return cmd
}

// samplingFlags holds the flags as they were typed.
type samplingFlags struct {
	population, subset, batch, mechanism, noise, epsilon, steps, delta, plot string
}

type samplingRun struct {
	population, subset, batch, steps int64 // subset is 0 if it was not told
	noise, epsilon, delta            float64
	base                             profiles.Base
}

func (f *samplingFlags) parse() (r samplingRun, err error) {
	if r.population, err = parseWhole("population", f.population, 1e12); err != nil {
		return r, err
	}
	if f.subset != "" {
		if r.subset, err = parseWhole("subset", f.subset, 1e6); err != nil {
			return r, err
		}
	}
	if r.batch, err = parseWhole("batch", f.batch, 1e6); err != nil {
		return r, err
	}
	if r.steps, err = parseWhole("steps", f.steps, decimal.MaxWhole); err != nil {
		return r, err
	}
	if r.noise, err = parseNumber("noise-multiplier", f.noise, positive); err != nil {
		return r, err
	}
	if r.epsilon, err = parseNumber("epsilon", f.epsilon, epsilonRange); err != nil {
		return r, err
	}
	if r.delta, err = parseNumber("delta", f.delta, openUnit); err != nil {
		return r, err
	}
	switch f.mechanism {
	case "gaussian":
		r.base, err = profiles.NewGaussianMechanism(r.noise)
	case "laplace":
		r.base, err = profiles.NewLaplaceMechanism(r.noise)
	}
	if err != nil {
		return r, asFlag(err, map[string]string{f.mechanism: ""})
	}
	if f.plot != "" {
		if err := pictureFormat("plot", f.plot); err != nil {
			return r, err
		}
	}
	return r, nil
}

// A samplingRow is one scheme's line; refused says why there is none.
type samplingRow struct {
	name          string
	refused       string
	eta, distinct float64
	eps2, delta2  float64
	kind          subsample.Amplification
	interval      accountant.Interval
	numerical     float64
	aligned       []subsample.AlignedPoint
}

// alignedGrid is the paper's: ε from 0.01 to 6.
func alignedGrid() []float64 {
	xs := make([]float64, 600)
	for i := range xs {
		xs[i] = float64(i+1) / 100
	}
	return xs
}

func (r samplingRun) rows(ctx context.Context, m *meter, opts []accountant.Option) ([]samplingRow, error) {
	const schemes = 6
	rows := []samplingRow{}
	m.at(0, schemes)
	poisson := samplingRow{name: "poisson"}
	if r.batch > r.population {
		poisson.refused = fmt.Sprintf("the batch, %d, is above the population, %d", r.batch, r.population)
	} else if err := r.poisson(ctx, &poisson, opts); err != nil {
		return nil, err
	}
	rows = append(rows, poisson)
	needSubset := func(f func(n, b, m int64) (subsample.FixedSize, error)) func() (subsample.FixedSize, error) {
		return func() (subsample.FixedSize, error) {
			if r.subset == 0 {
				return subsample.FixedSize{}, fmt.Errorf("needs --subset")
			}
			return f(r.population, r.subset, r.batch)
		}
	}
	for _, c := range []struct {
		name string
		make func() (subsample.FixedSize, error)
	}{
		{"without-replacement", func() (subsample.FixedSize, error) {
			return subsample.NewWithoutReplacement(r.population, r.batch)
		}},
		{"with-replacement", func() (subsample.FixedSize, error) {
			return subsample.NewWithReplacement(r.population, r.batch)
		}},
		{"must-ow", needSubset(subsample.NewMustOW)},
		{"must-wo", needSubset(subsample.NewMustWO)},
		{"must-ww", needSubset(subsample.NewMustWW)},
	} {
		m.at(len(rows), schemes)
		row := samplingRow{name: c.name}
		s, err := c.make()
		if err != nil {
			row.refused = instead(err, c.name, "").Error()
			rows = append(rows, row)
			continue
		}
		row.eta, row.distinct = s.InclusionProbability(), s.ExpectedDistinct()
		points, err := s.Aligned(r.base, append(alignedGrid(), r.epsilon))
		if err != nil {
			return nil, err
		}
		last := points[len(points)-1]
		row.eps2, row.delta2, row.kind, row.aligned = last.Epsilon2, last.Delta2, last.Kind(), points[:len(points)-1]
		if err := r.compose(ctx, &row, s, opts); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// poisson fills the line of Poisson sampling, whose aligned profile is that of
// sampling without replacement at the same rate.
func (r samplingRun) poisson(ctx context.Context, row *samplingRow, opts []accountant.Option) error {
	rate := float64(r.batch) / float64(r.population)
	s, err := subsample.NewPoisson(rate)
	if err != nil {
		return err
	}
	row.eta, row.distinct = rate, float64(r.batch)
	wor, err := subsample.NewWithoutReplacement(r.population, r.batch)
	if err != nil {
		return err
	}
	points, err := wor.Aligned(r.base, []float64{r.epsilon})
	if err != nil {
		return err
	}
	row.eps2, row.delta2, row.kind = points[0].Epsilon2, points[0].Delta2, points[0].Kind()
	return r.compose(ctx, row, s, opts)
}

func (r samplingRun) compose(ctx context.Context, row *samplingRow, s subsample.Scheme, opts []accountant.Option) error {
	acct := accountant.New(accountant.Substitute, opts...)
	if err := acct.Add(ctx, accountant.Step{Name: row.name, Mechanism: r.base, Sampling: s}, r.steps); err != nil {
		return err
	}
	iv, err := acct.Epsilon(ctx, r.delta)
	if err != nil {
		return err
	}
	row.interval = iv
	row.numerical = iv.Upper - iv.Lower
	if iv.Gap != nil {
		row.numerical = max(iv.Gap.Proved.Upper-iv.Gap.Proved.Lower, iv.Gap.Attack.Upper-iv.Gap.Attack.Lower)
	}
	return nil
}

// samplingWarnings returns each warning once, after the schemes that it is about.
func samplingWarnings(rows []samplingRow) []string {
	var texts []string
	about := map[string][]string{}
	for _, row := range rows {
		for _, text := range row.interval.Warnings {
			if about[text] == nil {
				texts = append(texts, text)
			}
			if !slices.Contains(about[text], row.name) {
				about[text] = append(about[text], row.name)
			}
		}
	}
	for i, text := range texts {
		texts[i] = strings.Join(about[text], ", ") + ": " + oneLine(text)
	}
	return texts
}

func (r samplingRun) print(w io.Writer, rows []samplingRow) error {
	fmt.Fprintf(w, "%s noise, multiplier %s; population %d, subset %s, batch %d; neighbors: substitute\n\n",
		r.base.Name(), short(r.noise), r.population, orDash(r.subset), r.batch)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "scheme\tη\tdistinct\tε'\tδ'\tkind\tε after %d steps\n", r.steps)
	for _, row := range rows {
		if row.refused != "" {
			fmt.Fprintf(t, "%s\t–\t–\t–\t–\t–\t%s\n", row.name, row.refused)
			continue
		}
		fmt.Fprintf(t, "%s\t%.6g\t%.6g\t%.6g\t%.4g\t%v\t[%s, %s]\n", row.name, row.eta, row.distinct, row.eps2, row.delta2, row.kind,
			rounded(row.interval.Lower, 5, down), rounded(row.interval.Upper, 5, up))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nε' and δ' belong to base ε = %s; ε' differs from scheme to scheme: no ranking.\nThe last column is at δ = %s: lower ends are attacks, upper ends theorems.\n", short(r.epsilon), short(r.delta))
	return err
}

func orDash(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}

type (
	samplingJSON struct {
		Mechanism       string            `json:"mechanism"`
		NoiseMultiplier number            `json:"noise-multiplier"`
		Neighbors       string            `json:"neighbors"`
		Population      int64             `json:"population"`
		Subset          int64             `json:"subset,omitempty"`
		Batch           int64             `json:"batch"`
		BaseEpsilon     number            `json:"base-epsilon"`
		Delta           number            `json:"delta"`
		Schemes         []samplingRowJSON `json:"schemes"`
	}
	samplingRowJSON struct {
		Scheme           string       `json:"scheme"`
		NotApplicable    string       `json:"not-applicable,omitempty"`
		Eta              *number      `json:"eta,omitempty"`
		ExpectedDistinct *number      `json:"expected-distinct,omitempty"`
		AmplifiedEpsilon *number      `json:"amplified-epsilon,omitempty"`
		AmplifiedDelta   *number      `json:"amplified-delta,omitempty"`
		Kind             string       `json:"kind,omitempty"`
		Steps            int64        `json:"steps,omitempty"`
		Epsilon          *samplingEnd `json:"epsilon,omitempty"`
		NumericalWidth   *number      `json:"numerical-width,omitempty"`
		TheoryGap        bool         `json:"theory-gap,omitempty"`
		Warnings         []string     `json:"warnings,omitempty"`
	}
	samplingEnd struct {
		Lower number `json:"lower"`
		Upper number `json:"upper"`
	}
)

func (r samplingRun) json(rows []samplingRow) samplingJSON {
	out := samplingJSON{r.base.Name(), number(r.noise), "substitute", r.population, r.subset, r.batch, number(r.epsilon), number(r.delta), nil}
	ptr := func(x float64) *number {
		n := number(x)
		return &n
	}
	for _, row := range rows {
		j := samplingRowJSON{Scheme: row.name, NotApplicable: row.refused}
		if row.refused == "" {
			j.Eta, j.ExpectedDistinct = ptr(row.eta), ptr(row.distinct)
			j.AmplifiedEpsilon, j.AmplifiedDelta, j.Kind = ptr(row.eps2), ptr(row.delta2), row.kind.String()
			j.Steps = r.steps
			j.Epsilon = &samplingEnd{number(row.interval.Lower), number(row.interval.Upper)}
			j.NumericalWidth = ptr(row.numerical)
			j.TheoryGap, j.Warnings = row.interval.Gap != nil, row.interval.Warnings
		}
		out.Schemes = append(out.Schemes, j)
	}
	return out
}

// plot draws δ' − δ against ε'/ε.
func (r samplingRun) plot(path string, rows []samplingRow) error {
	pic := picture{
		title: fmt.Sprintf("Aligned privacy profiles: %s, noise multiplier %s", r.base.Name(), short(r.noise)),
		x:     "ε' / ε", y: "δ' − δ", xMin: math.Inf(1), xMax: math.Inf(-1),
	}
	for _, row := range rows {
		if len(row.aligned) == 0 {
			continue
		}
		b := band{name: row.name}
		if n := len(pic.bands); n > 0 {
			// Some lie on top of others.
			b.dashes = []vg.Length{vg.Points(9 - 2*float64(min(n, 4))), vg.Points(4)}
		}
		for _, a := range row.aligned {
			x := a.Epsilon2 / a.Epsilon
			b.x, b.upper = append(b.x, x), append(b.upper, a.Delta2-a.Delta)
			pic.xMin, pic.xMax = min(pic.xMin, x), max(pic.xMax, x)
		}
		b.proved = b.upper
		pic.bands = append(pic.bands, b)
	}
	if len(pic.bands) == 0 {
		return fmt.Errorf("--plot: no scheme of a fixed size exists for these numbers")
	}
	none := []float64{0, 0}
	pic.bands = append(pic.bands, band{name: "unchanged", x: []float64{pic.xMin, pic.xMax}, upper: none, proved: none, muted: true})
	return pic.save(path)
}
