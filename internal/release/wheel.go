package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// This file makes Python wheels (PEP 427): the package python/dpaccountant, and the
// program among the scripts, which pip puts beside the interpreter.

func (r *release) wheelName(p platform) string {
	return fmt.Sprintf("dpaccountant-%s-py3-none-%s.whl", r.version.python(), p.tag)
}

func (r *release) wheel(p platform, binary file) ([]byte, error) {
	v := r.version.python()
	info := "dpaccountant-" + v + ".dist-info/"
	files := []file{{"dpaccountant-" + v + ".data/scripts/" + binary.name, 0o755, binary.content}}
	source := filepath.Join(r.root, "python", "dpaccountant")
	entries, err := os.ReadDir(source)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".py" && e.Name() != "py.typed" {
			continue
		}
		content, err := os.ReadFile(filepath.Join(source, e.Name()))
		if err != nil {
			return nil, err
		}
		if e.Name() == "_version.py" {
			content = fmt.Appendf(nil, "\"\"\"The version of the package.\"\"\"\n\n__version__ = %q\n", v)
		}
		files = append(files, file{"dpaccountant/" + e.Name(), 0o644, content})
	}
	sortFiles(files)
	metadata, err := r.metadata(v)
	if err != nil {
		return nil, err
	}
	wheel := "Wheel-Version: 1.0\nGenerator: accountant-release\nRoot-Is-Purelib: false\n"
	for tag := range strings.SplitSeq(p.tag, ".") {
		wheel += "Tag: py3-none-" + tag + "\n"
	}
	texts, err := r.texts()
	if err != nil {
		return nil, err
	}
	files = append(files, file{info + "METADATA", 0o644, metadata}, file{info + "WHEEL", 0o644, []byte(wheel)})
	for _, t := range texts {
		if t.name == "LICENSE" || t.name == "NOTICE" {
			files = append(files, file{info + "licenses/" + t.name, 0o644, t.content})
		}
	}
	// Every file with its hash, and the list itself without one.
	var record bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.content)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.content))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	return zipped(append(files, file{info + "RECORD", 0o644, record.Bytes()}), r.date)
}

var field = regexp.MustCompile(`(?m)^(name|description|requires-python) = "(.*)"$`)

// metadata is that of pyproject.toml in the form of a wheel, with the README as the text.
func (r *release) metadata(version string) ([]byte, error) {
	project, err := os.ReadFile(filepath.Join(r.root, "python", "pyproject.toml"))
	if err != nil {
		return nil, err
	}
	readme, err := os.ReadFile(filepath.Join(r.root, "python", "README.md"))
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, m := range field.FindAllSubmatch(project, -1) {
		found[string(m[1])] = string(m[2])
	}
	if len(found) != 3 {
		return nil, fmt.Errorf("pyproject.toml: found only %v of name, description, requires-python", found)
	}
	return fmt.Appendf(nil, "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: Apache-2.0\nRequires-Python: %s\nClassifier: Typing :: Typed\nDescription-Content-Type: text/markdown\n\n%s",
		found["name"], version, found["description"], found["requires-python"], readme), nil
}
