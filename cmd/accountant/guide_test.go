package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a user reads may be as long as this.
const (
	guidePages    = 12
	sentenceWords = 35
	medianWords   = 18
)

var (
	sentenceEnd = regexp.MustCompile(`[.!?][)"”*]*\s+[^a-z\s]`)
	listItem    = regexp.MustCompile(`^\s*(?:[-*>]|[0-9]+\.) `)
	letter      = regexp.MustCompile(`[\p{L}\p{N}]`)
)

// passages returns the paragraphs, list items and table cells of a page, without code, comments, headings and pictures.
func passages(page string) (paragraphs, cells []string) {
	var open []string
	flush := func() {
		if open != nil {
			paragraphs = append(paragraphs, strings.Join(open, " "))
		}
		open = nil
	}
	fenced := false
	for line := range strings.Lines(comment.ReplaceAllString(page, "")) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			flush()
			fenced = !fenced
		case fenced || open == nil && strings.HasPrefix(line, "    "):
		case strings.HasPrefix(line, "|"):
			flush()
			cells = append(cells, strings.Split(strings.Trim(line, "|"), "|")...)
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "!["):
			flush()
		default:
			if listItem.MatchString(line) {
				flush()
			}
			open = append(open, strings.TrimSpace(listItem.ReplaceAllString(line, "")))
		}
	}
	flush()
	return paragraphs, cells
}

// sentences splits a passage where a full stop is not followed by a small letter. A span of code is one word, and so is a link's address none.
func sentences(passage string) (all []string) {
	passage = linked.ReplaceAllString(codeSpan.ReplaceAllString(passage, "X"), "$1")
	for {
		end := sentenceEnd.FindStringIndex(passage)
		if end == nil {
			return append(all, passage)
		}
		all, passage = append(all, passage[:end[0]+1]), passage[end[0]+1:]
	}
}

// wordCount returns how many words a sentence has: what has a letter or a digit.
func wordCount(sentence string) (n int) {
	for _, word := range strings.Fields(sentence) {
		if letter.MatchString(word) {
			n++
		}
	}
	return n
}

// TestGuide: the guide is short enough to be read, and so are the sentences of it and of the README.
func TestGuide(t *testing.T) {
	guide, err := filepath.Glob(root + "/docs/guide/*.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(guide); n < 5 || n > guidePages {
		t.Errorf("docs/guide has %d pages, want at most %d", n, guidePages)
	}
	var all []int
	for _, path := range append(guide, root+"/README.md") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		paragraphs, cells := passages(string(data))
		for i, passage := range slices.Concat(paragraphs, cells) {
			for _, s := range sentences(passage) {
				n := wordCount(s)
				if n > sentenceWords {
					t.Errorf("%s: a sentence of %d words: %s", path, n, s)
				}
				if n > 0 && i < len(paragraphs) {
					all = append(all, n)
				}
			}
		}
	}
	slices.Sort(all)
	if len(all) < 500 {
		t.Fatalf("%d sentences were found", len(all))
	}
	if m := all[len(all)/2]; m > medianWords {
		t.Errorf("half of the sentences have %d words or more, want %d", m, medianWords)
	}
	t.Logf("%d pages, %d sentences with a median of %d", len(guide), len(all), all[len(all)/2])
}

// TestSentences: what is one sentence, and what is a word.
func TestSentences(t *testing.T) {
	for _, c := range []struct {
		passage string
		want    []int
	}{
		{"One. Two words!", []int{1, 2}},
		{"About 1.5 of them, e.g. this one. \"And so on.\" ε is 2.", []int{7, 3, 3}},
		{"A `long span of code.  Or two` and a [link. To](page.md#a) → x", []int{5, 2}},
	} {
		var got []int
		for _, s := range sentences(c.passage) {
			got = append(got, wordCount(s))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.passage, got, c.want)
		}
	}
}

// commentWords is what a sentence of a package comment may have.
const commentWords = 30

// TestPackageComments: every package says what it is for, in sentences that can be read, and lists no files: names and order do that.
func TestPackageComments(t *testing.T) {
	described := map[string]bool{}
	packages := map[string]bool{}
	item := regexp.MustCompile(`(?m)^ *- `)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		packages[filepath.Dir(path)] = true
		if f.Doc == nil {
			return nil
		}
		described[filepath.Dir(path)] = true
		for _, block := range strings.Split(f.Doc.Text(), "\n\n") {
			if strings.HasPrefix(block, "\t") {
				continue
			}
			if file := regexp.MustCompile(`\b\w+\.go\b`).FindString(block); file != "" {
				t.Errorf("%s: the package comment names the file %s", path, file)
			}
			for _, part := range item.Split(block, -1) {
				for _, s := range sentences(strings.Join(strings.Fields(part), " ")) {
					if n := wordCount(s); n > commentWords {
						t.Errorf("%s: a sentence of %d words: %s", path, n, s)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range packages {
		if !described[dir] {
			t.Errorf("%s has no package comment", dir)
		}
	}
	if len(described) < 60 {
		t.Errorf("%d package comments, want at least 60", len(described))
	}
}

// TestTenChanges: the page of where changes go has ten, each with links to files that are there (TestLinks looks at their headings) and
// with a test that is there (TestPagesNames).
func TestTenChanges(t *testing.T) {
	const name = "docs/guide/changes.md"
	rows := 0
	for _, line := range page(t, name) {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "| ") || len(cells) != 3 || strings.HasPrefix(line, "| change ") {
			continue
		}
		rows++
		places := link.FindAllStringSubmatch(cells[1], -1)
		if len(places) == 0 {
			t.Errorf("%s: nothing says where %q goes", name, strings.TrimSpace(cells[0]))
		}
		for _, m := range places {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !testName.MatchString(cells[2]) {
			t.Errorf("%s: no test holds %q", name, strings.TrimSpace(cells[0]))
		}
	}
	if rows != 10 {
		t.Errorf("%s has %d changes, want 10", name, rows)
	}
}
