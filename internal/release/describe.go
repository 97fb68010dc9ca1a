package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// This file writes what is about the other files of a release.

// containerFile makes an image of nothing but the program. It reads plans from /plans:
//
//	docker build -f Containerfile --build-arg TARGETARCH=amd64 -t accountant .
//	docker run --rm -v "$PWD:/plans" accountant epsilon --delta 1e-5 plan.yaml
const containerFile = `FROM scratch
ARG TARGETARCH=amd64
LABEL org.opencontainers.image.title="accountant" \
      org.opencontainers.image.version="%v" \
      org.opencontainers.image.revision="%s" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY accountant-linux-${TARGETARCH} /accountant
USER 65532:65532
WORKDIR /plans
ENTRYPOINT ["/accountant"]
`

var formula = template.Must(template.New("").Parse(`class Accountant < Formula
  desc "Certified accounting of differential privacy"
  homepage "https://github.com/dpaccountant/accountant"
  version "{{.Version}}"
  license "Apache-2.0"
{{range $os, $arch := .Systems}}
  on_{{$os}} do
{{- range $cpu, $file := $arch}}
    on_{{$cpu}} do
      url "{{$file.URL}}"
      sha256 "{{$file.Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "accountant"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/accountant.bash" => "accountant"
    zsh_completion.install "completions/_accountant"
    fish_completion.install "completions/accountant.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/accountant --version")
  end
end
`))

type download struct{ URL, Sum string }

// describe writes the container file, the formula of the archives and the checksums.
func (r *release) describe(on []platform, wants func(string) bool) error {
	if wants("container") {
		if err := r.write("Containerfile", func() ([]byte, error) {
			return fmt.Appendf(nil, containerFile, r.version, r.commit), nil
		}); err != nil {
			return err
		}
	}
	if wants("formula") && wants("archives") {
		if err := r.write("accountant.rb", func() ([]byte, error) { return r.formula(on) }); err != nil {
			return err
		}
	}
	if !wants("checksums") {
		return nil
	}
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, e := range entries {
		sum, err := r.sum(e.Name())
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, e.Name())
	}
	return r.write("SHA256SUMS", func() ([]byte, error) { return sums.Bytes(), nil })
}

func (r *release) formula(on []platform) ([]byte, error) {
	systems := map[string]map[string]download{}
	for _, p := range on {
		system := map[string]string{"darwin": "macos", "linux": "linux"}[p.os]
		if system == "" {
			continue
		}
		name := r.archiveName(p)
		sum, err := r.sum(name)
		if err != nil {
			return nil, err
		}
		if systems[system] == nil {
			systems[system] = map[string]download{}
		}
		cpu := map[string]string{"amd64": "intel", "arm64": "arm"}[p.arch]
		systems[system][cpu] = download{fmt.Sprintf("%s/v%v/%s", strings.TrimSuffix(r.url, "/"), r.version, name), sum}
	}
	var out bytes.Buffer
	err := formula.Execute(&out, map[string]any{"Version": r.version, "Systems": systems})
	return out.Bytes(), err
}

// sum returns the SHA-256 of a file of the release.
func (r *release) sum(name string) (string, error) {
	content, err := os.ReadFile(filepath.Join(r.out, name))
	return fmt.Sprintf("%x", sha256.Sum256(content)), err
}
