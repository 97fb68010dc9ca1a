package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dpaccountant/accountant/internal/decimal"
)

// This file refuses the text of a request that readers of JSON could take for different
// things. It assumes nothing of the line, and returns the first problem with its place.

// checkText returns an error for a line that is no JSON object, or one whose text
// encoding/json would change in silence: what is not UTF-8, and half of a
// surrogate pair.
func checkText(line []byte) error {
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Errorf("request: byte %d, 0x%02x, is not UTF-8", i+1, line[i])
		}
		i += n
	}
	if !json.Valid(line) {
		return errors.New("request: is not one JSON value on one line")
	}
	if line[0] != '{' {
		return errors.New("request: is not a JSON object")
	}
	return checkEscapes(line)
}

// checkEscapes returns an error if an escape of valid JSON is half of a surrogate
// pair: no text has it, and encoding/json puts a replacement in its place.
func checkEscapes(line []byte) error {
	for i := 0; i < len(line); i++ {
		if line[i] != '\\' {
			continue
		}
		i++ // the escaped character, which may be a backslash
		if line[i] != 'u' {
			continue
		}
		r := hex4(line[i+1:])
		if utf16.IsSurrogate(r) {
			rest := line[i+5:]
			if !bytes.HasPrefix(rest, []byte(`\u`)) || utf16.DecodeRune(r, hex4(rest[2:])) == utf8.RuneError {
				return fmt.Errorf("request: %s at byte %d is half of a surrogate pair", line[i-1:i+5], i)
			}
			i += 6
		}
		i += 4
	}
	return nil
}

// hex4 is the number that four hexadecimal digits stand for.
func hex4(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits[:4]), 16, 16)
	return rune(n)
}

// A keyPlace is a key and the byte, from 1, at which it begins.
type keyPlace struct {
	key string
	at  int
}

// checkKeys returns an error if an object of valid JSON has a key twice, of which
// encoding/json takes the last, or if the request itself has two that differ in
// their case only.
func checkKeys(line []byte) error {
	type level struct {
		object, value bool // value: the next token of an object is one
		keys          map[string]int
	}
	var stack []level
	var own []keyPlace
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	for {
		before := int(d.InputOffset())
		token, err := d.Token()
		if err != nil {
			return nil // the end
		}
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			stack = stack[:len(stack)-1]
			continue
		}
		if n := len(stack); n > 0 && stack[n-1].object {
			top := &stack[n-1]
			if key, ok := token.(string); ok && !top.value {
				at := before + bytes.IndexByte(line[before:], '"') + 1
				if first, twice := top.keys[key]; twice {
					return fmt.Errorf("request: the key %s at byte %d is set a second time; the first is at byte %d", decimal.Show(key), at, first)
				}
				top.keys[key] = at
				if n == 1 {
					if i := slices.IndexFunc(own, func(k keyPlace) bool { return strings.EqualFold(k.key, key) }); i >= 0 {
						return fmt.Errorf("request: the key %s at byte %d differs from %s at byte %d in its case only", decimal.Show(key), at, decimal.Show(own[i].key), own[i].at)
					}
					own = append(own, keyPlace{key, at})
				}
				top.value = true
				continue
			}
			top.value = false
		}
		if delim, ok := token.(json.Delim); ok {
			stack = append(stack, level{object: delim == '{', keys: map[string]int{}})
		}
	}
}
