// Entries whose plan has been read before, which is most of them in a long ledger: they are taken
// apart without a reader of JSON. It returns what the reader would, or leaves the entry to it.

package ledger

import (
	"bytes"
	"slices"
)

// entry returns the entry of a content.
func (s *state) entry(content []byte) (entry, error) {
	if e, ok := s.plain(content); ok {
		if _, ok = s.stored[string(e.Plan)]; ok || s.summed < s.until {
			return e, nil
		}
	}
	var e entry
	return e, strict(content, &e)
}

// plain takes a content apart that is {"time":"…","note":"…","key":"…","plan":…} with the note and the key left out or not, in the
// form that is written: printable ASCII without quotes and backslashes in the texts, which stand for themselves. It does not look
// into the plan, which is up to the end of the content: who takes it for one knows it from elsewhere.
func (s *state) plain(content []byte) (e entry, ok bool) {
	var texts [3][]byte
	rest := content
	for i, begin := range []string{`{"time":"`, `,"note":"`, `,"key":"`} {
		if texts[i], rest, ok = plainText(rest, begin); !ok {
			return e, false
		}
	}
	plan, ok := bytes.CutPrefix(rest, []byte(`,"plan":`))
	if !ok || texts[0] == nil {
		return e, false
	}
	e.Plan, ok = bytes.CutSuffix(plan, []byte("}"))
	if e.Time = s.last; string(texts[0]) != s.last {
		e.Time = string(texts[0])
	}
	if s.visit != nil {
		e.Note = string(texts[1])
	}
	e.Key = string(texts[2])
	return e, ok
}

// plainText returns the text behind begin and before the next quote, and what is behind the quote; false if it does not stand
// for itself in JSON. Where data does not begin so there is no text.
func plainText(data []byte, begin string) (text, rest []byte, ok bool) {
	rest, found := bytes.CutPrefix(data, []byte(begin))
	if !found {
		return nil, data, true
	}
	text, rest, ok = bytes.Cut(rest, []byte{'"'})
	return text, rest, ok && !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' || c > '~' || c == '\\' })
}
