package plots

import (
	"bytes"
	"image/color"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/try"
)

func TestShade(t *testing.T) {
	grey := func(i int) uint8 {
		return color.GrayModel.Convert(Shade(figure.GNMax, i, 5).Color).(color.Gray).Y
	}
	for i := 1; i < 5; i++ {
		if grey(i) <= grey(i-1) {
			t.Errorf("shade %d is not lighter", i)
		}
	}
}

// Text in a picture names other fonts for readers without the first one.
func TestSave(t *testing.T) {
	p := figure.New()
	p.Title.Text = "a <title>, 10⁻⁵"
	file := filepath.Join(t.TempDir(), "a.svg")
	Save(p, 5*vg.Centimeter, 5*vg.Centimeter, file)
	data, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(data, []byte("font-family:Liberation Serif, 'Times New Roman', Times, serif;")) {
		t.Errorf("%v: %s", err, data)
	}
	if !bytes.Contains(data, []byte("<title>a &lt;title&gt;, 10⁻⁵</title>")) || bytes.Contains(data, []byte(">a &lt;title&gt;, 10⁻⁵</text>")) {
		t.Errorf("%s", data)
	}
	if texts, widths := bytes.Count(data, []byte("<text ")), bytes.Count(data, []byte("textLength=")); texts == 0 || texts != widths {
		t.Errorf("%d texts, %d of them with a width", texts, widths)
	}
	if err := try.Run(func() { Save(p, 5*vg.Centimeter, 5*vg.Centimeter, file+".strange") }); err == nil {
		t.Error("a strange format is written")
	}
}

func TestNumbers(t *testing.T) {
	got := Numbers("ε", "δ", 3, []Curve{{"a, b", plotter.XYs{{X: 1, Y: 1. / 3}}}, {"c", plotter.XYs{{X: 2, Y: 1e-30}}}})
	if want := "curve,ε,δ\n\"a, b\",1,0.333\nc,2,1e-30\n"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}
