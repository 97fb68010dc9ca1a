package selection

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

type roundingRow struct {
	what      string
	got, want float64
}

// roundingTable reads the 60-digit references and evaluates the package at the
// same arguments. The references are rounded to float64 here, at most one half
// ulp up, so they are moved one ulp down.
func roundingTable(t *testing.T) []roundingRow {
	f, err := os.Open("../testdata/golden/selection-rounding.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []roundingRow
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		line := sc.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		cols := strings.Split(line, ",")
		x := make([]float64, len(cols))
		for i, c := range cols[1:] {
			if x[i+1], err = strconv.ParseFloat(c, 64); err != nil {
				t.Fatal(err)
			}
		}
		a, b, eps, delta := x[1], x[2], x[3], x[4]
		var got float64
		switch kind := cols[0]; {
		case kind == "poisson":
			got = must(PriceOfBest(must(newPoisson(a))).Pure(eps))
		case kind == "binomial":
			got = must(PriceOfBest(must(newBinomial(int(a), b))).Pure(eps))
		case strings.HasPrefix(kind, "gaussian"):
			sigma := must(strconv.ParseFloat(kind[len("gaussian"):], 64))
			got = math.Exp(must(PriceOfBest(must(newNegativeBinomial(a, b))).Profile(context.Background(), gaussianBound(sigma)))(eps))
		default:
			p := PriceOfBest(must(newNegativeBinomial(a, b)))
			e, d, err := p.Approximate(eps, delta)
			if err != nil {
				t.Fatal(err)
			}
			got = map[string]float64{"pure": e, "sharp": e, "hit": d}[kind]
		}
		rows = append(rows, roundingRow{fmt.Sprint(line), got, math.Nextafter(x[5], 0)})
	}
	if err := sc.Err(); err != nil || len(rows) < 300 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	return rows
}
