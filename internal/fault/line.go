package fault

import (
	"strconv"
	"strings"
	"unicode"
)

// Line is text as a message has it: on one line, and without characters that a
// terminal may act on.
func Line(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}
