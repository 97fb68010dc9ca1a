package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"path"
	"strings"
	"time"
)

// This file makes Debian packages: an ar archive of the format's version, the control
// files and the files to install.

func (r *release) debian(p platform, binary file, texts, extras []file) ([]byte, error) {
	files := []file{{"usr/bin/" + binary.name, 0o755, binary.content}}
	for _, t := range texts {
		if t.name == "LICENSE" {
			files = append(files, file{"usr/share/doc/accountant/copyright", 0o644, t.content})
		}
		if t.name == "NOTICE" {
			files = append(files, file{"usr/share/doc/accountant/NOTICE", 0o644, t.content})
		}
	}
	for _, e := range extras {
		switch dir, name := path.Split(e.name); {
		case dir == "man/":
			content, err := gzipped(e.content)
			if err != nil {
				return nil, err
			}
			files = append(files, file{"usr/share/man/man1/" + name + ".gz", 0o644, content})
		case name == "accountant.bash":
			files = append(files, file{"usr/share/bash-completion/completions/accountant", 0o644, e.content})
		case name == "_accountant":
			files = append(files, file{"usr/share/zsh/vendor-completions/_accountant", 0o644, e.content})
		case name == "accountant.fish":
			files = append(files, file{"usr/share/fish/vendor_completions.d/accountant.fish", 0o644, e.content})
		}
	}
	sortFiles(files)
	var sums bytes.Buffer
	size := 0
	for _, f := range files {
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.content), f.name)
		size += len(f.content)
	}
	control := fmt.Sprintf(`Package: accountant
Version: %s
Architecture: %s
Maintainer: The accountant project <accountant@localhost>
Installed-Size: %d
Section: math
Priority: optional
Homepage: https://github.com/dpaccountant/accountant
Description: certified accounting of differential privacy
 Tells what privacy a plan of differentially private mechanisms costs, as an
 interval in which the true value lies, rounding errors included.
`, r.version.debian(), p.arch, (size+1023)/1024)
	controls, err := tarred([]file{{"./control", 0o644, []byte(control)}, {"./md5sums", 0o644, sums.Bytes()}}, r.date)
	if err != nil {
		return nil, err
	}
	data, err := tarred(withFolders(files), r.date)
	if err != nil {
		return nil, err
	}
	return ar([]file{{"debian-binary", 0o644, []byte("2.0\n")}, {"control.tar.gz", 0o644, controls}, {"data.tar.gz", 0o644, data}}, r.date), nil
}

// withFolders puts each folder before the first file in it. Names begin with "./".
func withFolders(files []file) []file {
	out := []file{{"./", dirMode, nil}}
	seen := map[string]bool{}
	for _, f := range files {
		parts := strings.Split(f.name, "/")
		for i := 1; i < len(parts); i++ {
			if dir := "./" + strings.Join(parts[:i], "/") + "/"; !seen[dir] {
				seen[dir] = true
				out = append(out, file{dir, dirMode, nil})
			}
		}
		out = append(out, file{"./" + f.name, f.mode, f.content})
	}
	return out
}

// ar returns an archive as ar(1) makes them, in which every file begins at an even place.
func ar(files []file, date time.Time) []byte {
	var out bytes.Buffer
	out.WriteString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(&out, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", f.name, date.Unix(), 0, 0, "100644", len(f.content))
		out.Write(f.content)
		if len(f.content)%2 == 1 {
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}
