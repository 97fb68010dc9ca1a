package verify

import (
	"testing"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/slow"
)

// Substitution, noise in full beside a sample that hardly matters: all cells of the run in full are of one pair of normal laws whose
// means are 2/σ apart, and not twice that. At ε = 1/300 that pair of σ = 300 has δ = 1.3e-3, and the sample adds at most 2e-9; noise that is
// moved by twice as much would have 3.8e-3. Without a hint the first line of the integral is out of reach, and cells are asked.
func TestCellsOfNoiseInFull(t *testing.T) {
	slow.Test(t)
	checker := build(t)
	claim := seal(`accountant certificate 3
version forged
neighbors substitute
records-per-person 1
step 1 gaussian noise-multiplier 0x1.2cp+8
step 1 gaussian noise-multiplier 0x1p+0 poisson rate 0x1.12e0be826d695p-30
delta ` + decimal.Hex(3.5e-3) + `
lower ` + decimal.Hex(1./300) + `
upper 0x1p+0
direction backward
engine contour
contour theta 0x0p+0 period 0x0p+0 frequencies 0
budget discretization 0x0p+0 quadrature 0x0p+0 truncation 0x0p+0 aliasing 0x0p+0 round-off 0x0p+0 theory-gap 0x0p+0
sha256 `)
	if code, said := check(t, checker, claim); code != refuted {
		t.Errorf("exit %d\n%s\n%s", code, said, claim)
	}
}
