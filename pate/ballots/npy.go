// Tables as NPY files. It assumes nothing of a file, whose size and header are bounded,
// and returns its entries row by row.

package ballots

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/dpaccountant/accountant/internal/fault"
)

const npyMagic = "\x93NUMPY"

// readNPY reads a two-dimensional array of numbers (a one-dimensional one is a
// column). Memory grows with the data that is there, not with what the header
// claims.
func readNPY(r io.Reader, field string) (*table[float64], error) {
	bad := func(format string, args ...any) (*table[float64], error) {
		return nil, fault.In(field, fault.New("npy", "%s", fmt.Sprintf(format, args...)))
	}
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return bad("the file ends in its header")
	}
	var n int
	switch version := head[6]; version {
	case 1:
		var b [2]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return bad("the file ends in its header")
		}
		n = int(binary.LittleEndian.Uint16(b[:]))
	case 2, 3:
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return bad("the file ends in its header")
		}
		if size := binary.LittleEndian.Uint32(b[:]); size > 1<<20 {
			return bad("header: %d bytes are not in [0, %d]", size, 1<<20)
		} else {
			n = int(size)
		}
	default:
		return bad("version: %d is not in [1, 3]", version)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return bad("the file ends in its header")
	}
	h, err := parseHeader(string(text))
	if err != nil {
		return bad("header: %v", err)
	}
	d, err := parseDescr(h.descr)
	if err != nil {
		return bad("descr: %v", err)
	}
	if len(h.shape) == 1 {
		h.shape = append(h.shape, 1)
	}
	if len(h.shape) != 2 {
		return bad("shape: %d dimensions are not 2", len(h.shape))
	}
	rows, columns := h.shape[0], h.shape[1]
	if rows < 1 || columns < 1 || rows > maxEntries/columns {
		return bad("shape: (%d, %d) is not in [1, %d] entries", rows, columns, maxEntries)
	}
	total := rows * columns
	var values []float64
	in := bufio.NewReaderSize(r, 1<<16)
	for len(values) < total {
		buf := make([]byte, int(d.of.Size())*min(1<<12, total-len(values)))
		if n, err := io.ReadFull(in, buf); err != nil {
			return bad("the data ends after %d of %d entries", len(values)+n/int(d.of.Size()), total)
		}
		some, err := d.values(buf)
		if err != nil {
			return bad("%v", err)
		}
		for _, x := range some {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return bad("entry %d: %v is not finite", len(values)+1, x)
			}
			values = append(values, x)
		}
	}
	if _, err := in.ReadByte(); err != io.EOF {
		return bad("there is data after the %d entries of shape (%d, %d)", total, rows, columns)
	}
	if h.fortran {
		t := make([]float64, total)
		for i := range rows {
			for j := range columns {
				t[i*columns+j] = values[j*rows+i]
			}
		}
		values = t
	}
	return &table[float64]{columns, values}, nil
}

type npyHeader struct {
	descr   string
	fortran bool
	shape   []int
}

