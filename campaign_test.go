package accountant_test

import (
	"testing"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/choice"
)

// Found by the campaign (internal/campaign): laws of many choices left an interval wider than
// asked, and nothing said so.
func TestLawsThatAreTooWideAreAWarning(t *testing.T) {
	step := must(t)(choice.NewExponential(0.22760930543417887))
	iv := epsilon(t, account(t, step, 133, accountant.WithAccuracy(0.01), accountant.WithWorkLimit(250000)), 0.5)
	if width := iv.Upper - iv.Lower; width > 0.02*-iv.Upper && iv.Gap == nil && len(iv.Warnings) == 0 {
		t.Errorf("[%v, %v] is wider than asked, without a warning", iv.Lower, iv.Upper)
	}
	if iv = epsilon(t, account(t, step, 133), 1e-6); len(iv.Warnings) > 0 {
		t.Errorf("[%v, %v] has warnings: %q", iv.Lower, iv.Upper, iv.Warnings)
	}
}
