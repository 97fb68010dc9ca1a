package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestContrast computes, of the colours in style.css, what WCAG 2.1 asks in both themes: 4.5:1 between
// text and what it stands on (1.4.3), 3:1 between lines, marks and what they stand on (1.4.11). A rule
// that sets one of colour and background has the other from elsewhere: ink, soft or bad; paper or field.
func TestContrast(t *testing.T) {
	css, err := os.ReadFile(filepath.Join(root, "cmd", "web", "style.css"))
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`opacity|rgba|color-mix`).Match(css) {
		t.Error("a colour shines through, which this test does not compute")
	}
	declared := regexp.MustCompile(`--(\w+): #([0-9a-f]+);`)
	light, dark, _ := strings.Cut(string(css), "@media")
	dark, rules, _ := strings.Cut(dark, "\n}\n")
	themes := map[string]map[string]float64{"light": {}, "dark": {}}
	for name, text := range map[string]string{"light": light, "dark": dark} {
		for _, m := range declared.FindAllStringSubmatch(text, -1) {
			themes[name][m[1]] = luminance(t, m[2])
		}
	}
	used := func(property, rule string) string {
		m := regexp.MustCompile(`(?:^|[ ;{])` + property + `:[^;}]*var\(--(\w+)\)`).FindStringSubmatch(rule)
		if m == nil {
			return ""
		}
		return m[1]
	}
	type pair struct {
		front, back string
		least       float64
	}
	pairs := map[pair]string{}
	want := func(rule string, least float64, fronts, backs []string) {
		for _, f := range fronts {
			for _, b := range backs {
				pairs[pair{f, b, least}] = rule
			}
		}
	}
	surfaces := []string{"paper", "field"}
	for rule := range strings.Lines(rules) {
		front, back := used("color", rule), used("background", rule)
		fronts, backs := []string{"ink", "soft", "bad"}, surfaces
		if front != "" {
			fronts = []string{front}
		}
		if back != "" {
			backs = []string{back}
		}
		if front != "" || back != "" {
			want(rule, 4.5, fronts, backs)
		}
		for _, property := range []string{"border(?:-[a-z]+)*", "outline", "stroke"} {
			if line := used(property, rule); line != "" {
				want(rule, 3, []string{line}, []string{"paper"})
			}
		}
		if text := used("fill", rule); strings.Contains(rule, "svg text") {
			want(rule, 4.5, []string{text}, []string{"paper"})
		}
	}
	// The curve runs along the edge of the region between its ends.
	want("svg .between", 3, []string{"mark"}, []string{"fill"})
	if len(pairs) < 10 {
		t.Fatalf("only %d pairs of colours are found", len(pairs))
	}
	for name, colours := range themes {
		for p, rule := range pairs {
			front, ok := colours[p.front]
			back, ok2 := colours[p.back]
			if !ok || !ok2 {
				t.Fatalf("%s: %s or %s is not declared: %s", name, p.front, p.back, rule)
			}
			if ratio := (max(front, back) + 0.05) / (min(front, back) + 0.05); ratio < p.least {
				t.Errorf("%s: %s on %s has a contrast of %.2f:1, below %g:1: %s", name, p.front, p.back, ratio, p.least, rule)
			}
		}
	}
}

// luminance is the relative luminance of a colour of sRGB, rgb or rrggbb (WCAG 2.1).
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	if len(hex) == 3 {
		hex = fmt.Sprintf("%c%[1]c%c%[2]c%c%[3]c", hex[0], hex[1], hex[2])
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
