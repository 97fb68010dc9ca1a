package main

import (
	"math"
	"os"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/slow"
	"github.com/dpaccountant/accountant/internal/xmath"
	"github.com/dpaccountant/accountant/plan"
)

// lineAt returns the largest and the least value that a drawn line has at x.
func lineAt(line plotter.XYs, x float64, logX, logY bool) (most, least float64) {
	most, least = math.Inf(-1), math.Inf(1)
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		if x < a.X || x > b.X {
			continue
		}
		share := (x - a.X) / (b.X - a.X)
		if logX {
			share = xmath.Log(x/a.X) / xmath.Log(b.X/a.X)
		}
		ys := []float64{a.Y + share*(b.Y-a.Y)}
		if logY {
			ys[0] = math.Exp(xmath.Log(a.Y) + share*xmath.Log(b.Y/a.Y))
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
func drawnLine(t *testing.T, q service.CurveRequest) (plotter.XYs, figure.Picture) {
	t.Helper()
	curves, err := service.Ask[service.Curves](t.Context(), service.New(nil), q)
	if err != nil {
		t.Fatal(err)
	}
	pic, err := drawCurves(t.Context(), curves, &asking{question: question{request: &q}})
	if err != nil {
		t.Fatal(err)
	}
	return pic.Drawn(&pic.Bands[len(pic.Bands)-1]), pic
}

// TestPictureProved: between the points of a curve, too, the line in the picture is
// not on the wrong side of what is certified.
func TestPictureProved(t *testing.T) {
	for _, path := range []string{"pure.yaml", "dpsgd.yaml"} {
		text, err := os.ReadFile(root + "/examples/" + path)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := plan.Parse(t.Context(), text)
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
			eps := pic.X.Min + (pic.X.Max-pic.X.Min)*float64(i)/41
			if path == "pure.yaml" && i == 0 {
				eps = 0.98
			}
			want, err := acct.Delta(t.Context(), eps)
			if err != nil {
				t.Fatal(err)
			}
			if want.Lower < pic.Y.Min {
				continue // the line has left the picture
			}
			checked++
			most, least := lineAt(line, eps, false, true)
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
					alpha = pic.X.Min * math.Pow(line[len(line)-1].X/pic.X.Min, (float64(i)+0.5)/11)
				}
				alphas = append(alphas, alpha)
			}
			want, err := acct.TradeOff(t.Context(), alphas)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range want {
				most, least := lineAt(line, w.Alpha, log, log)
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
			if p.At >= line[0].X {
				if most, _ := lineAt(line, p.At, false, false); most < p.Lower {
					t.Errorf("%s: after %.0f runs the line is at %v, certified is [%v, %v]", path, p.At, most, p.Lower, p.Upper)
				}
			}
		}
	}
}

// apart returns the largest vertical distance of two lines, as a share of the axis.
func apart(pic figure.Picture, a, b plotter.XYs) (most float64) {
	place := func(v float64, axis figure.Axis) float64 {
		if axis.Log {
			return xmath.Log(v/axis.Min) / xmath.Log(axis.Max/axis.Min)
		}
		return (v - axis.Min) / (axis.Max - axis.Min)
	}
	xs := map[float64]bool{}
	for _, line := range []plotter.XYs{a, b} {
		for i := 1; i < len(line); i += 1 + len(line)/1000 {
			xs[line[i].X], xs[(line[i].X+line[i-1].X)/2] = true, true
		}
	}
	from, to := max(a[0].X, b[0].X), min(a[len(a)-1].X, b[len(b)-1].X)
	for x := range xs {
		if x < from || x > to {
			continue
		}
		// Where a line is upright, the nearest of its places counts.
		mostA, leastA := lineAt(a, x, pic.X.Log, pic.Y.Log)
		mostB, leastB := lineAt(b, x, pic.X.Log, pic.Y.Log)
		most = max(most, place(leastA, pic.Y)-place(mostB, pic.Y), place(leastB, pic.Y)-place(mostA, pic.Y))
	}
	return most
}

