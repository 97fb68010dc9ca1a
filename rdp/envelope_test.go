package rdp

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"
)

func TestWithoutReplacementGaussian(t *testing.T) {
	// Against the integral at 40 digits (rdp_truth.py, rows of kind wor-gaussian).
	data, err := os.ReadFile("../testdata/golden/rdp_truth.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Wor []struct {
			Alpha, Sigma float64
			N, M         int64
			Value        string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Wor) < 40 {
		t.Fatalf("only %d rows", len(file.Wor))
	}
	for _, r := range file.Wor {
		want, err := strconv.ParseFloat(r.Value, 64)
		if err != nil {
			t.Fatal(err)
		}
		c := must2(withoutReplacementGaussian(r.N, r.M, r.Sigma)).(envelope)
		la, ok := c.quadrature(r.Alpha)
		got := fromMoment(r.Alpha, la)
		if rel := got/want - 1; !ok || !(rel >= -4e-16 && rel <= 1e-12) {
			t.Errorf("%+v: got %v (%v), off by %.1e", r, got, ok, rel)
		}
		// The attack in which the substitute looks like the absence of the record.
		attack := must2(newPoissonGaussian(float64(r.M)/float64(r.N), r.Sigma)).RDP(r.Alpha)
		general := must2(WithoutReplacement(gaussian{r.Sigma}, r.N, r.M)).RDP(r.Alpha)
		if v := c.RDP(r.Alpha); !(v >= attack*(1-1e-11) && v <= general) {
			t.Errorf("%+v: %v is not between the attack %v and the general bound %v", r, v, attack, general)
		}
	}
	// Large orders fall back to the general bound, within log(2)/(α−1) of it.
	c := must2(withoutReplacementGaussian(1000, 10, 0.3))
	for _, alpha := range []float64{500.5, 4000, 1e6, math.Inf(1)} {
		if v, g := c.RDP(alpha), (gaussian{0.3}).RDP(alpha); !(v > 0 && v <= g) {
			t.Errorf("order %v: %v, unsampled %v", alpha, v, g)
		}
	}
}

// The fixed-size rows of the peers: our bound, by direct use of the privacy
// profile, is below their best (Wang, Balle and Kasiviswanathan, Theorem 27).
func TestWithoutReplacementGaussianBeatsPeers(t *testing.T) {
	for _, tc := range []struct {
		n, m  int64
		sigma float64
		steps int64
		peer  float64 // rdp/wor/* of rdp_peers.json, δ = 1e-5
	}{
		{60000, 256, 1.1, 14062, 5.243254241628138},
		{10000, 100, 1.0, 1000, 3.576111482350549},
		{1000000, 100, 0.6, 1000000, 3.087807591349967},
		{1000, 100, 4.0, 2000, 12.642797368143118},
	} {
		c := must2(withoutReplacementGaussian(tc.n, tc.m, tc.sigma))
		eps, order, err := Epsilon(Repeat(c, tc.steps), 1e-5)
		if err != nil || !(eps < tc.peer) {
			t.Errorf("%+v: %v at %v, %v", tc, eps, order, err)
		}
		t.Logf("n=%d m=%d sigma=%v T=%d: %.4f at order %.2f, peer %.4f", tc.n, tc.m, tc.sigma, tc.steps, eps, order, tc.peer)
	}
}
