package darrm

import (
	"context"
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"
	gonumlp "gonum.org/v1/gonum/optimize/convex/lp"
)

// gonum's simplex, another method by other hands, finds the same optimum of the
// final program of each instance of darrm.md §11.3. It fails on one of them (a
// singular basis at K=11, m=1, Δ=1e-5, where every row is tight), and
// is skipped there.
func TestGonumAgrees(t *testing.T) {
	solved, failed := 0, 0
	for _, table := range []struct {
		cases            []lpCase
		eps, delta, mean float64
	}{{lpPure, 0.1, 0, 0.75}, {lpDelta, 0.1, 1e-5, 0.75}, {lpEpsilonOne, 1, 0, 0.75}, {lpPeaked, 0.1, 0, 0.85}} {
		for _, c := range table.cases {
			for _, mono := range []bool{false, true} {
				if !mono && c.shape == "mono" || mono && c.shape == "full" {
					continue
				}
				pr := newProgram(context.Background(), approx(c.k, table.eps, c.m, table.delta), mono)
				weights, _ := Surrogate{table.mean}.weights(c.k)
				x, err := pr.maximise(weights, &Result{}, Options{})
				if err != nil {
					t.Fatal(err)
				}
				own := 0.0
				for j, w := range weights {
					own += w * x[j]
				}
				value, err := pr.gonum(weights)
				if err != nil {
					failed++
					t.Logf("K=%d m=%g Δ=%g mono=%v: gonum: %v", c.k, c.m, table.delta, mono, err)
					continue
				}
				solved++
				near(t, fmt.Sprintf("K=%d m=%g ε=%g Δ=%g mono=%v", c.k, c.m, table.eps, table.delta, mono), own, value, 1e-10)
			}
		}
	}
	if solved < 50 || failed > 5 {
		t.Errorf("gonum solved %d programs and failed on %d, too few for a comparison", solved, failed)
	}
}

// gonum solves the program over the rows known so far, in standard form.
func (pr *program) gonum(weights []float64) (float64, error) {
	var rows [][]float64
	var side []float64
	for _, c := range pr.order { // not of the map: gonum stops short, or beyond a row, in some orders
		row, right := pr.row(c)
		rows, side = append(rows, pr.transform(row)), append(side, right)
	}
	if pr.monotone {
		rows, side = append(rows, repeat(1, pr.n)), append(side, 1)
	} else {
		for i := range pr.n {
			e := make([]float64, pr.n)
			e[i] = 1
			rows, side = append(rows, e), append(side, 1)
		}
	}
	m := len(rows)
	a, cost, basis := mat.NewDense(m, pr.n+m, nil), make([]float64, pr.n+m), make([]int, m)
	for j, w := range pr.transform(weights) {
		cost[j] = -w
	}
	for i, r := range rows {
		copy(a.RawRowView(i), r)
		a.Set(i, pr.n+i, 1)
		basis[i] = pr.n + i
	}
	f, _, err := gonumlp.Simplex(cost, a, side, 1e-12, basis)
	return -f, err
}
