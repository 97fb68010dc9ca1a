// Command notice prints the licences of the modules that are part of the command,
// on any system. From the root of the repository:
//
//	go run ./internal/notice > NOTICE
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := write(os.Stdout, "."); err != nil {
		fmt.Fprintln(os.Stderr, "notice:", err)
		os.Exit(1)
	}
}

// systems are those whose modules differ: a terminal is another thing on each.
var systems = []string{"linux", "darwin", "windows"}

// A module is one of go list -json.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// linked returns the modules of the command, by path.
func linked(root string) ([]module, error) {
	all := map[string]module{}
	for _, system := range systems {
		cmd := exec.Command("go", "list", "-deps", "-json=Module", "./cmd/accountant")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w: %s", err, stderr.String())
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct{ Module *module }
			if err := d.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
			if p.Module != nil && !p.Module.Main { // those of the standard library have none
				all[p.Module.Path] = *p.Module
			}
		}
	}
	var list []module
	for _, m := range all {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

// licenceName is what files with the terms of a module are called.
var licenceName = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|patents|copyright)([-._].*)?$`)

// licences returns the files with the terms of a module, by name.
func licences(m module) ([]string, error) {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && licenceName.MatchString(e.Name()) && !strings.HasSuffix(e.Name(), ".go") {
			names = append(names, e.Name())
		}
	}
	names = append(names, chosen[m.Path]...)
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: has no licence in %s", m.Path, m.Dir)
	}
	return names, nil
}

// chosen are the terms of modules that offer several.
var chosen = map[string][]string{"github.com/golang/freetype": {"licenses/ftl.txt"}}

func write(w io.Writer, root string) error {
	modules, err := linked(root)
	if err != nil {
		return err
	}
	if len(modules) == 0 {
		return errors.New("go list reports no modules")
	}
	var b bytes.Buffer
	b.WriteString(`Licences of third parties

The command contains parts of the modules below, under their own terms, and of the
standard library of Go (BSD 3-Clause, https://go.dev/LICENSE). Made by

    go run ./internal/notice > NOTICE
`)
	for _, m := range modules {
		names, err := licences(m)
		if err != nil {
			return err
		}
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(m.Dir, name))
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "\n%s\n%s %s: %s\n%[1]s\n\n", strings.Repeat("=", 79), m.Path, m.Version, name)
			b.WriteString(strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")) + "\n")
		}
	}
	_, err = w.Write(b.Bytes())
	return err
}
