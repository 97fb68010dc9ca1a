package main

import (
	"math"
	"os"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/plan"
	"github.com/dpaccountant/accountant/service"
)

// at returns the largest and the least value that a line has at x.
func at(line plotter.XYs, x float64, logX, logY bool) (most, least float64) {
	most, least = math.Inf(-1), math.Inf(1)
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		if x < a.X || x > b.X {
			continue
		}
		share := (x - a.X) / (b.X - a.X)
		if logX {
			share = math.Log(x/a.X) / math.Log(b.X/a.X)
		}
		ys := []float64{a.Y + share*(b.Y-a.Y)}
		if logY {
			ys[0] = math.Exp(math.Log(a.Y) + share*math.Log(b.Y/a.Y))
		}
		if !(b.X > a.X) {
			ys = []float64{a.Y, b.Y}
		}
		for _, y := range ys {
			most, least = max(most, y), min(least, y)
		}
	}
	return most, least
}

// drawnLine returns the line of the only curve of a picture.
func drawnLine(t *testing.T, q service.CurveRequest) (plotter.XYs, picture) {
	t.Helper()
	curves, err := service.New(nil).Curve(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	pic, err := (&curveFlags{q: q}).draw(t.Context(), curves, q.Log)
	if err != nil {
		t.Fatal(err)
	}
	b := pic.bands[len(pic.bands)-1]
	return b.between.line(b.x, b.proved, pic.logY, pic.yMin), pic
}

// TestPictureProved: between the points of a curve, too, the line in the picture is
// not on the wrong side of what is certified.
func TestPictureProved(t *testing.T) {
	for _, path := range []string{"pure.yaml", "dpsgd.yaml"} {
		text, err := os.ReadFile(root + "/examples/" + path)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := plan.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		acct := accountant.New(plan.Neighbors)
		if err := acct.AddPlan(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		const points = "8"
		line, pic := drawnLine(t, service.CurveRequest{Plan: text, Points: points})
		checked := 0
		for i := range 41 {
			eps := pic.xMin + (pic.xMax-pic.xMin)*float64(i)/41
			if path == "pure.yaml" && i == 0 {
				eps = 0.98
			}
			want, err := acct.Delta(t.Context(), eps)
			if err != nil {
				t.Fatal(err)
			}
			if want.Lower < pic.yMin {
				continue // the line has left the picture
			}
			checked++
			most, least := at(line, eps, false, true)
			// The line is a bound of the truth; an interval of its own can reach as
			// far above that as the accuracy of 1e-3 allows.
			if most < want.Lower || most < want.Upper*(1-1e-3) {
				t.Errorf("%s: at ε = %v the line is at %v, certified is [%v, %v]", path, eps, most, want.Lower, want.Upper)
			}
			if path == "pure.yaml" && i == 0 && (least < 3.15e-5 || most > 1e-3) {
				t.Errorf("%s: at ε = %v the line is at %v", path, eps, least)
			}
		}
		if checked < 10 {
			t.Errorf("%s: %d points checked", path, checked)
		}

		for _, log := range []bool{false, true} {
			line, pic = drawnLine(t, service.CurveRequest{Plan: text, Kind: service.TradeOffKind, Log: log, Points: points})
			var alphas []float64
			for i := range 11 {
				alpha := line[0].X + (line[len(line)-1].X-line[0].X)*(float64(i)+0.5)/11
				if log {
					alpha = pic.xMin * math.Pow(line[len(line)-1].X/pic.xMin, (float64(i)+0.5)/11)
				}
				alphas = append(alphas, alpha)
			}
			want, err := acct.TradeOff(t.Context(), alphas)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range want {
				most, least := at(line, w.Alpha, log, log)
				if !log && least > w.TypeII.Upper || log && most < w.Power.Lower {
					t.Errorf("%s: at α = %v the line is at %v … %v, certified are %+v and %+v", path, w.Alpha, least, most, w.TypeII, w.Power)
				}
			}
		}

		line, _ = drawnLine(t, service.CurveRequest{Plan: text, Kind: service.StepsKind, Points: "5"})
		all, err := plan.StepsCurve(t.Context(), 1e-5, 20)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if x := float64(p.Runs); x >= line[0].X {
				if most, _ := at(line, x, false, false); most < p.Lower {
					t.Errorf("%s: after %d runs the line is at %v, certified is [%v, %v]", path, p.Runs, most, p.Lower, p.Upper)
				}
			}
		}
	}
}

// TestTangents: two tangents are above the chord in e^ε, for narrow and for wide
// segments, and meet both ends.
func TestTangents(t *testing.T) {
	for _, c := range []struct{ x0, h, y0, y1, floor float64 }{
		{0, 1, 0.5, 0.1, 1e-12}, {0, 1e-9, 0.5, 0.1, 1e-12}, {700, 800, 1e-3, 1e-9, 1e-12}, {-5, 3, 1, 0, 1e-12},
		{1, 0.1, 1e-4, 1e-300, 1e-12}, {0, 2, 1e-3, 0.999e-3, 1e-12}, {2, 1e-3, 1e-11, 0, 1e-300},
	} {
		for _, logY := range []bool{true, false} {
			line := convex.line([]float64{c.x0, c.x0 + c.h}, []float64{c.y0, c.y1}, logY, c.floor)
			for i := range 200 {
				s := c.h * float64(i) / 200 // left of the right end
				x := c.x0 + c.h - s
				chord := c.y1 + (c.y0-c.y1)*math.Expm1(-s)/math.Expm1(-c.h)
				if chord < c.floor || x < c.x0 || x > c.x0+c.h {
					continue
				}
				// x is known to 1e-16 of its size, of which segments are as little as 1e-9.
				if most, _ := at(line, x, false, logY); most < chord*(1-1e-6) {
					t.Errorf("%+v, logarithmic %v: %v at %v, chord %v; %v", c, logY, most, x, chord, line)
					break
				}
			}
		}
	}
}
