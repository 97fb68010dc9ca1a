package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// switches are added to check.h: which term is left out, and whether the work is coarse, so that the terms are large.
const switches = `
#include <stdlib.h>
static inline int without(int term) { static int is = -1; if (is < 0) is = atoi(getenv("WITHOUT")); return is == term; }
static inline int coarse(int way) { static int is = -1; if (is < 0) is = atoi(getenv("COARSE_WAY")); return is == way; }
`

// The ways to be coarse.
const (
	coarseLine  = iota + 1 // the tolerance of the integral
	coarseCells            // few cells
	coarseTails            // what is beyond the cells of a run
	coarseUnits            // few bits of a mass
	coarseCuts             // what is cut off after a product
)

// coarser are the places where the work becomes coarse.
var coarser = []struct{ file, from, to string }{
	{"contour.c", "if (first)\n\t\t*tol =", "if (first)\n\t\t*tol = coarse(1) ? -3 :"},
	{"verify.c", "lattice_range(c, d)/COARSE", "lattice_range(c, d)/(coarse(2) ? 100 : COARSE)"},
	{"lattice.c", "law_of(&one, &g, &c->step[i], d, c->delta*exp2(-less))", "law_of(&one, &g, &c->step[i], d, c->delta*(coarse(3) ? 0.125 : exp2(-less)))"},
	{"lattice.c", "cells_of_outcomes(&x, g, lost, n, p, q, tail/n);", "cells_of_outcomes(&x, g, lost, n, p, q, coarse(3) ? tail : tail/n);"},
	{"lattice.c", ".bits = 44 + less - log2(c->delta) + 1.5*eps", ".bits = (coarse(4) ? 6 : 44 + less + 1.5*eps) - log2(c->delta)"},
	{"lattice.c", "arf_get_fmpz(out, x, up ?", "arf_get_fmpz(out, x, up && (!coarse(4) || without(0)) ?"},
	{"lattice.c", "fmpz_one_2exp(g.cut, g.bits + log2(c->delta) - less);", "fmpz_one_2exp(g.cut, coarse(4) ? 0 : g.bits + log2(c->delta) - (coarse(5) ? 4 : less));"},
}

// terms are left out in turn.
var terms = []struct {
	name           string
	file, from, to string
	plan           string
	delta          float64
	way            int
}{
	{"contour: cut off", "contour.c", "int ok = left_out(part, c, d, l, eps, prec);\n\tarb_add_error", "int ok = left_out(part, c, d, l, eps, prec);\n\tif (!without(%d)) arb_add_error", sgd, 1e-5, coarseLine},
	{"contour: periods behind", "contour.c", "l->behind, l->theta, lambda, eps, prec);\n\tarb_add_error", "l->behind, l->theta, lambda, eps, prec);\n\tif (!without(%d)) arb_add_error", sgd, 1e-5, coarseLine},
	{"contour: infinite losses", "contour.c", "\tarb_sub_ui(m0, m0, 1, prec);\n\tarb_sub(delta, delta, m0, prec);\n\treturn ok;", "\tarb_sub_ui(m0, m0, 1, prec);\n\tif (!without(%d)) arb_sub(delta, delta, m0, prec);\n\treturn ok;", and(sgd), 1e-5, 0},
	{"lattice: infinite losses", "lattice.c", "arb_sub_ui(m0, m0, 1, g.prec);\n\t\tarb_sub(", "arb_sub_ui(m0, m0, 1, g.prec);\n\t\tif (!without(%d)) arb_sub(", and(few), 1e-5, 0},
	{"lattice: the upper end of a cell", "lattice.c", "\t\t\tunits(carry, b, g, 1);", "\t\t\tunits(carry, b, g, 1); if (without(%d)) fmpz_zero(carry);", few, 1e-5, 0},
	{"lattice: the lower end of a cell", "lattice.c", "\t\t\tunits(u, a, g, 1);\n", "\t\t\tunits(u, a, g, 1); if (without(%d)) fmpz_zero(u);\n", few, 1e-5, 0},
	{"lattice: above the last cell", "lattice.c", "units(u, x.p + i, g, 1);\n\t\t\t\tfmpz_add(", "units(u, x.p + i, g, 1);\n\t\t\t\tif (!without(%d)) fmpz_add(", few, 1e-5, coarseTails},
	{"lattice: what is cut off after a product", "lattice.c", "fmpz_add(x->far, x->far, high);", "if (!without(%d)) fmpz_add(x->far, x->far, high);", few, 1e-5, coarseCuts},
	{"lattice: masses rounded up", "lattice.c", "\t\tif (up)\n\t\t\tfmpz_cdiv", "\t\tif (up && !without(%d))\n\t\t\tfmpz_cdiv", few, 1e-5, coarseUnits},
	{"lattice: outcomes left out", "lattice.c", "units(out->far, lost, g, 1);", "if (!without(%d)) units(out->far, lost, g, 1);", whole, 1e-5, coarseTails},
	{"lattice: infinite losses of products", "lattice.c", "fmpz_addmul(a, b, x->far);\n\tfmpz_cdiv", "fmpz_addmul(a, b, x->far);\n\tif (without(%d)) fmpz_zero(a);\n\tfmpz_cdiv", few, 1e-5, coarseTails},
	{"C5: the parabola", "choice.c", "if (B > 0 && C > 0 && C < 2*B)", "if (!without(%d) && B > 0 && C > 0 && C < 2*B)", exponentials, 1e-5, coarseCells},
	{"C4: the upper end of a sum", "allocation.c", "carry = m*high;", "carry = without(%d) ? 0 : m*high;", allocated, 1e-5, 0},
	{"C8: a type's infinite losses", "profile.c", "fmpz_add(x, x, t[i].far);", "if (!without(%d)) fmpz_add(x, x, t[i].far);", menu, 1e-5, 0},
	{"C8: the last value", "profile.c", "fmpz_set(out->far, v + n - 1);", "if (!without(%d)) fmpz_set(out->far, v + n - 1);", menu, 1e-5, 0},
	{"C9: the other direction", "profile.c", "slope[at]*u + height[at])*(1 + 1e-15)), 0)", "slope[at]*u + (without(%d) ? 0 : height[at]))*(1 + 1e-15)), 0)", searches("geometric, mean: 10"), 1e-5, 0},
	{"C9: the width of a slope", "profile.c", "w[j + 1 + most] += rise*(share + 1e-12);", "w[j + 1 + most] += without(%d) ? 0 : rise*(share + 1e-12);", searches("geometric, mean: 10"), 1e-5, 0},
}

