package service

import (
	"context"
	"math"
	"strings"
	"testing"
)

// Where the best of the default orders is their last, larger ones are tried until it is not; with
// orders of one's own nothing is.
func TestPateOrdersExtend(t *testing.T) {
	var q PateRequest
	q.Votes, q.Mechanism, q.Delta, q.Conversion = [][]int64{{3, 2}, {4, 1}}, "gnmax", Decimals{"1e-5"}, "classic"
	ask := func(sigma float64, orders []float64) PateAnswer {
		t.Helper()
		q.Sigma2, q.Orders = &sigma, orders
		a, err := Ask[Answers[PateAnswer]](context.Background(), new(Service), q)
		if err != nil {
			t.Fatal(err)
		}
		return a.Results[0]
	}
	if a := ask(3, nil); a.Orders[len(a.Orders)-1] != 100 || a.Order >= 100 {
		t.Errorf("σ = 3: order %v of … %v", a.Order, a.Orders[len(a.Orders)-1])
	}
	// At 2λ/σ² the best order is about σ√(ln(1/δ)/2), which one and two extensions reach.
	for _, c := range []struct{ sigma, least, most float64 }{{200, 100, 900}, {1200, 900, 6400}} {
		a := ask(c.sigma, nil)
		n := len(a.Orders)
		if !(a.Order > c.least && a.Order < c.most && a.Order > a.Orders[0] && a.Order < a.Orders[n-1]) {
			t.Errorf("σ = %v: order %v of %v … %v", c.sigma, a.Order, a.Orders[0], a.Orders[n-1])
		}
		own := ask(c.sigma, []float64{50, 100})
		if own.Order != 100 || len(own.Orders) != 2 || !(own.Epsilon > a.Epsilon) {
			t.Errorf("σ = %v, own orders: ε %v at %v, extended %v", c.sigma, own.Epsilon, own.Order, a.Epsilon)
		}
		if want := c.sigma * math.Sqrt(math.Log(1e5)/2); math.Abs(math.Log(a.Order/want)) > 0.5 {
			t.Errorf("σ = %v: order %v, want about %v", c.sigma, a.Order, want)
		}
	}
}

// TestPateExactAdversary: the exact price holds for votes that were fixed beforehand, and says so; no other price has it.
func TestPateExactAdversary(t *testing.T) {
	sigma := 40.
	var q PateRequest
	q.Votes, q.Mechanism, q.Sigma2, q.Delta = [][]int64{{30, 2}, {4, 28}}, "gnmax", &sigma, Decimals{"1e-5"}
	for _, price := range []string{"", "exact"} {
		q.Price = price
		a, err := Ask[Answers[PateAnswer]](t.Context(), new(Service), q)
		if err != nil {
			t.Fatal(err)
		}
		text, err := Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(text), `"adversary":"fixed-beforehand"`); got != (price == "exact") {
			t.Errorf("price %q: %s", price, text)
		}
	}
}

// TestPateReportOfPrice: a report that a price does not have is refused by name, where one with a check had no line to stand in.
func TestPateReportOfPrice(t *testing.T) {
	for report, want := range map[string]string{"joint": `report: joint needs the price best or exact: Theorem 6 has none for a check and its answer together`, "worst": `"report":"worst"`} {
		got := ask(t, New(nil), `{"op":"pate","votes":[[170,20],[180,10]],"mechanism":"confident","threshold":150,"sigma1":150,"sigma2":40,"delta":1e-5,"price":"theorem6","report":%q}`, report)
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", report, got, want)
		}
	}
}
