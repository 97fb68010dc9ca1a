// Keys of spends: a request that is repeated because its answer was lost spends once. A key is in
// the entry's line, so that it holds for every process and as long as the file does.

package ledger

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dpaccountant/accountant/internal/fault"
)

// maxKey is the longest key in bytes.
const maxKey = 200

// checkKey returns an error unless the text can be a key.
func checkKey(key string) error {
	bad := func(r rune) bool { return !unicode.IsGraphic(r) }
	if key == "" || len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsFunc(key, bad) {
		return fault.New("key", "%.60q is not printable UTF-8 text of 1 to %d bytes", key, maxKey)
	}
	return nil
}

// errGranted is of an entry whose key has been spent with the same plan already.
var errGranted = errors.New("was granted before")

// keep remembers the key of an entry that counts, with its plan. Of a key that is in the file
// twice, which no spend writes, the first stays.
func (s *state) keep(e entry) {
	if e.Key == "" {
		return
	}
	key := digestOf(e.Key)
	if _, ok := s.keys[key]; !ok {
		s.keys[key] = digestOf(e.planText())
	}
}

// repeated returns errGranted if the entry was granted before under its key, and another error
// if what was granted under it is another plan.
func (s *state) repeated(e entry) error {
	if e.Key == "" {
		return nil
	}
	switch plan, ok := s.keys[digestOf(e.Key)]; {
	case !ok:
		return nil
	case plan != digestOf(e.planText()):
		return fault.New("key", "%q was granted for another plan; every spend has a key of its own", e.Key)
	}
	return errGranted
}
