package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// What is small is tested with a script for a program; TestRelease, with -slow, makes
// a real release for this machine and installs it. -everywhere makes those of all platforms.

var (
	slow       = flag.Bool("slow", false, "also make a release for this platform and install it (minutes)")
	everywhere = flag.Bool("everywhere", false, "with -slow, make it for all platforms")
)

// maxWheel is what a wheel may have at most.
const maxWheel = 12e6

var script = file{"accountant", 0o755, []byte("#!/bin/sh\necho a script\n")}

func testRelease(t *testing.T) *release {
	t.Helper()
	v, err := parseVersion("1.2.0-rc.3")
	if err != nil {
		t.Fatal(err)
	}
	return &release{
		root: filepath.Join("..", ".."), out: filepath.Join(t.TempDir(), "dist"), version: v,
		commit: "0123456789", date: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), url: "https://example.org/down/",
	}
}

func TestVersion(t *testing.T) {
	for text, want := range map[string][3]string{
		"1.2.3":          {"1.2.3", "1.2.3", "1.2.3"},
		"v1.2.3-rc.4":    {"1.2.3-rc.4", "1.2.3~rc.4", "1.2.3rc4"},
		"0.10.0-alpha.1": {"0.10.0-alpha.1", "0.10.0~alpha.1", "0.10.0a1"},
		"1.0.0-beta.11":  {"1.0.0-beta.11", "1.0.0~beta.11", "1.0.0b11"},
	} {
		v, err := parseVersion(text)
		if got := [3]string{v.String(), v.debian(), v.python()}; err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1.2", "01.2.3", "1.2.3-x", "1.2.3 ", "1.2.3-rc.1\n-X main.evil=1"} {
		if v, err := parseVersion(text); err == nil {
			t.Errorf("%q is taken as %v", text, v)
		}
	}
}

func TestChoose(t *testing.T) {
	all, err := choose("")
	if err != nil || len(all) != 6 {
		t.Errorf("%v, %v", all, err)
	}
	if some, err := choose("windows/arm64,linux/amd64"); err != nil || some[0].tag != "win_arm64" || len(some) != 2 {
		t.Errorf("%v, %v", some, err)
	}
	if _, err := choose("linux/mips"); err == nil {
		t.Error("linux/mips is a platform")
	}
}

// TestWheel reads a wheel as pip does: every file has its hash, the program may run.
func TestWheel(t *testing.T) {
	r := testRelease(t)
	for _, p := range platforms {
		content, err := r.wheel(p, file{"accountant" + p.exe(), 0o755, script.content})
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.wheel(p, file{"accountant" + p.exe(), 0o755, script.content})
		if err != nil || !bytes.Equal(content, again) {
			t.Errorf("%v: made twice, the bytes differ: %v", p, err)
		}
		files, modes := unzip(t, content)
		program := "dpaccountant-1.2.0rc3.data/scripts/accountant" + p.exe()
		if modes[program]&0o111 != 0o111 || !bytes.Equal(files[program], script.content) {
			t.Errorf("%v: %s is %v with mode %v", p, program, files[program], modes[program])
		}
		for _, name := range []string{"__init__.py", "client.py", "py.typed", "opacus.py"} {
			if _, ok := files["dpaccountant/"+name]; !ok {
				t.Errorf("%v: no %s", p, name)
			}
		}
		if text := files["dpaccountant/_version.py"]; !bytes.Contains(text, []byte(`__version__ = "1.2.0rc3"`)) {
			t.Errorf("_version.py: %s", text)
		}
		info := "dpaccountant-1.2.0rc3.dist-info/"
		var tags []string
		for line := range strings.Lines(string(files[info+"WHEEL"])) {
			if tag, ok := strings.CutPrefix(line, "Tag: py3-none-"); ok {
				tags = append(tags, strings.TrimSpace(tag))
			}
		}
		if got := "dpaccountant-1.2.0rc3-py3-none-" + strings.Join(tags, ".") + ".whl"; got != r.wheelName(p) {
			t.Errorf("the tags are those of %s, the name is %s", got, r.wheelName(p))
		}
		if m := string(files[info+"METADATA"]); !strings.HasPrefix(m, "Metadata-Version: 2.1\nName: dpaccountant\nVersion: 1.2.0rc3\n") || !strings.Contains(m, "\nRequires-Python: >=3.8\n") {
			t.Errorf("METADATA: %.200s", m)
		}
		rows := map[string]string{}
		for line := range strings.Lines(string(files[info+"RECORD"])) {
			name, rest, _ := strings.Cut(strings.TrimSpace(line), ",")
			rows[name] = rest
		}
		for name, text := range files {
			sum := sha256.Sum256(text)
			want := fmt.Sprintf("sha256=%s,%d", base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
			if name == info+"RECORD" {
				want = ","
			}
			if rows[name] != want {
				t.Errorf("RECORD of %s: %q, want %q", name, rows[name], want)
			}
			delete(rows, name)
		}
		if len(rows) > 0 {
			t.Errorf("RECORD has more: %v", rows)
		}
	}
}

func unzip(t *testing.T, content []byte) (map[string][]byte, map[string]os.FileMode) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	files, modes := map[string][]byte{}, map[string]os.FileMode{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(in); err != nil {
			t.Fatal(err)
		}
		files[f.Name], modes[f.Name] = text.Bytes(), f.Mode()
	}
	return files, modes
}

