package figure

import (
	"bytes"
	"testing"

	"gonum.org/v1/plot/vg"
)

// Text in a picture names other fonts for readers without the first one, and the names of pictures are its title.
func TestTiles(t *testing.T) {
	one, two := Picture{Title: "a <title>, 10⁻⁵"}, Picture{Title: "another"}
	size := Size{Width: 5 * vg.Centimeter, Height: 5 * vg.Centimeter}
	data, err := Tiles("svg", size, []Picture{one, two}, []Picture{two})
	if err != nil || !bytes.Contains(data, []byte("font-family:Liberation Serif, 'Times New Roman', Times, serif;")) {
		t.Errorf("%v: %s", err, data)
	}
	if !bytes.Contains(data, []byte("<title>a &lt;title&gt;, 10⁻⁵; another; another</title>")) || bytes.Contains(data, []byte(">a &lt;title&gt;, 10⁻⁵</text>")) {
		t.Errorf("%s", data)
	}
	if texts, widths := bytes.Count(data, []byte("<text ")), bytes.Count(data, []byte("textLength=")); texts == 0 || texts != widths {
		t.Errorf("%d texts, %d of them with a width", texts, widths)
	}
	if !bytes.Contains(data, []byte(`width="283.46pt" height="283.46pt"`)) {
		t.Errorf("two pictures beside each other, and another below, are not 10 cm wide and high: %.200s", data)
	}
	if _, err := Tiles("strange", size, []Picture{one}); err == nil {
		t.Error("a strange format is written")
	}
}

// Bars of errors end where the axis does.
func TestErrorBars(t *testing.T) {
	b := Band{X: []float64{1, 2, 3}, Proved: []float64{1, 5, 20}, Errors: []float64{0.5, 9, 1}}
	pic := Picture{X: Axis{Min: 1, Max: 3}, Y: Axis{Log: true, Min: 0.1, Max: 10}, Bands: []Band{b}}
	bars := pic.errorBars(&b, grey)
	if len(bars.XYs) != 2 || bars.YErrors[0].Low != 0.5 || bars.YErrors[1].Low != 4.9 || bars.YErrors[1].High != 5 {
		t.Errorf("%+v", bars)
	}
}
