package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var link = regexp.MustCompile(`\]\(([^()\s]+)\)`)

// TestLinks: every link from a page to a file or a heading of this repository
// leads somewhere, and every page of the book is reached from its index.
func TestLinks(t *testing.T) {
	const index = "docs/README.md"
	all := pages(t)
	anchors := map[string]map[string]bool{}
	for _, p := range all {
		anchors[p] = headings(page(t, p))
	}
	indexed := map[string]bool{index: true}
	links := 0
	for _, p := range all {
		for i, line := range text(page(t, p)) {
			for _, m := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, "`x`"), -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				links++
				file, anchor, _ := strings.Cut(m[1], "#")
				target := p
				if file != "" {
					target = path.Join(path.Dir(p), file)
				}
				if p == index {
					indexed[target] = true
				}
				if strings.HasPrefix(target, "../") {
					t.Errorf("%s:%d: %s leads out of the repository", p, i+1, m[1])
				} else if info, err := os.Stat(filepath.Join(root, target)); err != nil {
					t.Errorf("%s:%d: %s: no such file", p, i+1, m[1])
				} else if anchor != "" && (info.IsDir() || !anchors[target][anchor]) {
					t.Errorf("%s:%d: %s: no such heading", p, i+1, m[1])
				}
			}
		}
	}
	for _, p := range all {
		if strings.HasPrefix(p, "docs/") && !indexed[p] {
			t.Errorf("%s is not in %s", p, index)
		}
	}
	if links < 50 {
		t.Errorf("the pages have %d links, want at least 50", links)
	}
}

// text blanks the lines of fenced blocks.
func text(lines []string) []string {
	out := make([]string, len(lines))
	fenced := false
	for i, line := range lines {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced {
			out[i] = line
		}
	}
	return out
}

var linked = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// headings returns the anchors of a page, made as GitHub makes them: lower case,
// punctuation dropped, hyphens for spaces, a number for repetitions.
func headings(lines []string) map[string]bool {
	anchors := map[string]bool{}
	for _, line := range text(lines) {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		title = linked.ReplaceAllString(strings.TrimSpace(title), "$1")
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, title)
		for a, n := anchor, 1; ; n++ {
			if !anchors[a] {
				anchors[a] = true
				break
			}
			a = fmt.Sprintf("%s-%d", anchor, n)
		}
	}
	return anchors
}