// TestDebian unpacks a package by Debian's own program.
func TestDebian(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("THERE IS NO DPKG-DEB: THE DEBIAN PACKAGE IS NOT READ")
	}
	r := testRelease(t)
	texts, err := r.texts()
	if err != nil {
		t.Fatal(err)
	}
	extras := []file{{"man/accountant.1", 0o644, []byte(".TH x\n")}, {"completions/accountant.bash", 0o644, []byte("true\n")}, {"completions/accountant.ps1", 0o644, nil}}
	content, err := r.debian(platforms[1], script, texts, extras)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	deb := filepath.Join(folder, "a.deb")
	if err := os.WriteFile(deb, content, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := output(t, "", "dpkg-deb", "-f", deb, "Package", "Version", "Architecture"); got != "Package: accountant\nVersion: 1.2.0~rc.3\nArchitecture: arm64\n" {
		t.Errorf("%s", got)
	}
	output(t, "", "dpkg-deb", "-R", deb, folder)
	// What dpkg checks when it installs.
	if _, err := exec.LookPath("md5sum"); err == nil {
		output(t, folder, "md5sum", "-c", "--quiet", filepath.Join("DEBIAN", "md5sums"))
	}
	if got := output(t, "", filepath.Join(folder, "usr", "bin", "accountant")); got != "a script\n" {
		t.Errorf("%s", got)
	}
	for _, name := range []string{"man/man1/accountant.1.gz", "bash-completion/completions/accountant", "doc/accountant/copyright"} {
		if _, err := os.Stat(filepath.Join(folder, "usr", "share", name)); err != nil {
			t.Error(err)
		}
	}
}

func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// TestSBOM lists the modules of this test: each has an entry, each relation two ends.
func TestSBOM(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	content, err := testRelease(t).sbom(self)
	if err != nil {
		t.Fatal(err)
	}
	var doc spdx
	if err := json.Unmarshal(content, &doc); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{doc.ID: true}
	for _, p := range doc.Packages {
		if ids[p.ID] || !regexp.MustCompile(`^SPDXRef-[a-zA-Z0-9.-]+$`).MatchString(p.ID) {
			t.Errorf("the identifier %s is there twice, or wrong", p.ID)
		}
		ids[p.ID] = true
	}
	for _, r := range doc.Relationships {
		if !ids[r["spdxElementId"]] || !ids[r["relatedSpdxElement"]] {
			t.Errorf("%v names what is not there", r)
		}
	}
	if want := len(info.Deps) + 2; len(doc.Packages) != want || len(doc.Relationships) != want {
		t.Errorf("%d packages, %d relations, want %d", len(doc.Packages), len(doc.Relationships), want)
	}
	if _, err := testRelease(t).sbom(filepath.Join("..", "..", "LICENSE")); err == nil {
		t.Error("a text has modules")
	}
}

