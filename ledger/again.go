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
	for i, begin := range []string{`{"time":"`, `,"note":"`, `,"key":"`} {
		behind, found := bytes.CutPrefix(content, []byte(begin))
		if !found {
			continue
		}
		texts[i], content, _ = bytes.Cut(behind, []byte{'"'})
		if slices.ContainsFunc(texts[i], func(c byte) bool { return c < ' ' || c > '~' || c == '\\' }) {
			return e, false
		}
	}
	if plan, found := bytes.CutPrefix(content, []byte(`,"plan":`)); found && texts[0] != nil {
		e.Plan, ok = bytes.CutSuffix(plan, []byte("}"))
	}
	if e.Time = s.last; string(texts[0]) != s.last {
		e.Time = string(texts[0])
	}
	e.Note, e.Key = string(texts[1]), string(texts[2])
	return e, ok
}
