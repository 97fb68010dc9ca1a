package plots

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/dpaccountant/accountant/cmd/figure"
	"github.com/dpaccountant/accountant/lab/try"
)

// The format of a picture is the ending of its file.
func TestSave(t *testing.T) {
	size := figure.Size{Width: 5 * vg.Centimeter, Height: 5 * vg.Centimeter}
	file := filepath.Join(t.TempDir(), "a.svg")
	Save(file, size, []figure.Picture{{Title: "a title"}})
	if data, err := os.ReadFile(file); err != nil || !bytes.Contains(data, []byte("<title>a title</title>")) {
		t.Errorf("%v: %s", err, data)
	}
	if err := try.Run(func() { Save(file+".strange", size, []figure.Picture{{}}) }); err == nil {
		t.Error("a strange format is written")
	}
}

func TestNumbers(t *testing.T) {
	got := Numbers("ε", "δ", 3, []figure.Band{{Name: "a, b", X: []float64{1}, Proved: []float64{1. / 3}}, {Name: "c", X: []float64{2}, Proved: []float64{1e-30}}})
	if want := "curve,ε,δ\n\"a, b\",1,0.333\nc,2,1e-30\n"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}
