// Command release makes what is published of a version, without a network: programs for
// every platform, archives, Debian packages, Python wheels, a container file, a Homebrew
// formula, a list of what is inside (SPDX) and checksums.
//
// It assumes a clone whose modules are in the module cache, and the go command. What it
// writes depends on the source, the version, the commit, the date and the Go release only.
//
// Files, each of which uses only those below it:
//
//	main.go       flags, and the order of the steps
//	build.go      the go command: programs, manual pages, completions
//	wheel.go      a Python wheel with the program inside
//	debian.go     a Debian package
//	archive.go    tar.gz and zip archives
//	sbom.go       SPDX from the notes of the Go tool in a program
//	describe.go   the container file, the formula, the checksums
//	release.go    the version, the platforms, a file that goes into an archive
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	r := release{}
	flag.StringVar(&r.root, "root", ".", "the clone")
	flag.StringVar(&r.out, "out", "dist", "the folder to make; must not exist, or be empty")
	version := flag.String("version", "", "the version, such as 1.2.0 or 1.2.0-rc.1 (default: the tag of the commit, or 0.0.0)")
	flag.StringVar(&r.commit, "commit", "", "the commit (default: that of the clone)")
	date := flag.String("date", "", "the date of the release, RFC 3339 (default: that of the commit)")
	flag.StringVar(&r.url, "url", "https://github.com/dpaccountant/accountant/releases/download", "where files will be: URL/vVERSION/FILE")
	only := flag.String("only", "", "make only these, with commas between: "+strings.Join(kinds, ", "))
	on := flag.String("platforms", "", "make only these, such as linux/amd64,windows/arm64")
	flag.Parse()
	err := func() error {
		if err := r.fill(*version, *date); err != nil {
			return err
		}
		chosen, err := choose(*on)
		if err != nil {
			return err
		}
		wanted := kinds
		if *only != "" {
			wanted = strings.Split(*only, ",")
			for _, k := range wanted {
				if !slices.Contains(kinds, k) {
					return fmt.Errorf("-only: %q is not one of %s", k, strings.Join(kinds, ", "))
				}
			}
		}
		return r.make(chosen, wanted)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// kinds are what can be asked for by -only.
var kinds = []string{"archives", "debian", "wheels", "container", "formula", "sbom", "checksums"}

// fill completes the release by what the clone says.
func (r *release) fill(version, date string) error {
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", r.root}, args...)...).Output()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	if version == "" {
		version = git("describe", "--tags", "--exact-match")
	}
	if version == "" {
		version = "0.0.0"
	}
	var err error
	if r.version, err = parseVersion(version); err != nil {
		return err
	}
	if r.commit == "" {
		r.commit = git("rev-parse", "HEAD")
		if r.commit != "" && git("status", "--porcelain") != "" {
			r.commit += "+changes"
		}
	}
	if r.commit == "" {
		r.commit = "unknown"
	}
	if date == "" {
		date = git("log", "-1", "--format=%cI")
	}
	if r.date, err = time.Parse(time.RFC3339, date); err != nil {
		return fmt.Errorf("-date: %q is not a date as RFC 3339, such as 2026-11-22T12:00:00Z", date)
	}
	r.date = r.date.UTC().Truncate(time.Second)
	return nil
}

// make makes everything that is wanted, for the chosen platforms.
func (r *release) make(on []platform, wanted []string) error {
	if old, err := os.ReadDir(r.out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	} else if len(old) > 0 {
		return fmt.Errorf("-out: %s is not empty", r.out)
	}
	wants := func(kind string) bool { return slices.Contains(wanted, kind) }
	temp, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	var extras []file
	if wants("archives") || wants("debian") {
		if extras, err = r.extras(temp); err != nil {
			return err
		}
	}
	for _, p := range on {
		program, err := r.build(temp, p)
		if err != nil {
			return err
		}
		if err := r.publish(p, program, extras, wants); err != nil {
			return err
		}
	}
	return r.describe(on, wants)
}

// publish writes what there is for one platform.
func (r *release) publish(p platform, program string, extras []file, wants func(string) bool) error {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	texts, err := r.texts()
	if err != nil {
		return err
	}
	binary := file{"accountant" + p.exe(), 0o755, content}
	if wants("archives") {
		files := slices.Concat([]file{binary}, texts, extras)
		if err := r.write(r.archiveName(p), func() ([]byte, error) { return archive(p, r.base(p), files, r.date) }); err != nil {
			return err
		}
	}
	if wants("debian") && p.os == "linux" {
		name := fmt.Sprintf("accountant_%s_%s.deb", r.version.debian(), p.arch)
		if err := r.write(name, func() ([]byte, error) { return r.debian(p, binary, texts, extras) }); err != nil {
			return err
		}
	}
	if wants("wheels") {
		if err := r.write(r.wheelName(p), func() ([]byte, error) { return r.wheel(p, binary) }); err != nil {
			return err
		}
	}
	if wants("container") && p.os == "linux" {
		if err := r.write("accountant-linux-"+p.arch, func() ([]byte, error) { return content, nil }); err != nil {
			return err
		}
	}
	if wants("sbom") {
		return r.write(r.base(p)+".spdx.json", func() ([]byte, error) { return r.sbom(program) })
	}
	return nil
}

// write writes a file of the release whole or not at all. Programs may be executed.
func (r *release) write(name string, content func() ([]byte, error)) error {
	data, err := content()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if strings.HasPrefix(name, "accountant-linux-") {
		mode = 0o755
	}
	path := filepath.Join(r.out, name)
	if err := os.WriteFile(path+".part", data, mode); err != nil {
		return err
	}
	fmt.Printf("%8.2f MB  %s\n", float64(len(data))/1e6, name)
	return os.Rename(path+".part", path)
}
