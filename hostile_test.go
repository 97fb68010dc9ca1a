//go:build unix

package accountant_test

import (
	"fmt"
	"math"
	"strings"
	"syscall"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/plan"
)

// hostile are plans that took from 10 s to minutes beyond any limit of work: each with its steps, as often as told.
func hostile() map[string]string {
	out := map[string]string{}
	add := func(name, relation string, n int, step func(i int) string) {
		var text strings.Builder
		fmt.Fprintf(&text, "neighbors: %s\n", relation)
		if records, ok := strings.CutPrefix(name, "persons "); ok {
			fmt.Fprintf(&text, "records-per-person: %s\n", strings.Fields(records)[0])
		}
		text.WriteString("steps:\n")
		for i := range n {
			fmt.Fprintf(&text, "  - {%s}\n", step(i))
		}
		out[name+", "+relation] = text.String()
	}
	sampled := func(mechanism, sampling string) func(int) string {
		return func(int) string {
			return fmt.Sprintf("mechanism: {%s}, sampling: {%s}, count: 1000", mechanism, sampling)
		}
	}
	const noise = "gaussian: {noise-multiplier: 1}"
	for _, relation := range []string{"add-remove", "substitute", "zero-out"} {
		for _, records := range []int{1 << 10, 1 << 16, 1 << 20} {
			for _, rate := range []string{"0.0001", "0.01", "0.5"} {
				if records == 1<<20 && rate == "0.5" {
					continue // the table of its law alone takes a second
				}
				add(fmt.Sprintf("persons %d at rate %s", records, rate), relation, 1, sampled(noise, "poisson: {rate: "+rate+"}"))
			}
		}
		for _, sampling := range []string{"random-allocation: {steps: 1000}", "balls-in-bins: {bins: 1000, epochs: 10, redraw: each-epoch}",
			"balls-in-bins: {bins: 1000, epochs: 10, redraw: once}", "shuffle: {batches: 1000, redraw: each-epoch}"} {
			add(sampling, relation, 1, sampled(noise, sampling))
		}
		for _, scheme := range []string{"without-replacement", "with-replacement"} {
			for _, batch := range []int{1, 1000, 100000} {
				add(fmt.Sprintf("%s of %d", scheme, batch), relation, 1, sampled(noise, fmt.Sprintf("%s: {population: 1000000000, batch: %d}", scheme, batch)))
			}
		}
		for _, n := range []int{30, 100} {
			add(fmt.Sprintf("%d random allocations", n), relation, n, func(i int) string {
				return fmt.Sprintf("mechanism: {gaussian: {noise-multiplier: %v}}, sampling: {random-allocation: {steps: 100}}", 1+float64(i)/100)
			})
			for _, count := range []int{1, 100, 10000} {
				add(fmt.Sprintf("%d exponential mechanisms, %d times", n, count), relation, n, func(i int) string {
					return fmt.Sprintf("mechanism: {exponential: {epsilon: %v}}, count: %d", 0.1+float64(i)/100, count)
				})
			}
			add(fmt.Sprintf("%d discrete Gaussians", n), relation, n, func(i int) string {
				return fmt.Sprintf("mechanism: {discrete-gaussian: {noise-multiplier: %v, dimension: 1}}, sampling: {poisson: {rate: 0.01}}", 1+float64(i)/1000)
			})
			add(fmt.Sprintf("%d selections", n), relation, n, func(i int) string {
				return fmt.Sprintf("mechanism: {gaussian: {noise-multiplier: %v}}, count: 10, selection: {law: poisson, mean: 5}", 2+float64(i)/100)
			})
		}
		add("a selection of selections", relation, 1, func(int) string {
			return "selection: {law: geometric, mean: 10}, steps: [{selection: {law: poisson, mean: 5}, steps: [{mechanism: {gaussian: {noise-multiplier: 1}}, sampling: {poisson: {rate: 0.01}}, count: 100}], count: 2}]"
		})
	}
	return out
}

// TestHostile: whatever a plan asks for ends near its limit of work, 0.1 s of a processor, with an interval and a warning where
// it is wide. A plan with very many steps, or with selections, needs up to some 0.3 s to be looked at at all.
func TestHostile(t *testing.T) {
	slow.Test(t)
	const work, most = 2.5e6, 4 // seconds of a processor; before, these took from 10 to 100
	plans, asked := hostile(), 0
	for name, text := range plans {
		p, err := plan.Parse([]byte(text))
		if err != nil {
			t.Fatal(name, err)
		}
		before := processor(t)
		a := p.Accountant(accountant.WithWorkLimit(work))
		if err := a.AddPlan(t.Context(), p); err != nil {
			continue // what the relation does not allow
		}
		asked++
		iv, err := a.Epsilon(t.Context(), 1e-6)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if took := processor(t) - before; took > most {
			t.Errorf("%s: %.1f s of a processor, the limit is %.1f", name, took, work*40e-9)
		}
		if !(iv.Lower <= iv.Upper) {
			t.Errorf("%s: [%v, %v]", name, iv.Lower, iv.Upper)
		}
		if wide := iv.Upper-iv.Lower > max(1e-2*math.Abs(iv.Upper), 1e-6); (wide || math.IsInf(iv.Upper, 1)) && iv.Gap == nil && len(iv.Warnings) == 0 {
			t.Errorf("%s: [%v, %v] without a warning", name, iv.Lower, iv.Upper)
		}
	}
	if asked < 70 {
		t.Errorf("%d of %d plans were asked", asked, len(plans))
	}
}

// processor returns what this process has used, in seconds.
func processor(t *testing.T) float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return float64(r.Utime.Sec) + float64(r.Utime.Usec)/1e6
}
