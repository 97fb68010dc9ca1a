package subsample

import (
	"math"
	"testing"

	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/profiles"
)

// must-gap.md §6: compositions of the upper profile (R6) and of pair B. ε(1e-5)
// on grids of step 1e-3, 5e-4 and extrapolated; δ(0.1), δ(0.5), δ(1) of the
// upper profile with step 1e-3. All of them come from connect the dots, hence lie
// above the exact value, which is at least our lower law's.
//
// R6 is stopped there after three stages, and MUST.WW shares in a few fixed ways
// (TestThreeStages): ours, the optimum, may be lower by what that costs.
func TestGapComposition(t *testing.T) {
	slow.Test(t)
	wor, wr, ow, ww, base := paperSetting()
	second := gaussian(5)
	wor2, wr2 := must(NewWithoutReplacement(1000, 50)), must(NewWithReplacement(1000, 50))
	ow2, ww2 := must(NewMustOW(1000, 100, 50)), must(NewMustWW(1000, 100, 50))
	upper := func(s FixedSize, b profiles.Mechanism) profiles.Profile {
		return ok(s.Apply(b, profiles.Substitute)).Directions[0].Upper
	}
	attack := func(s FixedSize) profiles.Profile { return ok(s.Attack(second)) }
	type row struct {
		eps [3]float64 // step 1e-3, 5e-4, extrapolated
		d   [3]float64 // δ(0.1), δ(0.5), δ(1); 0 is not given
	}
	for _, c := range []struct {
		name        string
		p           profiles.Profile
		reach, step float64
		dearer      float64 // how much larger the golden δ and ε may be, relatively: measured
		rows        [4]row  // 1, 10, 100, 1000 runs
	}{
		{"WOR", upper(wor, base), 4, 1e-3, 0, [4]row{
			{[3]float64{.0642973, .0642911, .064289}, [3]float64{}},
			{[3]float64{.1462352, .1462030, .146192}, [3]float64{}},
			{[3]float64{.4444837, .4443373, .444289}, [3]float64{}},
			{[3]float64{1.5346650, 1.5341182, 1.533936}, [3]float64{}},
		}},
		{"WR", upper(wr, base), 4, 1e-3, 0, [4]row{
			{[3]float64{.0663599, .0663527, .066350}, [3]float64{}},
			{[3]float64{.1489627, .1489347, .148925}, [3]float64{1.5917633e-4, 3.488e-12, 0}},
			{[3]float64{.4480538, .4479113, .447864}, [3]float64{.015830279, 2.1517677e-6, 0}},
			{[3]float64{1.5443489, 1.5438051, 1.543624}, [3]float64{.11782271, .024769698, .0012085346}},
		}},
		{"OW", upper(ow, base), 30, 1e-2, 6e-4, [4]row{
			{[3]float64{1.5263851, 1.5263849, 1.526385}, [3]float64{3.4040298e-4, 5.5658344e-5, 2.0866294e-5}},
			{[3]float64{3.7085202, 3.7085191, 3.708519}, [3]float64{.0038534351, 5.6992987e-4, 2.1105489e-4}},
			{[3]float64{6.2818978, 6.2818903, 6.281888}, [3]float64{.04797777, .0073553355, .0023775183}},
			{[3]float64{9.6252860, 9.6252133, 9.625189}, [3]float64{.26065203, .14699524, .063853014}},
		}},
		{"WW", upper(ww, base), 16, 2e-2, 2e-3, [4]row{
			{[3]float64{1.6282157, 1.6282157, 1.628216}, [3]float64{}},
			{[3]float64{4.0046214, 4.0046203, 4.004620}, [3]float64{.0039192987, 6.0428442e-4, 2.3103551e-4}},
			{[3]float64{6.9244489, 6.9244396, 6.924437}, [3]float64{.048501036, .0077211152, .0025886981}},
			{[3]float64{10.8437967, 10.8437258, 10.843702}, [3]float64{.26362288, .15013691, .066541006}},
		}},
		// Second setting: n = 1000, m = 50, b = 100, σ = 5.
		{"WOR 2", upper(wor2, second), 4, 1e-3, 0, [4]row{
			{[3]float64{.1153862, .1153807, .115379}, [3]float64{}},
			{[3]float64{.2785968, .2785742, .278567}, [3]float64{}},
			{[3]float64{.8838403, .8837527, .883724}, [3]float64{}},
			{[3]float64{3.1310164, 3.1306787, 3.130566}, [3]float64{.25576158, .1380463, .048693559}},
		}},
		{"WOR 2, pair B", attack(wor2), 4, 1e-3, 0, [4]row{
			{[3]float64{.115386, .115381, .115379}, [3]float64{}},
			{[3]float64{.272155, .272133, .272125}, [3]float64{}},
			{[3]float64{.817923, .817818, .817784}, [3]float64{}},
			{[3]float64{2.779332, 2.778907, 2.778765}, [3]float64{}},
		}},
		{"WR 2", upper(wr2, second), 4, 1e-3, 0, [4]row{
			{[3]float64{.1222795, .1222759, .122275}, [3]float64{}},
			{[3]float64{.2861616, .2861422, .286136}, [3]float64{}},
			{[3]float64{.8955443, .8954567, .895428}, [3]float64{}},
			{[3]float64{3.1667789, 3.1664437, 3.166332}, [3]float64{.25856019, .1408077, .050514343}},
		}},
		{"WR 2, pair B", attack(wr2), 4, 1e-3, 0, [4]row{
			{[3]float64{.122280, .122276, .122275}, [3]float64{}},
			{[3]float64{.279379, .279355, .279348}, [3]float64{}},
			{[3]float64{.826811, .826708, .826674}, [3]float64{}},
			{[3]float64{2.797882, 2.797460, 2.797320}, [3]float64{}},
		}},
		{"OW 2", upper(ow2, second), 6, 1e-3, 5e-4, [4]row{
			{[3]float64{.2153465, .2153446, .215344}, [3]float64{}},
			{[3]float64{.4234450, .4234338, .423430}, [3]float64{}},
			{[3]float64{1.0546879, 1.0546129, 1.054588}, [3]float64{}},
			{[3]float64{3.5566503, 3.5563160, 3.556205}, [3]float64{.28741733, .16990874, .071075398}},
		}},
		{"OW 2, pair B", attack(ow2), 6, 1e-3, 0, [4]row{
			{[3]float64{.215347, .215345, .215344}, [3]float64{}},
			{[3]float64{.415056, .415046, .415043}, [3]float64{}},
			{[3]float64{.968806, .968726, .968699}, [3]float64{}},
			{[3]float64{3.038964, 3.038577, 3.038448}, [3]float64{}},
		}},
		{"WW 2", upper(ww2, second), 4, 2e-2, 2e-3, [4]row{
			{[3]float64{.2342823, .2342795, .234279}, [3]float64{}},
			{[3]float64{.4634536, .4634439, .463441}, [3]float64{}},
			{[3]float64{1.0982342, 1.0981667, 1.098144}, [3]float64{}},
			{[3]float64{3.6163485, 3.6160265, 3.615919}, [3]float64{.29119394, .1737979, .07400803}},
		}},
	} {
		if c.name == "WW 2" && !slow.All() {
			continue // takes seconds, like WW
		}
		up, lo := newComposers(c.p, c.step, c.reach)
		for j, k := range []int{1, 10, 100, 1000} {
			f, g := up.deltaOf(k), lo.deltaOf(k)
			row := c.rows[j]
			// Six or seven digits are given; one run is not interpolated there as here.
			digits := 2e-6
			if k == 1 {
				digits = 1e-4
			}
			hi, low := epsilonOf(f, 1e-5), epsilonOf(g, 1e-5)
			for i, e := range row.eps {
				if low > e*(1+digits) {
					t.Errorf("%s: eps of %d runs is at least %v, the table has %v", c.name, k, low, e)
				}
				// On the same grid the two agree; the finer ones lie below, and R6
				// short of its optimum above.
				if c.step == 1e-3 && i == 0 && math.Abs(hi-e) > (digits+c.dearer)*e || c.step == 1e-3 && hi > e*(1+digits) && i == 0 {
					t.Errorf("%s: eps of %d runs is %v, want %v as on the same grid", c.name, k, hi, e)
				}
				if e > hi*(1+digits+c.dearer) {
					t.Errorf("%s: eps of %d runs is at most %v, the table has %v", c.name, k, hi, e)
				}
			}
			for i, eps := range []float64{0.1, 0.5, 1} {
				d := row.d[i]
				if d == 0 {
					continue
				}
				// 1e-2 for the row of 3.488e-12, of which a plain transform has 3.481e-12.
				digits := 1e-6 + 3e-14/d
				if b, l := f(eps), g(eps); !(l <= d*(1+digits) && d <= b*(1+digits+c.dearer)) {
					t.Errorf("%s: delta(%v) of %d runs is in [%v, %v], the table has %v", c.name, eps, k, l, b, d)
				} else if c.step == 1e-3 && !(b <= d*(1+digits)) {
					t.Errorf("%s: delta(%v) of %d runs is %v, want %v as on the same grid", c.name, eps, k, b, d)
				}
			}
		}
	}
}
