// Numbers as they stand in a file, before they are votes, labels or scores.

package ballots

import "math"

// maxEntries bounds the size of a table: 8 bytes each.
const maxEntries = 100_000_000

// A matrix is a table of numbers as read from a file.
type matrix struct {
	columns int
	values  []float64
}

func (m *matrix) rows() int { return len(m.values) / m.columns }

func isInt(x float64) bool { return x == math.Trunc(x) }

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
