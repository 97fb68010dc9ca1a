package figure

import (
	"bytes"
	"image/color"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// No two methods share a colour, and what has an order shares none with a method. The six
// first lines of a picture differ without colours.
func TestMethods(t *testing.T) {
	seen := map[color.RGBA]int{}
	for m := range methods {
		seen[colours[m]]++
	}
	for _, c := range ordered {
		seen[c]++
	}
	for c, n := range seen {
		if n > 1 || c.A != 255 {
			t.Errorf("%v is %d colours", c, n)
		}
	}
	dashes := map[string]bool{}
	for i := range 6 {
		dashes[string(bytesOf(Optimal.Style(i).Dashes))] = true
	}
	if len(dashes) != 6 {
		t.Errorf("%d patterns of 6", len(dashes))
	}
	for i := 1; i < 5; i++ {
		if grey := func(c color.Color) uint8 { return color.GrayModel.Convert(c).(color.Gray).Y }; grey(GNMax.Shade(i, 5).Color) <= grey(GNMax.Shade(i-1, 5).Color) {
			t.Errorf("shade %d is not lighter", i)
		}
	}
}

func bytesOf(ds []vg.Length) (out []byte) {
	for _, d := range ds {
		out = append(out, byte(4*d))
	}
	return out
}

// Text in a picture names other fonts for readers without the first one.
func TestSave(t *testing.T) {
	p := plot.New()
	p.Title.Text = "title"
	file := filepath.Join(t.TempDir(), "a.svg")
	if err := Save(p, 5*vg.Centimeter, 5*vg.Centimeter, file); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(data, []byte("font-family:Liberation Serif, 'Times New Roman', Times, serif;")) {
		t.Errorf("%v: %s", err, data)
	}
	if err := Save(p, 5*vg.Centimeter, 5*vg.Centimeter, file+".strange"); err == nil {
		t.Error("a strange format is written")
	}
}

func TestNumbers(t *testing.T) {
	got, err := Numbers("ε", "δ", 3, []Curve{{"a, b", plotter.XYs{{X: 1, Y: 1. / 3}}}, {"c", plotter.XYs{{X: 2, Y: 1e-30}}}})
	if want := "curve,ε,δ\n\"a, b\",1,0.333\nc,2,1e-30\n"; err != nil || string(got) != want {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
}