// parseHeader reads the Python dictionary of an NPY header: three known keys
// with a string, a bool and a tuple of integers.
func parseHeader(s string) (h npyHeader, err error) {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "{") || !strings.HasSuffix(s, "}") {
		return h, fmt.Errorf("%q is not a dictionary", clip(s))
	}
	s = s[1 : len(s)-1]
	seen := map[string]bool{}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		key, rest, ok := quoted(s)
		if !ok {
			return h, fmt.Errorf("%q does not start with a key", clip(s))
		}
		rest, ok = strings.CutPrefix(strings.TrimSpace(rest), ":")
		if !ok || seen[key] {
			return h, fmt.Errorf("key %q has no value or stands twice", clip(key))
		}
		seen[key] = true
		rest = strings.TrimSpace(rest)
		switch key {
		case "descr":
			if h.descr, rest, ok = quoted(rest); !ok {
				return h, fault.New("descr", "%q is not a plain type", clip(rest))
			}
		case "fortran_order":
			var after string
			if after, ok = strings.CutPrefix(rest, "True"); ok {
				h.fortran = true
			} else if after, ok = strings.CutPrefix(rest, "False"); !ok {
				return h, fault.New("fortran_order", "%q is not in [True, False]", clip(rest))
			}
			rest = after
		case "shape":
			tuple, after, found := strings.Cut(rest, ")")
			if !found || !strings.HasPrefix(tuple, "(") {
				return h, fault.New("shape", "%q is not a tuple", clip(rest))
			}
			for _, f := range strings.Split(strings.TrimSuffix(strings.TrimSpace(tuple[1:]), ","), ",") {
				n, err := strconv.Atoi(strings.TrimSpace(f))
				if err != nil || n < 0 {
					return h, fault.New("shape", "%q is not a non-negative integer", clip(strings.TrimSpace(f)))
				}
				h.shape = append(h.shape, n)
			}
			rest = after
		default:
			return h, fmt.Errorf("key %q is not in [descr, fortran_order, shape]", clip(key))
		}
		rest = strings.TrimSpace(rest)
		if rest != "" {
			if rest, ok = strings.CutPrefix(rest, ","); !ok {
				return h, fmt.Errorf("%q stands where a comma must", clip(rest))
			}
		}
		s = rest
	}
	if len(seen) != 3 {
		return h, fmt.Errorf("it must have the keys descr, fortran_order and shape")
	}
	return h, nil
}

// quoted cuts a quoted string off the front of s.
func quoted(s string) (text, rest string, ok bool) {
	if s == "" || s[0] != '\'' && s[0] != '"' {
		return "", s, false
	}
	text, rest, ok = strings.Cut(s[1:], s[:1])
	if !ok {
		return "", s, false
	}
	return text, rest, true
}

// npyType is how an entry is stored.
type npyType struct {
	of    reflect.Type
	order binary.ByteOrder
}

var npyTypes = map[string]reflect.Type{
	"u1": reflect.TypeFor[uint8](), "u2": reflect.TypeFor[uint16](), "u4": reflect.TypeFor[uint32](), "u8": reflect.TypeFor[uint64](),
	"i1": reflect.TypeFor[int8](), "i2": reflect.TypeFor[int16](), "i4": reflect.TypeFor[int32](), "i8": reflect.TypeFor[int64](),
	"f4": reflect.TypeFor[float32](), "f8": reflect.TypeFor[float64](),
}

func parseDescr(s string) (t npyType, err error) {
	err = fmt.Errorf("%q is not in [u1, i1, u2, i2, u4, i4, u8, i8, f4, f8] with <, > or |", clip(s))
	if s == "" || npyTypes[s[1:]] == nil {
		return t, err
	}
	t = npyType{npyTypes[s[1:]], binary.LittleEndian}
	switch s[0] {
	case '>':
		t.order = binary.BigEndian
	case '|':
		if t.of.Size() > 1 {
			return t, err
		}
	case '<', '=':
	default:
		return t, err
	}
	return t, nil
}

// values decodes numbers. It may round an integer beyond 2^53, which is out of range for votes.
func (t npyType) values(data []byte) ([]float64, error) {
	n := len(data) / int(t.of.Size())
	from, out := reflect.MakeSlice(reflect.SliceOf(t.of), n, n), make([]float64, n)
	if _, err := binary.Decode(data, t.order, from.Interface()); err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = from.Index(i).Convert(reflect.TypeFor[float64]()).Float()
	}
	return out, nil
}

// WriteNPY writes the counts as NPY version 1, 64-bit integers.
func (v *Votes) WriteNPY(w io.Writer) error {
	h := fmt.Sprintf("{'descr': '<i8', 'fortran_order': False, 'shape': (%d, %d), }", v.Queries(), v.columns)
	// The data starts at a multiple of 64 bytes.
	h += strings.Repeat(" ", 63-(10+len(h))%64) + "\n"
	b := bufio.NewWriter(w)
	b.WriteString(npyMagic + "\x01\x00")
	var n [8]byte
	binary.LittleEndian.PutUint16(n[:], uint16(len(h)))
	b.Write(n[:2])
	b.WriteString(h)
	for _, c := range v.cells {
		binary.LittleEndian.PutUint64(n[:], uint64(c))
		b.Write(n[:])
	}
	return b.Flush()
}
