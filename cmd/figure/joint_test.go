package figure

import (
	"math"
	"testing"
)

// TestTangents: two tangents are above the chord in e^ε, for narrow and for wide
// segments, and meet both ends.
func TestTangents(t *testing.T) {
	for _, c := range []struct{ x0, h, y0, y1, floor float64 }{
		{0, 1, 0.5, 0.1, 1e-12}, {0, 1e-9, 0.5, 0.1, 1e-12}, {700, 800, 1e-3, 1e-9, 1e-12}, {-5, 3, 1, 0, 1e-12},
		{1, 0.1, 1e-4, 1e-300, 1e-12}, {0, 2, 1e-3, 0.999e-3, 1e-12}, {2, 1e-3, 1e-11, 0, 1e-300},
	} {
		for _, logY := range []bool{true, false} {
			line := Convex.Corners([]float64{c.x0, c.x0 + c.h}, []float64{c.y0, c.y1}, logY, c.floor)
			for i := range 200 {
				s := c.h * float64(i) / 200 // left of the right end
				x := c.x0 + c.h - s
				chord := c.y1 + (c.y0-c.y1)*math.Expm1(-s)/math.Expm1(-c.h)
				if chord < c.floor || x < c.x0 || x > c.x0+c.h {
					continue
				}
				// x is known to 1e-16 of its size, of which segments are as little as 1e-9.
				most := math.Inf(-1)
				for k, b := range line[1:] {
					if a := line[k]; a.X <= x && x <= b.X && a.X < b.X {
						share := (x - a.X) / (b.X - a.X)
						y := a.Y + share*(b.Y-a.Y)
						if logY {
							y = a.Y * math.Pow(b.Y/a.Y, share)
						}
						most = max(most, y)
					}
				}
				if most < chord*(1-1e-7) {
					t.Errorf("%+v, logarithmic %v: %v at %v, chord %v; %v", c, logY, most, x, chord, line)
					break
				}
			}
		}
	}
}
