package rooms

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// room returns the room of the drawing that a package belongs to: "" for helpers (internal
// packages that any room may use), for programs beside the library, and for tests.
func room(path string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	switch first, _, _ := strings.Cut(name, "/"); {
	case name == "":
		return "accountant"
	case first == "internal", first == "experiments", first == "examples", name == "profiles/profiletest":
		return ""
	}
	return name
}

// shortest leaves out of the arrows what follows from others: a room that is reached by way
// of another needs no arrow of its own.
func shortest(arrows map[string]map[string]bool) map[string][]string {
	var reaches func(from, to string) bool
	reaches = func(from, to string) bool {
		for next := range arrows[from] {
			if next == to || reaches(next, to) {
				return true
			}
		}
		return false
	}
	out := map[string][]string{}
	for from, tos := range arrows {
		for to := range tos {
			indirect := false
			for next := range tos {
				indirect = indirect || next != to && reaches(next, to)
			}
			if !indirect {
				out[from] = append(out[from], to)
			}
		}
		slices.Sort(out[from])
	}
	return out
}

// TestDrawing: the arrows of the drawing in docs/architecture.md are the imports. UPDATE=1
// writes them.
func TestDrawing(t *testing.T) {
	all, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	arrows := map[string]map[string]bool{}
	for path, imports := range Arrows(all, module) {
		from := room(path)
		if from == "" {
			continue
		}
		if arrows[from] == nil {
			arrows[from] = map[string]bool{}
		}
		for _, imported := range imports {
			if to := room(imported); to != "" && to != from {
				arrows[from][to] = true
			}
		}
	}
	drawn := "```mermaid\nflowchart TD\n"
	few := shortest(arrows)
	for _, from := range slices.Sorted(maps.Keys(few)) {
		for _, to := range few[from] {
			drawn += fmt.Sprintf("    %s --> %s\n", from, to)
		}
	}
	drawn += "```\n"
	const page = "../../docs/architecture.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```mermaid\n.*?```\n")
	if got := block.FindString(string(text)); got == drawn {
		return
	} else if os.Getenv("UPDATE") == "" || got == "" {
		t.Fatalf("the drawing in docs/architecture.md is not that of the imports (UPDATE=1 go test ./internal/rooms -run TestDrawing writes it):\n%s\nwant\n%s", got, drawn)
	}
	if err := os.WriteFile(page, []byte(block.ReplaceAllLiteralString(string(text), drawn)), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestShortest(t *testing.T) {
	got := shortest(map[string]map[string]bool{"a": {"b": true, "c": true}, "b": {"c": true}, "c": {}})
	if fmt.Sprint(got) != "map[a:[b] b:[c]]" {
		t.Errorf("arrows %v", got)
	}
}