// TestPublish makes all but the programs: names, checksums, what the formula points at.
func TestPublish(t *testing.T) {
	r := testRelease(t)
	self := filepath.Join(t.TempDir(), "accountant")
	if err := os.WriteFile(self, script.content, 0o755); err != nil {
		t.Fatal(err)
	}
	on := []platform{platforms[0], platforms[3], platforms[4]}
	wants := func(kind string) bool { return kind != "debian" && kind != "wheels" && kind != "sbom" }
	for _, p := range on {
		if err := r.publish(p, self, []file{{"man/accountant.1", 0o644, nil}}, wants); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.describe(on, wants); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(r.out, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	rb, err := os.ReadFile(filepath.Join(r.out, "accountant.rb"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		sum, err := r.sum(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(string(sums), sum+"  "+e.Name()+"\n"); has != (e.Name() != "SHA256SUMS") {
			t.Errorf("SHA256SUMS has %s: %v", e.Name(), has)
		}
		if strings.HasSuffix(e.Name(), ".tar.gz") && !strings.Contains(string(rb), "https://example.org/down/v1.2.0-rc.3/"+e.Name()+"\"\n      sha256 \""+sum+"\"") {
			t.Errorf("the formula has not %s:\n%s", e.Name(), rb)
		}
	}
	testFormula(t, r, on)
	text, err := os.ReadFile(filepath.Join(r.out, "Containerfile"))
	if err != nil || !strings.HasPrefix(string(text), "FROM scratch\n") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(r.out, "accountant-linux-amd64")); err != nil {
		t.Error(err)
	}
	// Nothing is written over.
	if err := r.make(on, kinds); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a second release into the same folder: %v", err)
	}
}

// TestRelease makes a release and uses it as one who installs it does.
func TestRelease(t *testing.T) {
	if !*slow {
		t.Skip("MAKING AND INSTALLING A RELEASE TAKES MINUTES: only with -slow")
	}
	r := testRelease(t)
	here := slices.IndexFunc(platforms, func(p platform) bool { return p.os == runtime.GOOS && p.arch == runtime.GOARCH })
	if here < 0 {
		t.Skip("there is no release for this platform")
	}
	p := platforms[here]
	on := []platform{p}
	if *everywhere {
		on = platforms
	}
	if err := r.make(on, kinds); err != nil {
		t.Fatal(err)
	}
	t.Run("again", func(t *testing.T) { testAgain(t, r, p) })
	t.Run("formula", func(t *testing.T) { testFormula(t, r, on) })
	for _, p := range on {
		f, err := os.Stat(filepath.Join(r.out, r.wheelName(p)))
		if err != nil {
			t.Error(err)
		} else if t.Logf("%s: %.2f MB", f.Name(), float64(f.Size())/1e6); f.Size() > maxWheel {
			t.Errorf("%s is larger than %g MB", f.Name(), maxWheel/1e6)
		}
	}
	want := "accountant 1.2.0-rc.3, commit 0123456789 of 2026-11-22T12:00:00Z, built with " + runtime.Version() + "\n"
	out, err := filepath.Abs(r.out)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("archive", func(t *testing.T) {
		if p.os == "windows" {
			t.Skip("tar of Windows knows no zip")
		}
		folder := t.TempDir()
		output(t, folder, "tar", "xf", filepath.Join(out, r.archiveName(p)))
		base := filepath.Join(folder, r.base(p))
		if got := output(t, "", filepath.Join(base, "accountant"), "--version"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		for _, shell := range [][2]string{{"bash", "accountant.bash"}, {"zsh", "_accountant"}, {"fish", "accountant.fish"}} {
			if _, err := exec.LookPath(shell[0]); err != nil {
				t.Logf("LEFT OUT: there is no %s for its completions", shell[0])
				continue
			}
			output(t, base, shell[0], "-n", filepath.Join("completions", shell[1]))
		}
		if _, err := exec.LookPath("man"); err != nil {
			t.Log("LEFT OUT: there is no man for the manual pages")
		} else if page := output(t, base, "man", "-l", "man/accountant-epsilon.1"); !strings.Contains(page, "SYNOPSIS") || !strings.Contains(page, "--delta") {
			t.Errorf("%s", page)
		}
	})
	t.Run("debian", func(t *testing.T) {
		if _, err := exec.LookPath("dpkg-deb"); err != nil || p.os != "linux" {
			t.Skip("THERE IS NO DPKG-DEB: THE DEBIAN PACKAGE IS NOT INSTALLED")
		}
		folder := t.TempDir()
		output(t, "", "dpkg-deb", "-x", filepath.Join(out, "accountant_1.2.0~rc.3_"+p.arch+".deb"), folder)
		if got := output(t, "", filepath.Join(folder, "usr", "bin", "accountant"), "--version"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
	t.Run("container", func(t *testing.T) { testContainer(t, filepath.Join(out, "accountant-linux-"+p.arch), want) })
	t.Run("wheel", func(t *testing.T) { testInstalled(t, filepath.Join(out, r.wheelName(p))) })
}

// testContainer runs the program where there is nothing else, as in an image from scratch.
func testContainer(t *testing.T, program, want string) {
	e, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, s := range e.Progs {
		if s.Type == elf.PT_INTERP {
			t.Error("the program is not static")
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("ONLY ROOT MAY CHANGE THE ROOT: THE PROGRAM IS NOT RUN BY ITSELF")
	}
	folder := t.TempDir()
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "accountant"), content, 0o755); err != nil {
		t.Fatal(err)
	}
	plan := "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: 1}}}]\n"
	if err := os.WriteFile(filepath.Join(folder, "plan.yaml"), []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := output(t, "", "chroot", folder, "/accountant", "--version"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := output(t, "", "chroot", folder, "/accountant", "epsilon", "--delta", "0", "--json", "/plan.yaml"); !strings.Contains(got, `"upper": 1`) {
		t.Errorf("%s", got)
	}
}

// testInstalled installs a wheel with pip into a new environment, and asks from there.
func testInstalled(t *testing.T, wheel string) {
	folder := t.TempDir()
	if err := exec.Command("python3", "-m", "venv", folder).Run(); err != nil {
		t.Skipf("PYTHON3 MAKES NO ENVIRONMENT: THE WHEEL IS NOT INSTALLED: %v", err)
	}
	python := filepath.Join(folder, "bin", "python")
	if runtime.GOOS == "windows" {
		python = filepath.Join(folder, "Scripts", "python.exe")
	}
	output(t, folder, python, "-m", "pip", "install", "--no-index", "--no-deps", wheel)
	const program = `import dpaccountant
a = dpaccountant.shared()
e = a.epsilon({"neighbors": "add-remove", "steps": [{"mechanism": {"pure": {"epsilon": 1}}}]}, 0)
print(dpaccountant.__version__, a.version(), e.upper)`
	cmd := exec.Command(python, "-c", program)
	cmd.Dir = folder
	// Only the interpreter tells where the program is.
	cmd.Env = []string{"PATH=" + t.TempDir(), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	got, err := cmd.CombinedOutput()
	if err != nil || string(got) != "1.2.0rc3 1.2.0-rc.3 1.0\n" {
		t.Errorf("%q, %v", got, err)
	}
}
