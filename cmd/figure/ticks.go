// Places on axes that are marked, and what is written there.

package figure

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// Decades are ticks of logarithmic axes: powers of ten, at most about eight of them with a
// label, and 2 to 9 between them where there is room. An axis between 0.01 and 1000 has
// the numbers as labels, any other 10ⁿ; one with fewer than two powers of ten has labels
// at 2 and 5, too.
type Decades struct{}

// Ticks returns the ticks between lo and hi. An axis that is not positive has none.
func (Decades) Ticks(lo, hi float64) (ts []plot.Tick) {
	if !(lo > 0 && lo < hi && hi < math.Inf(1)) {
		return nil
	}
	first, last := int(math.Ceil(math.Log10(lo)-1e-9)), int(math.Floor(math.Log10(hi)+1e-9))
	powers, plain, every := last-first+1, first >= -2 && last <= 3, 1
	for _, every = range []int{1, 2, 3, 5, 10, 20, 50, 100} {
		if powers <= 8*every+1 {
			break
		}
	}
	for e := first - 1; e <= last; e++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, float64(e))
			if v == 0 || v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			switch {
			case m == 1 && e%every == 0 && plain, powers < 2 && (m == 1 || m == 2 || m == 5):
				t.Label = strconv.FormatFloat(v, 'g', 6, 64)
			case m == 1 && e%every == 0:
				t.Label = PowerOfTen(e)
			case m > 1 && every > 1, m == 1 && every > 10:
				continue
			}
			ts = append(ts, t)
		}
	}
	return ts
}

// PowerOfTen writes 10ᵉ with a raised exponent: 10⁻⁵, but 1 and 10 as they are.
func PowerOfTen(e int) string {
	switch e {
	case 0:
		return "1"
	case 1:
		return "10"
	}
	return "10" + strings.Map(func(r rune) rune { return raised[strings.IndexRune("0123456789-", r)] }, strconv.Itoa(e))
}

// Round are ticks of linear axes: multiples of a round number, some six of them. Whole says
// that the axis counts.
type Round struct{ Whole bool }

// Ticks implements plot.Ticker.
func (r Round) Ticks(lo, hi float64) []plot.Tick {
	span := hi - lo
	if !(span > 0 && span < math.Inf(1)) {
		return nil
	}
	step := math.Pow(10, math.Floor(math.Log10(span/6)))
	for _, k := range []float64{1, 2, 5, 10} {
		if k*step*7 >= span {
			step *= k
			break
		}
	}
	if r.Whole {
		step = max(step, 1)
	}
	digits := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	var ticks []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+1e-9*span && len(ticks) < 20; i++ {
		x := i * step
		label := strconv.FormatFloat(x, 'f', min(digits, 12), 64)
		switch {
		case i == 0:
			label = "0"
		case math.Abs(hi) >= 1e6 || math.Abs(lo) >= 1e6 || digits > 5:
			label = scientific(x)
		}
		ticks = append(ticks, plot.Tick{Value: x, Label: label})
	}
	return ticks
}

// scientific writes x as 2·10⁶, with at most five digits.
func scientific(x float64) string {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', 4, 64), "e")
	mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	e, _ := strconv.Atoi(exponent)
	switch {
	case e == 0:
		return mantissa
	case mantissa == "1":
		return PowerOfTen(e)
	}
	return mantissa + "·" + PowerOfTen(e)
}
