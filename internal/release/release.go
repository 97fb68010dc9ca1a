package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// This file has the words of the others: a release, its version, a platform, a file.

// A release is what is made: version, commit and date are in every program of it.
type release struct {
	root, out string
	version   version
	commit    string
	date      time.Time // UTC, whole seconds: of every file in an archive
	url       string
}

// A version is three numbers, and a stage before the release such as rc.1, or "".
type version struct{ numbers, stage, count string }

var versionForm = regexp.MustCompile(`^v?((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*))(?:-(alpha|beta|rc)\.(\d+))?$`)

func parseVersion(text string) (version, error) {
	m := versionForm.FindStringSubmatch(text)
	if m == nil {
		return version{}, fmt.Errorf("-version: %q is not like 1.2.0 or 1.2.0-rc.1 (alpha, beta, rc)", text)
	}
	return version{m[1], m[2], m[3]}, nil
}

func (v version) String() string { return v.with("-", ".") }

// debian is the version as Debian writes it, in which ~ sorts before the end.
func (v version) debian() string { return v.with("~", ".") }

// python is the version as PEP 440 has it.
func (v version) python() string {
	v.stage = map[string]string{"": "", "alpha": "a", "beta": "b", "rc": "rc"}[v.stage]
	return v.with("", "")
}

func (v version) with(before, between string) string {
	if v.stage == "" {
		return v.numbers
	}
	return v.numbers + before + v.stage + between + v.count
}

// A platform is a system and an architecture by their names in Go, and the tag that a
// wheel for it has: what pip asks whether a machine has.
type platform struct{ os, arch, tag string }

// platforms are those of every release. The programs are static: they need no library of
// Linux, so any kernel of the last ten years will do, with glibc or with musl. macOS 12 is the
// oldest that Go supports.
var platforms = []platform{
	{"linux", "amd64", "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win_amd64"},
	{"windows", "arm64", "win_arm64"},
}

func (p platform) String() string { return p.os + "/" + p.arch }

func (p platform) exe() string {
	if p.os == "windows" {
		return ".exe"
	}
	return ""
}

// choose returns the platforms of a list with commas, all for "".
func choose(list string) ([]platform, error) {
	if list == "" {
		return platforms, nil
	}
	var chosen []platform
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("-platforms: %q is not one of %v", name, platforms)
		}
		chosen = append(chosen, platforms[i])
	}
	return chosen, nil
}

// dirMode is that of folders.
const dirMode = os.ModeDir | 0o755

// A file goes into an archive under a name with slashes.
type file struct {
	name    string
	mode    os.FileMode
	content []byte
}

func sortFiles(files []file) {
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
}

// base is the name of a platform's files without their endings.
func (r *release) base(p platform) string {
	return fmt.Sprintf("accountant_%v_%s_%s", r.version, p.os, p.arch)
}

func (r *release) archiveName(p platform) string {
	if p.os == "windows" {
		return r.base(p) + ".zip"
	}
	return r.base(p) + ".tar.gz"
}

// texts are what goes with every program.
func (r *release) texts() ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, content})
	}
	return files, nil
}
