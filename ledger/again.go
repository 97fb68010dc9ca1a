// Entries whose plan has been read before, which is most of them in a long ledger: they are taken
// apart without a reader of JSON. It returns what the reader would, or leaves the entry to it.

package ledger

import (
	"bytes"
)

// again returns an entry whose plan stands in the line as it did in an earlier one. The content is
// then {"time":"…","note":"…","plan":…} with the note left out or not, in the form that is written:
// printable ASCII without quotes and backslashes in the texts, which stand for themselves.
func (s *state) again(content []byte) (e entry, a admission, ok bool) {
	rest, ok := bytes.CutPrefix(content, []byte(`{"time":"`))
	if !ok {
		return e, a, false
	}
	at, rest, ok := plainText(rest)
	if !ok {
		return e, a, false
	}
	var note []byte
	if with, found := bytes.CutPrefix(rest, []byte(`,"note":"`)); found {
		if note, rest, ok = plainText(with); !ok {
			return e, a, false
		}
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`,"plan":`)); !ok {
		return e, a, false
	}
	if rest, ok = bytes.CutSuffix(rest, []byte("}")); !ok {
		return e, a, false
	}
	if a, ok = s.stored[string(rest)]; !ok {
		return e, a, false
	}
	if e.Plan = rest; string(at) == s.last {
		e.Time = s.last
	} else {
		e.Time = string(at)
	}
	if s.visit != nil {
		e.Note = string(note)
	}
	return e, a, true
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
