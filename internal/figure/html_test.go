package figure

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

var size = Size{Width: 17 * vg.Centimeter, Height: 11 * vg.Centimeter}

// What comes from a plan is text wherever it stands, the page asks for nothing from anywhere,
// and only what its policy names runs.
func TestPageEscapes(t *testing.T) {
	const evil = `</title></script><script>alert(1)</script><img src=x onerror="alert(2)">'&`
	pic := fall()
	pic.Title, pic.X.Label, pic.Y.Label = evil, evil, evil
	pic.Bands[0].Name, pic.Bands[1].Name = evil, evil
	rows := Rows(evil, evil, []Row{{Name: evil, Lower: 1, Upper: 2}, {Name: evil, Lower: math.NaN(), Upper: math.Inf(1)}})
	for _, p := range []Picture{pic, rows} {
		data, err := p.Encode("html", size)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(data, []byte("<script")); n != 2 || bytes.Count(data, []byte("</script>")) != 2 || bytes.Contains(data, []byte("<img")) {
			t.Errorf("%d scripts, or an image", n)
		}
		if regexp.MustCompile(`(?i)https?:|url\(|@import| (src|href|on\w+)="`).Match(data) {
			t.Error("the page asks for something, or runs something")
		}
		for _, policy := range []string{"default-src 'none'", "script-src " + hashOf(pageScript)} {
			if !bytes.Contains(data, []byte(policy)) {
				t.Errorf("no policy %s", policy)
			}
		}
		style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindSubmatch(data)
		if style == nil || !bytes.Contains(data, []byte("style-src "+hashOf(string(style[1])))) || bytes.Contains(data, []byte(" style=")) {
			t.Error("the policy does not name the style")
		}
	}
}

// The SVG is well-formed, and the data of the page are the corners that other formats draw.
func TestPageData(t *testing.T) {
	pic := fall()
	page, err := pic.Encode("html", size)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<svg viewBox")
	svg, _, ok := strings.Cut(rest, "</svg>")
	d := xml.NewDecoder(strings.NewReader("<svg viewBox" + svg + "</svg>"))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil || !ok {
			t.Fatal(err)
		}
	}
	_, rest, _ = strings.Cut(string(page), `id="data">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var data pageData
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	for i := range pic.Bands {
		drawn := pic.Drawn(&pic.Bands[i])
		if len(data.Bands[i].Line) != len(drawn) || data.Bands[i].Bound != "upper" {
			t.Fatalf("band %d: %d corners of %d, %q", i, len(data.Bands[i].Line), len(drawn), data.Bands[i].Bound)
		}
		for k, p := range drawn {
			if data.Bands[i].Line[k] != [2]float64{p.X, p.Y} {
				t.Errorf("band %d, corner %d: %v, drawn is %v", i, k, data.Bands[i].Line[k], p)
			}
		}
	}
}

// On logarithmic axes the plane is as large as on others: a label takes no room above it.
func TestPlane(t *testing.T) {
	for _, log := range []bool{false, true} {
		pic := Picture{Title: "t", X: Axis{Label: strings.Repeat("long ", 8), Log: log, Min: 1e-6, Max: 1}, Y: Axis{Label: strings.Repeat("long ", 8), Log: log, Min: 1e-6, Max: 1}}
		svg, err := pic.Encode("svg", size)
		if err != nil {
			t.Fatal(err)
		}
		// The axes are the longest straight lines: M x y L x y, upwards and to the right.
		var up, right float64
		for _, m := range regexp.MustCompile(`d="M([\d.]+),([\d.]+)L([\d.]+),([\d.]+)"`).FindAllSubmatch(svg, -1) {
			var v [4]float64
			for i := range v {
				if err := json.Unmarshal(m[i+1], &v[i]); err != nil {
					t.Fatal(err)
				}
			}
			up, right = max(up, math.Abs(v[3]-v[1])), max(right, math.Abs(v[2]-v[0]))
		}
		if w, h := size.Width.Points(), size.Height.Points(); up < 0.7*h || right < 0.8*w {
			t.Errorf("logarithmic %v: the axes are %v × %v points of %v × %v", log, right, up, w, h)
		}
	}
}
