package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
)

// TestErrorTerms: with a tolerance that is coarse the checker proves nothing false, and proves a false certificate as soon as an error term of the
// integral is nothing: what is cut off at the last frequency, or the periods behind.
func TestErrorTerms(t *testing.T) {
	slow.Test(t)
	build(t)
	const added = "\n\tarb_add_error(delta, part);\n"
	coarse := [2]string{"*tol = fmin(-14, log(l.theta*(c->upper > 0 ? fmax(c->upper - c->lower, 1e-15*c->upper) : 1e-9)) - 8);", "*tol = -3;"}
	text, answer, err := certify("neighbors: add-remove\nsteps: [{mechanism: {gaussian: {noise-multiplier: 1.1}}, sampling: {poisson: {rate: 0.01}}, count: 1000}]", 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	s := sample{certificate: text, answer: answer}
	lo, hi := float64(answer.Epsilon.Lower), float64(answer.Epsilon.Upper)
	for _, c := range []struct {
		name, term string
		proved     bool
	}{
		{"none", "", false},
		{"cut off", "left_out(part, c, d, l, eps, prec);", true},
		{"behind", "l->behind, l->theta, lambda, eps, prec);", true},
	} {
		dir := filepath.Join(t.TempDir(), "src")
		if err := os.CopyFS(dir, os.DirFS("../../verify/src")); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, "contour.c")
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		edits := [][2]string{coarse}
		if c.term != "" {
			edits = append(edits, [2]string{c.term + added, c.term + "\n"})
		}
		for _, e := range edits {
			if strings.Count(string(source), e[0]) != 1 {
				t.Fatalf("%s: %q is not once in contour.c", c.name, e[0])
			}
			source = []byte(strings.Replace(string(source), e[0], e[1], 1))
		}
		if err := os.WriteFile(file, source, 0o644); err != nil {
			t.Fatal(err)
		}
		p := compile("terms", "-O1", filepath.Join(dir, "*.c"))
		if p.err != nil {
			t.Fatal(p.err)
		}
		any := false
		for _, claim := range []string{s.claiming(0, lo*(1-3e-3)), s.claiming(hi*(1+3e-3), 2*hi)} {
			code, _ := check(t, p.path, claim)
			any = any || code == proved
		}
		if any != c.proved {
			t.Errorf("without the term %s a false certificate is proved: %v", c.name, any)
		}
	}
}
