package slow

import (
	"strings"
	"testing"
)

// recorder records whether a test was skipped.
type recorder struct {
	testing.TB
	skipped string
}

func (r *recorder) Helper()          {}
func (r *recorder) Skip(args ...any) { r.skipped = args[0].(string) }

// TestTiers: each tier runs what the one below it runs, and a skipped test names the tier that runs it.
func TestTiers(t *testing.T) {
	for _, c := range []struct {
		value      string
		test, long string // what each says when it skips
		on, all    bool
	}{
		{"", "SLOW=1", "SLOW=2", false, false},
		{"0", "SLOW=1", "SLOW=2", false, false},
		{"1", "", "SLOW=2", true, false},
		{"2", "", "", true, true},
	} {
		t.Setenv("SLOW", c.value)
		var test, long recorder
		Test(&test)
		Long(&long)
		for _, x := range []struct{ got, want string }{{test.skipped, c.test}, {long.skipped, c.long}} {
			if (x.got == "") != (x.want == "") || !strings.Contains(x.got, x.want) {
				t.Errorf("SLOW=%q: skipped with %q, want %q", c.value, x.got, x.want)
			}
		}
		if On() != c.on || All() != c.all {
			t.Errorf("SLOW=%q: slow tests %v, all %v", c.value, On(), All())
		}
	}
}

// TestUnknownTier: a value that no tier has is refused.
func TestUnknownTier(t *testing.T) {
	t.Setenv("SLOW", "yes")
	defer func() {
		if recover() == nil {
			t.Error("SLOW=yes is taken")
		}
	}()
	On()
}
