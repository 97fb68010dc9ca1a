package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"
)

// This file runs the go command.

const program = "github.com/dpaccountant/accountant/cmd/accountant"

// build makes the program for a platform and returns where it is. It is static, and has
// neither paths of this machine nor tables for debuggers.
func (r *release) build(temp string, p platform) (string, error) {
	out := filepath.Join(temp, p.os+"-"+p.arch, "accountant"+p.exe())
	_, err := r.run([]string{"CGO_ENABLED=0", "GOOS=" + p.os, "GOARCH=" + p.arch},
		"go", "build", "-trimpath", "-buildvcs=false", "-ldflags", r.linkerFlags(), "-o", out, program)
	return out, err
}

// linkerFlags leave tables for debuggers out, and put version, commit and date in.
func (r *release) linkerFlags() string {
	const service = "github.com/dpaccountant/accountant/service"
	return fmt.Sprintf("-s -w -buildid= -X %s.releaseVersion=%v -X %s.releaseCommit=%s -X %s.releaseDate=%s",
		service, r.version, service, r.commit, service, r.date.Format(time.RFC3339))
}

// extras makes the manual pages and the completions of shells, by this machine's own build.
func (r *release) extras(temp string) ([]file, error) {
	man := filepath.Join(temp, "man")
	if err := os.Mkdir(man, 0o755); err != nil {
		return nil, err
	}
	tool := filepath.Join(temp, "accountant-man")
	if _, err := r.run([]string{"CGO_ENABLED=0"}, "go", "build", "-tags", "man", "-buildvcs=false", "-o", tool, program); err != nil {
		return nil, err
	}
	if _, err := r.run(nil, tool, "man", "--date", r.date.Format(time.RFC3339), "--of", r.version.String(), man); err != nil {
		return nil, err
	}
	var files []file
	pages, err := os.ReadDir(man)
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		content, err := os.ReadFile(filepath.Join(man, page.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{path.Join("man", page.Name()), 0o644, content})
	}
	for shell, name := range map[string]string{"bash": "accountant.bash", "zsh": "_accountant", "fish": "accountant.fish", "powershell": "accountant.ps1"} {
		content, err := r.run(nil, tool, "completion", shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{path.Join("completions", name), 0o644, content})
	}
	sortFiles(files)
	return files, nil
}

// run runs a program in the clone, without a network for the go command, and returns its output.
func (r *release) run(env []string, name string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir = r.root
	cmd.Env = append(append(os.Environ(), "GOPROXY=off", "GOTOOLCHAIN=local"), env...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, args[0], err, stderr.Bytes())
	}
	return out, nil
}