var (
	beside       = `{mechanism: {approximate: {epsilon: 0.1, delta: 5e-6}}}`
	sgd          = onSamples("add-remove", "gaussian: {noise-multiplier: 1.1}", "poisson: {rate: 0.01}", 1000)
	few          = onSamples("add-remove", "gaussian: {noise-multiplier: 1.1}", "poisson: {rate: 0.1}", 4)
	whole        = onSamples("add-remove", "discrete-gaussian: {noise-multiplier: 2, dimension: 1}", "poisson: {rate: 0.1}", 6)
	exponentials = inFull("add-remove", "exponential: {epsilon: 0.3}", 12)
	allocated    = onSamples("add-remove", "gaussian: {noise-multiplier: 1}", "random-allocation: {steps: 20}", 3)
	menu         = strings.Replace(menus(12, 1), "cost: 3, steps: [", "cost: 3, steps: [{mechanism: {approximate: {epsilon: 0.1, delta: 1e-6}}}, ", 1)
)

// with another step.
func and(plan string) string { return strings.TrimSuffix(plan, "]") + ", " + beside + "]" }

// TestErrorTerms: a checker whose work is coarse proves nothing false, and a false certificate as soon as a term of the theorems of
// docs/reference/certificates.md is nothing. It is compiled once, with switches that only this test sets.
func TestErrorTerms(t *testing.T) {
	slow.Test(t)
	build(t)
	dir := filepath.Join(t.TempDir(), "src")
	if err := os.CopyFS(dir, os.DirFS("../../verify/src")); err != nil {
		t.Fatal(err)
	}
	edit := func(file, from, to string) {
		path := filepath.Join(dir, file)
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(source), from) != 1 {
			t.Fatalf("%q is not once in %s", from, file)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(source), from, to, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	edit("check.h", "enum { PROVED", switches+"enum { PROVED")
	for _, e := range coarser {
		edit(e.file, e.from, e.to)
	}
	for i, e := range terms {
		edit(e.file, e.from, fmt.Sprintf(e.to, i+1))
	}
	p := compile("terms", "-O1", filepath.Join(dir, "*.c"))
	if p.err != nil {
		t.Fatal(p.err)
	}
	t.Setenv("VERIFY_SECONDS", "0.3")
	claims := map[string][]string{} // of a plan: false ones
	held := map[string]bool{}       // plans and ways of which none is proved with all terms
	for i, e := range terms {
		t.Run(e.name, func(t *testing.T) {
			if claims[e.plan] == nil {
				text, answer, err := certify(e.plan, e.delta)
				if err != nil {
					t.Fatalf("%v\n%s", err, e.plan)
				}
				s := sample{certificate: text, answer: answer}
				lo, hi := float64(answer.Epsilon.Lower), claimOf(t, text, "upper")
				for _, off := range []float64{1e-4, 1e-3} {
					claims[e.plan] = append(claims[e.plan], s.claiming(0, lo*(1-off)))
					if e.way == coarseLine {
						claims[e.plan] = append(claims[e.plan], s.claiming(hi*(1+off), 2*hi))
					}
				}
			}
			falsely := func(without int) bool {
				t.Setenv("WITHOUT", strconv.Itoa(without))
				return slices.ContainsFunc(claims[e.plan], func(claim string) bool {
					code, _ := check(t, p.path, claim)
					return code == proved
				})
			}
			t.Setenv("COARSE_WAY", strconv.Itoa(e.way))
			if key := fmt.Sprint(e.way, e.plan); !held[key] {
				if held[key] = true; falsely(0) {
					t.Error("a false certificate is proved with all terms")
				}
			}
			if !falsely(i + 1) {
				t.Error("no false certificate is proved without the term")
			}
		})
	}
}
