package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dpaccountant/accountant/plan"
)

// A line of the file is
//
//	{"chain":"HEX","entry":CONTENT}
//
// with CONTENT on one line and HEX = sha256(HEX of the line before, a line feed,
// CONTENT); the line before the first is empty. The first content is a header,
// all others are entries.
//
// A spend is on disk, line feed included, before it is reported. So what comes
// after the last line feed belongs to a spend that was never reported, and a line
// that ends before its content does is ignored. A line with the whole of its
// content counts: that is never too little.

const (
	linePrefix = `{"chain":"`
	lineMiddle = `","entry":`
	lineSuffix = "}\n"
	hexDigits  = "0123456789abcdef"
	// maxLine is longer than the line of any plan; JSON takes at most six bytes
	// for one.
	maxLine = 6*plan.MaxSize + 1<<16
	// maxHeader is longer than the line of any header, which has at most maxOrders
	// numbers.
	maxHeader = 1 << 16
)

// A header is the first content. A field that changes what the ledger promises is
// added with omitempty: ledgers without it stay as they are, and programs that do
// not know it refuse the file.
type header struct {
	Version   int    `json:"ledger"`
	Neighbors string `json:"neighbors"`
	Config           // RecordsPerPerson is 0 where the unit is a record
	Time      string `json:"time"`
}

// clock is the time of entries, which nothing depends on.
var clock = time.Now

func now() string { return clock().UTC().Format(time.RFC3339) }

type entry struct {
	Time string          `json:"time"`
	Note string          `json:"note,omitempty"`
	Key  string          `json:"key,omitempty"` // see SpendOnce
	Plan json.RawMessage `json:"plan"`
}

// planText is the plan that the entry holds.
func (e entry) planText() (text string) {
	if bytes.HasPrefix(e.Plan, []byte("{")) || json.Unmarshal(e.Plan, &text) != nil {
		return string(e.Plan)
	}
	return text
}

// A Line is one line of a ledger: the header or an entry as it is written, and its checksum.
type Line struct {
	Sum     string
	Content []byte
}

// text is the line as a file has it.
func (l Line) text() []byte {
	return fmt.Appendf(nil, "%s%s%s%s%s", linePrefix, l.Sum, lineMiddle, l.Content, lineSuffix)
}

// newLine returns the line of a content.
func newLine(prev string, content any) (Line, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(content); err != nil {
		return Line{}, err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	return Line{checksum(prev, text), text}, nil
}

// checksum is that of a content behind the line with another one, in hexadecimal digits.
func checksum(prev string, content []byte) string {
	h := sha256.New()
	h.Write(append([]byte(prev), '\n'))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// follows reports whether the line has the checksum that one behind prev has.
func (l Line) follows(prev string) bool { return checksum(prev, l.Content) == l.Sum }

// errChain is of a line that is not what was written.
var errChain = errors.New("the checksum does not follow from the line before: the file was damaged or changed here")

// errTorn is of the beginning of a line, which ends before its content does.
var errTorn = errors.New("the line is torn")

// decodeLine returns the line that a file has there, and what it lacks of its ending, which only the last one may. Of a torn line, of
// which a file system may leave zeros, it returns what there is of the content.
func decodeLine(raw []byte) (line Line, missing string, err error) {
	text := bytes.TrimRight(raw, "\x00")
	at := min(len(text), len(linePrefix))
	sum := string(text[at:min(len(text), at+2*sha256.Size)])
	frame := linePrefix + sum + lineMiddle
	n := min(len(text), len(frame))
	framed := string(text[:n]) == frame[:n] && strings.Trim(sum, hexDigits) == ""
	content, whole := bytes.CutSuffix(text[n:], []byte(lineSuffix))
	switch {
	case framed && whole:
		return Line{sum, content}, "", nil
	case bytes.HasSuffix(raw, []byte("\r\n")):
		return line, "", known{errors.New("ends in a carriage return: something has changed the line ends to those of Windows"), errChain}
	case !framed || bytes.HasSuffix(raw, []byte("\n")):
		return line, "", errChain
	}
	var value json.RawMessage
	d := json.NewDecoder(bytes.NewReader(content))
	switch err := d.Decode(&value); {
	case err == nil:
		end := d.InputOffset()
		missing, ok := strings.CutPrefix(lineSuffix, string(content[end:]))
		if !ok {
			err = known{errors.New("the line is whole but for its ending: the last bytes of the file were damaged or changed"), errChain}
		}
		return Line{sum, content[:end]}, missing, err
	case len(content) == 0, content[0] == '{' && err == io.ErrUnexpectedEOF:
		return Line{sum, content}, "", errTorn
	}
	return line, "", errChain
}

// readAhead is how much of a file is read at a time.
const readAhead = 1 << 18
