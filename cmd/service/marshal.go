package service

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal for what no HTML page holds: signs stay as they are.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
