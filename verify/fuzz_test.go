package verify

import (
	"strings"
	"testing"
)

// FuzzCertificate: whatever is in the place of some bytes of a certificate, the checker ends with one of its exit codes: it does
// not crash, hang, or prove what is not sealed.
func FuzzCertificate(f *testing.F) {
	checker := build(f)
	text, _, err := certify(f, "neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 2}}\n    count: 3\n", 1e-5)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint16(0), uint16(0), []byte{})
	f.Add(uint16(40), uint16(3), []byte("1e999999999"))
	f.Add(uint16(200), uint16(1), []byte("-"))
	f.Add(uint16(300), uint16(400), []byte("\x00\xff\n\n"))
	f.Add(uint16(9), uint16(60000), []byte("{"))
	f.Fuzz(func(t *testing.T, at, cut uint16, in []byte) {
		from := int(at) % (len(text) + 1)
		to := min(len(text), from+int(cut))
		changed := text[:from] + string(in) + text[to:]
		code, said := check(t, checker, changed)
		if code > notChecked || code == proved && changed != text || code != proved && changed == text {
			t.Errorf("exit code %d: %s\n%s", code, said, strings.ToValidUTF8(changed, "?"))
		}
	})
}
