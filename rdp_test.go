package accountant_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/rdp"
)

// Rényi accounting bounds the same plans from above, and less tightly.
func TestRDPIsAboveFourier(t *testing.T) {
	slow.Test(t)
	plans, err := filepath.Glob("examples/*.[yj]*")
	if err != nil || len(plans) < 5 {
		t.Fatalf("examples: %v, %v", plans, err)
	}
	compared := 0
	for _, file := range plans {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := plan.Parse(t.Context(), data)
		if err != nil {
			t.Fatal(err)
		}
		curve, err := plan.RDP()
		if err != nil {
			// An approximate mechanism has no Rényi divergence.
			t.Logf("%s: %v", file, err)
			continue
		}
		acct := accountant.New(plan.Neighbors)
		if err := acct.AddPlan(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		for i, delta := range []float64{1e-3, 1e-5, 1e-10, 1e-20} {
			if i%2 == 0 && !slow.All() {
				continue
			}
			eps, order, err := rdp.Epsilon(curve, delta)
			if err != nil {
				t.Fatalf("%s: δ = %g: %v", file, delta, err)
			}
			iv, err := acct.Epsilon(t.Context(), delta)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%-24s δ = %-6g rdp %.6g (order %.4g), fourier [%.6g, %.6g]: %+.1f %%", file, delta, eps, order, iv.Lower, iv.Upper, 100*(eps/iv.Estimate-1))
			// Where Rényi accounting is as good as exact (pure mechanisms at small δ)
			// only the round-off that Upper includes tells the two apart.
			if eps < iv.Lower || eps < iv.Upper-iv.Budget.RoundOff {
				t.Errorf("%s: δ = %g: rdp %v is below fourier's upper bound %v", file, delta, eps, iv.Upper)
			}
			compared++
		}
	}
	if compared < 20 {
		t.Errorf("compared only %d answers", compared)
	}
}