// TestSmoothByDefault: a line by default is within half a pixel, at the default resolution, of the line of
// 1,000 points. Before, when a line had at most 240 points, and stairs 25, it was up to 46 pixels away.
func TestSmoothByDefault(t *testing.T) {
	const height = 11 / 2.54 * figure.DPI * 0.76 // pixels of the axis
	paths := []string{"dpsgd.yaml"}
	if slow.On() {
		paths = append(paths, "persons.yaml")
	}
	if slow.All() {
		paths = append(paths, "substitute.yaml", "random-allocation.yaml")
	}
	for _, path := range paths {
		text, err := os.ReadFile(root + "/examples/" + path)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []service.CurveRequest{
			{Plan: text, Kind: service.DeltaKind, RDP: slow.All() && path == "dpsgd.yaml", MinDelta: "1e-30"},
			{Plan: text, Kind: service.DeltaKind},
			{Plan: text, Kind: service.StepsKind},
			{Plan: text, Kind: service.TradeOffKind},
			{Plan: text, Kind: service.TradeOffKind, Log: true},
		} {
			switch {
			case q.Kind != service.DeltaKind && !slow.On(): // take seconds
				continue
			case path == "random-allocation.yaml" && q.Kind != service.StepsKind: // 1,000 points take minutes
				continue
			}
			line, pic := drawnLine(t, q)
			q.Points = "1000"
			most := 0.0
			if q.Kind == service.StepsKind { // stairs of 1,000 points are too high: against the points themselves
				curves, err := service.Ask[service.Curves](t.Context(), service.New(nil), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range curves.Curves[0].Points {
					_, least := lineAt(line, float64(p.X), false, false)
					most = max(most, (least-float64(p.Upper))/(pic.Y.Max-pic.Y.Min)*height)
				}
			} else {
				fine, _ := drawnLine(t, q)
				most = apart(pic, line, fine) * height
			}
			if most > 0.5 {
				t.Errorf("%s, %s, log %v, %d corners: %.3g pixels away from the line of 1,000 points", path, q.Kind, q.Log, len(line), most)
			} else {
				t.Logf("%s, %s, log %v: %d corners, %.3g pixels", path, q.Kind, q.Log, len(line), most)
			}
		}
	}
}

// chords are the straight lines through the points of a curve as the picture would have
// them without its corners.
func chords(b *figure.Band) plotter.XYs {
	return figure.Straight.Corners(b.X, b.Proved, true, 0)
}

// TestBendsProved: between any two drawn points, at bends and jumps too, the line of an upper
// bound is not below the proved bound there, and it is not far above it where the curve is
// smooth. Straight chords through the points of the first drawing, which was how pictures were
// drawn once, are as far as a thousand times below: the test would notice.
func TestBendsProved(t *testing.T) {
	text, err := os.ReadFile(root + "/examples/pure.yaml")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := plan.Parse(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	acct := accountant.New(parsed.Neighbors)
	if err := acct.AddPlan(t.Context(), parsed); err != nil {
		t.Fatal(err)
	}
	_, pic := drawnLine(t, service.CurveRequest{Plan: text, Points: "8"})
	curves, err := service.Ask[service.Curves](t.Context(), service.New(nil), service.CurveRequest{Plan: text, Points: "8"})
	if err != nil {
		t.Fatal(err)
	}
	coarse := figure.Band{}
	for _, p := range curves.Curves[0].Points {
		coarse.Add(float64(p.X), float64(p.Upper))
	}
	band := &pic.Bands[len(pic.Bands)-1]
	line, worst, above := pic.Drawn(band), 0.0, 0.0
	for i := 1; i < len(band.X); i++ {
		// Three places between two points: where tangents and chords are the farthest apart.
		for _, share := range []float64{0.1, 0.5, 0.9} {
			eps := band.X[i-1] + share*(band.X[i]-band.X[i-1])
			want, err := acct.Delta(t.Context(), eps)
			if err != nil {
				t.Fatal(err)
			}
			if want.Lower < pic.Y.Min {
				continue
			}
			// An interval is at most 1e-3 wide, of itself.
			most, _ := lineAt(line, eps, false, true)
			if most < want.Lower || most < want.Upper*(1-1e-3) {
				t.Errorf("at ε = %v the line is at %v, certified is [%v, %v]", eps, most, want.Lower, want.Upper)
			}
			if band.X[i]-band.X[i-1] > 1.01*lineStep*(pic.X.Max-pic.X.Min) { // no jump
				above = max(above, most/want.Upper)
			}
			if old, _ := lineAt(chords(&coarse), eps, false, true); old > 0 {
				worst = max(worst, want.Lower/old)
			}
		}
	}
	if worst < 2 {
		t.Errorf("chords of the coarse drawing are at most %v times below the bound: the test sees no bend", worst)
	}
	// What is added until a tangent is at most lineStep of the picture above its chord, here
	// a factor of 10^(12/400) = 1.07; the curve is below the chord where it bends.
	if above > 1.15 {
		t.Errorf("the line is %v times above the proved bound", above)
	}
	t.Logf("%d points, at most %.3g times above the proved bound; chords of the coarse drawing are %.4g times below the bound", len(band.X), above, worst)
}

// TestProfileProved: the same for the picture of one mechanism, whose δ jumps to 0.
func TestProfileProved(t *testing.T) {
	for _, q := range []service.ProfileRequest{
		{Mechanism: "randomized-response", Parameters: service.Parameters{Probability: "0.5", Categories: "4"}},
		{Mechanism: "laplace", Parameters: service.Parameters{NoiseMultiplier: "2"}, SamplingRate: "0.01"},
		{Mechanism: "pure", Parameters: service.Parameters{Epsilon: "1"}},
	} {
		q.Neighbors, q.MinDelta = "add-remove", "1e-12"
		a, err := service.Ask[service.Profile](t.Context(), service.New(nil), q)
		if err != nil {
			t.Fatal(err)
		}
		pic, err := profilePicture(t.Context(), a, nil)
		if err != nil {
			t.Fatal(err)
		}
		for d := range pic.Bands {
			b, checked := &pic.Bands[d], 0
			line := pic.Drawn(b)
			for i := 1; i < len(b.X); i++ {
				eps := (b.X[i-1] + b.X[i]) / 2
				row, err := a.More(t.Context(), eps)
				if err != nil {
					t.Fatal(err)
				}
				want := float64(row.Directions[d].Delta.Upper)
				if want < pic.Y.Min {
					continue
				}
				checked++
				// Profiles are closed forms with errors of some 1e-13.
				if most, _ := lineAt(line, eps, false, true); most < want*(1-1e-12) {
					t.Errorf("%s, %s: at ε = %v the line is at %v, below %v", q.Mechanism, b.Name, eps, most, want)
				}
			}
			if checked < 20 {
				t.Errorf("%s, %s: %d points checked", q.Mechanism, b.Name, checked)
			}
		}
	}
}
