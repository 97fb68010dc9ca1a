package figure

import (
	"fmt"
	"image/color"
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
)

// No two methods of a family share a colour or, apart from those of labels, which are told
// apart by their order in the legend, a pattern of dashes; every method has a row.
func TestMethods(t *testing.T) {
	type key struct {
		family string
		color.RGBA
	}
	colours, patternOf := map[key]Method{}, map[string]bool{}
	for _, l := range methods {
		if l.Name == "" || l.family == "" || l.Colour.A != 255 {
			t.Errorf("method %v has no look", l)
		}
		if other, ok := colours[key{l.family, l.Colour}]; ok {
			t.Errorf("%s and %s are both %v", other.Name, l.Name, l.Colour)
		}
		colours[key{l.family, l.Colour}] = l
		if p := fmt.Sprint(l.family, l.pattern); l.family != "labels" {
			if patternOf[p] {
				t.Errorf("%s: another method of its family has pattern %d", l.Name, l.pattern)
			}
			patternOf[p] = true
		}
		if Named(l.family, l.Name) != l {
			t.Errorf("%s is not found by its name", l.Name)
		}
	}
	if Named("batches", "no such") != (Method{}) {
		t.Error("what has no look is found")
	}
	seen := map[string]bool{}
	for i := range len(Palette) {
		seen[string(bytesOf(Plain(i).Line().Dashes))] = true
	}
	if len(seen) != len(Palette) {
		t.Errorf("%d lines have %d patterns", len(Palette), len(seen))
	}
}

// Eyes without one kind of cone still tell the colours of a family apart. The matrices are
// those of Viénot, Brettel and Mollon (1999) for linear light; the distance is that of the
// sums of squares in CIELAB, where 2.3 is just noticeable.
func TestColourBlind(t *testing.T) {
	matrices := map[string][3][3]float64{
		"protanopia":   {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
		"deuteranopia": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
	}
	for name, m := range matrices {
		for i, a := range methods {
			for _, b := range methods[:i] {
				if a.family != b.family {
					continue
				}
				if d := distance(seen(m, a.Colour), seen(m, b.Colour)); d < 6 {
					t.Errorf("%s: %s and %s are %.1f apart", name, a.Name, b.Name, d)
				}
			}
		}
	}
}

// seen returns a colour in linear light, as it is seen through a matrix.
func seen(m [3][3]float64, c color.RGBA) (out [3]float64) {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	in := [3]float64{linear(c.R), linear(c.G), linear(c.B)}
	for i := range out {
		for k := range in {
			out[i] += m[i][k] * in[k]
		}
		out[i] = min(max(out[i], 0), 1)
	}
	return out
}

// distance is between two colours of linear light, in CIELAB under D65.
func distance(a, b [3]float64) float64 {
	lab := func(c [3]float64) [3]float64 {
		f := func(t float64) float64 {
			if t > 216.0/24389 {
				return math.Cbrt(t)
			}
			return (24389.0/27*t + 16) / 116
		}
		x := f((0.4124564*c[0] + 0.3575761*c[1] + 0.1804375*c[2]) / 0.95047)
		y := f(0.2126729*c[0] + 0.7151522*c[1] + 0.0721750*c[2])
		z := f((0.0193339*c[0] + 0.1191920*c[1] + 0.9503041*c[2]) / 1.08883)
		return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
	}
	p, q := lab(a), lab(b)
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

func bytesOf(ds []vg.Length) (out []byte) {
	for _, d := range ds {
		out = append(out, byte(4*d))
	}
	return out
}

// Shades of one method go from dark to light, with dashes that differ.
func TestShade(t *testing.T) {
	grey := func(i int) uint8 { return color.GrayModel.Convert(GNMax.Shade(i, 5).Colour).(color.Gray).Y }
	for i := 1; i < 5; i++ {
		if grey(i) <= grey(i-1) {
			t.Errorf("shade %d is not lighter", i)
		}
		if string(bytesOf(GNMax.Shade(i, 5).Line().Dashes)) == string(bytesOf(GNMax.Shade(i-1, 5).Line().Dashes)) {
			t.Errorf("shade %d has the dashes of the one before", i)
		}
	}
}
