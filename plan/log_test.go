package plan

import (
	"fmt"
	"testing"
)

// TestRunsOfEpochs: epochs of a log are runs rounded up, but for what the numbers themselves are rounded by; also where a run is
// less than that.
func TestRunsOfEpochs(t *testing.T) {
	for _, c := range []struct {
		sampling, epochs string
		want             int64
	}{
		{`{"without-replacement":{"population":1000,"batch":300}}`, "1", 4},
		{`{"without-replacement":{"population":1000,"batch":10}}`, "0.01", 1},
		{`{"without-replacement":{"population":1000,"batch":10}}`, "0.010001", 2},
		{`{"poisson":{"rate":0.1}}`, "0.3", 3},
		{`{"poisson":{"rate":0.004273504273504274}}`, "1", 234}, // 1/234
		{`{"poisson":{"rate":1}}`, "1e-300", 1},
		{`{"poisson":{"rate":1}}`, "9007199254740992", 1 << 53},
		// A whole number and 1/4, and one and 1/10, of so many that 2^-50 of them is more.
		{`{"without-replacement":{"population":999999999999,"batch":4}}`, "4003", (999999999999*4003 + 3) / 4},
		{`{"without-replacement":{"population":999999999999,"batch":10}}`, "9009", (999999999999*9009 + 9) / 10},
		{`{"without-replacement":{"population":1000000000000,"batch":1}}`, "2000", 2_000_000_000_000_000},
	} {
		of, err := Parse(t.Context(), []byte(`{"neighbors":"substitute","steps":[{"mechanism":{"gaussian":{"noise-multiplier":1}},"sampling":`+c.sampling+`}]}`))
		if err != nil {
			t.Fatal(err)
		}
		added, err := ParseLogLine(fmt.Appendf(nil, `{"epochs":%s}`, c.epochs), of)
		if err != nil || added.Steps[0].Count != c.want {
			t.Errorf("%s epochs of %s: %+v, %v; want %d", c.epochs, c.sampling, added, err, c.want)
		}
	}
}
