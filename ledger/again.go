// Entries whose plan has been read before, which is most of them in a long ledger: they are taken
// apart without a reader of JSON. It returns what the reader would, or leaves the entry to it.

package ledger

import (
	"bytes"
)

// again returns an entry whose plan stands in the line as it did in an earlier one.
func (s *state) again(content []byte) (e entry, a admission, ok bool) {
	e, note, ok := s.plain(content)
	if !ok {
		return e, a, false
	}
	if a, ok = s.stored[string(e.Plan)]; ok && s.visit != nil {
		e.Note = string(note)
	}
	return e, a, ok
}

// plain takes a content apart that is {"time":"…","note":"…","key":"…","plan":…} with the note and the key left out or not, in the
// form that is written: printable ASCII without quotes and backslashes in the texts, which stand for themselves. It does not look
// into the plan, which is up to the end of the content: who takes it for one knows it from elsewhere.
func (s *state) plain(content []byte) (e entry, note []byte, ok bool) {
	rest, ok := bytes.CutPrefix(content, []byte(`{"time":"`))
	if !ok {
		return e, nil, false
	}
	at, rest, ok := plainText(rest)
	if !ok {
		return e, nil, false
	}
	if with, found := bytes.CutPrefix(rest, []byte(`,"note":"`)); found {
		if note, rest, ok = plainText(with); !ok {
			return e, nil, false
		}
	}
	if with, found := bytes.CutPrefix(rest, []byte(`,"key":"`)); found {
		var key []byte
		if key, rest, ok = plainText(with); !ok {
			return e, nil, false
		}
		e.Key = string(key)
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"plan":`)); !ok {
		return e, nil, false
	}
	if e.Plan, ok = bytes.CutSuffix(rest, []byte("}")); !ok {
		return e, nil, false
	}
	if e.Time = s.last; string(at) != s.last {
		e.Time = string(at)
	}
	return e, note, true
}

// plainText returns the text before the next quote, if it stands for itself in JSON, and what is
// behind the quote.
func plainText(data []byte) (text, rest []byte, ok bool) {
	i := bytes.IndexByte(data, '"')
	if i < 0 {
		return nil, nil, false
	}
	for _, c := range data[:i] {
		if c < ' ' || c > '~' || c == '\\' {
			return nil, nil, false
		}
	}
	return data[:i], data[i+1:], true
}
