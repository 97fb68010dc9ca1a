package campaign

// The table of what was tried.

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// report writes the result in Markdown, with times or without: all else is the same in every run.
func (s *result) report(times bool) string {
	var b strings.Builder
	total := int64(0)
	for _, n := range s.Checks {
		total += n
	}
	row := func(name string, value any) { fmt.Fprintf(&b, "| %s | %v |\n", name, value) }
	b.WriteString("| what | number |\n|---|---|\n")
	row("seed", strings.Trim(fmt.Sprint(slices.Sorted(maps.Keys(s.Seeds))), "[]"))
	row("plans", s.Plans)
	row(fmt.Sprintf("of them hard, one in %d of those that were drawn", oneIn), s.Hard)
	row("of all refused, with the name of the field", s.Refused)
	row("answers", s.Answers)
	row("answers with a warning that they are wider than asked", s.Warned)
	row("checks", total)
	row("**violations**", fmt.Sprintf("**%d**", len(s.Violations)))
	row("ordinary answers that a limit of work or memory made wide", len(s.Wide))
	row("widest answer without a warning, over the width asked", fmt.Sprintf("%.2f", s.Share))
	if times {
		row("slowest plan with all its checks", s.Slowest.Round(time.Second))
		row("time", s.Took.Round(time.Second))
	}
	table(&b, "check", "times", s.Checks)
	table(&b, "first answer by", "plans", s.Engines)
	table(&b, "mechanism, sampling", "steps", s.Mechanisms)
	for _, v := range slices.Concat(s.Violations, s.Wide) {
		fmt.Fprintf(&b, "\n```\n%s\n```\n", strings.TrimRight(v, "\n"))
	}
	fmt.Fprintf(&b, "\nThe widest:%s\n", indented(s.Widest))
	if times {
		fmt.Fprintf(&b, "\nThe slowest:%s\n", indented(s.SlowestPlan))
	}
	return b.String()
}

// table writes numbers, the largest first.
func table(b *strings.Builder, what, unit string, numbers map[string]int64) {
	fmt.Fprintf(b, "\n| %s | %s |\n|---|---|\n", what, unit)
	names := slices.SortedFunc(maps.Keys(numbers), func(x, y string) int {
		return cmp.Or(cmp.Compare(numbers[y], numbers[x]), strings.Compare(x, y))
	})
	for _, name := range names {
		fmt.Fprintf(b, "| %s | %d |\n", name, numbers[name])
	}
}

// indented sets a question and its plan as a block.
func indented(text string) string { return "\n\n```yaml\n# " + strings.TrimRight(text, "\n") + "\n```" }
