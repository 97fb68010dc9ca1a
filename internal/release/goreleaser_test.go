package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
)

// TestGoReleaser holds .goreleaser.yaml to what this program makes: platforms, flags, names, texts,
// and where a Debian package puts what.
func TestGoReleaser(t *testing.T) {
	r := testRelease(t)
	text, err := os.ReadFile(filepath.Join(r.root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Version int
		Builds  []struct {
			Main, Binary                      string
			Env, Goos, Goarch, Flags, Ldflags []string
		}
		Archives []struct {
			NameTemplate    string `yaml:"name_template"`
			Formats, Files  []string
			FormatOverrides []struct {
				Goos    string
				Formats []string
			} `yaml:"format_overrides"`
		}
		Nfpms []struct {
			Package     string `yaml:"package_name"`
			Formats     []string
			Maintainer  string
			Description string
			Contents    []struct{ Src, Dst string }
		}
		Checksum struct {
			NameTemplate string `yaml:"name_template"`
			Algorithm    string
		}
	}
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&c); err != nil {
		t.Fatal(err)
	}
	if c.Version != 2 || len(c.Builds) != 1 || len(c.Archives) != 1 || len(c.Nfpms) != 1 {
		t.Fatalf("%+v", c)
	}
	b, a, d := c.Builds[0], c.Archives[0], c.Nfpms[0]
	filled := func(template string, p platform) string {
		return strings.NewReplacer("{{ .Version }}", r.version.String(), "{{ .FullCommit }}", r.commit,
			"{{ .CommitDate }}", r.date.Format(time.RFC3339), "{{ .Os }}", p.os, "{{ .Arch }}", p.arch).Replace(template)
	}
	var ours, theirs []string
	for _, p := range platforms {
		ours = append(ours, p.String())
		name := filled(a.NameTemplate, p) + "." + a.Formats[0]
		for _, o := range a.FormatOverrides {
			if o.Goos == p.os {
				name = filled(a.NameTemplate, p) + "." + o.Formats[0]
			}
		}
		if name != r.archiveName(p) {
			t.Errorf("an archive is %s there, %s here", name, r.archiveName(p))
		}
	}
	for _, system := range b.Goos {
		for _, arch := range b.Goarch {
			theirs = append(theirs, system+"/"+arch)
		}
	}
	if !slices.Equal(ours, theirs) {
		t.Errorf("platforms %v there, %v here", theirs, ours)
	}
	if got := filled(strings.Join(b.Ldflags, " "), platform{}); got != r.linkerFlags() {
		t.Errorf("linker flags\n%s there,\n%s here", got, r.linkerFlags())
	}
	if path.Join("github.com/dpaccountant/accountant", b.Main) != program || b.Binary != "accountant" ||
		!slices.Equal(b.Env, []string{"CGO_ENABLED=0"}) || !slices.Equal(b.Flags, []string{"-trimpath", "-buildvcs=false"}) {
		t.Errorf("the build is %+v", b)
	}
	texts, err := r.texts()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"man/*", "completions/*"}
	for _, f := range texts {
		want = append(want, f.name)
	}
	slices.Sort(want)
	slices.Sort(a.Files)
	if !slices.Equal(a.Files, want) {
		t.Errorf("an archive has %v there, %v here", a.Files, want)
	}
	content, err := r.debian(platforms[0], script, texts, []file{{"man/accountant.1", 0o644, nil},
		{"completions/accountant.bash", 0o644, nil}, {"completions/_accountant", 0o644, nil}, {"completions/accountant.fish", 0o644, nil}})
	if err != nil {
		t.Fatal(err)
	}
	installed := installedFiles(t, content)
	if len(installed) != len(d.Contents)+1 || d.Package != "accountant" || c.Checksum.NameTemplate != "SHA256SUMS" || c.Checksum.Algorithm != "sha256" {
		t.Errorf("%+v, %+v; here %v", d, c.Checksum, installed)
	}
	for _, f := range d.Contents {
		if !slices.ContainsFunc(installed, func(name string) bool { return strings.HasPrefix("/"+name, f.Dst) }) {
			t.Errorf("%s is installed there, not here: %v", f.Dst, installed)
		}
	}
}

// installedFiles are the names in a Debian package that are no folders.
func installedFiles(t *testing.T, deb []byte) (names []string) {
	t.Helper()
	at := bytes.Index(deb, []byte("data.tar.gz"))
	g, err := gzip.NewReader(bytes.NewReader(deb[at+60:])) // a header of ar has 60 bytes
	if err != nil {
		t.Fatal(err)
	}
	g.Multistream(false)
	for in := tar.NewReader(g); ; {
		h, err := in.Next()
		if err != nil {
			return names
		}
		if h.Typeflag == tar.TypeReg {
			names = append(names, strings.TrimPrefix(h.Name, "./"))
		}
	}
}
