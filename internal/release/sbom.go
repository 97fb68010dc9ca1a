package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// This file lists what is inside a program as SPDX 2.3: the modules that the Go tool noted
// in it (what go version -m prints), and Go itself.

type spdx struct {
	Version       string              `json:"spdxVersion"`
	License       string              `json:"dataLicense"`
	ID            string              `json:"SPDXID"`
	Name          string              `json:"name"`
	Namespace     string              `json:"documentNamespace"`
	Creation      map[string]any      `json:"creationInfo"`
	Packages      []spdxPackage       `json:"packages"`
	Relationships []map[string]string `json:"relationships"`
}

type spdxPackage struct {
	Name      string              `json:"name"`
	ID        string              `json:"SPDXID"`
	Version   string              `json:"versionInfo"`
	Location  string              `json:"downloadLocation"`
	Analyzed  bool                `json:"filesAnalyzed"`
	Concluded string              `json:"licenseConcluded"`
	Declared  string              `json:"licenseDeclared"`
	Copyright string              `json:"copyrightText"`
	FileName  string              `json:"packageFileName,omitempty"`
	Checksums []map[string]string `json:"checksums,omitempty"`
	Refs      []map[string]string `json:"externalRefs"`
	Comment   string              `json:"comment,omitempty"`
}

var notInID = regexp.MustCompile(`[^a-zA-Z0-9.-]+`)

// module is the entry of a Go module. sum is that of go.sum, which is of no kind that SPDX
// knows and goes into the comment.
func module(path, version, sum string) spdxPackage {
	p := spdxPackage{
		Name: path, ID: "SPDXRef-" + notInID.ReplaceAllString(path+"-"+version, "-"), Version: version,
		Location: "NOASSERTION", Concluded: "NOASSERTION", Declared: "NOASSERTION", Copyright: "NOASSERTION",
		Refs: []map[string]string{{
			"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:golang/" + path + "@" + version,
		}},
	}
	if sum != "" {
		p.Comment = "go.sum: " + sum
	}
	return p
}

func (r *release) sbom(path string) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	main := module(info.Main.Path, r.version.String(), "")
	main.Declared, main.Concluded = "Apache-2.0", "Apache-2.0"
	main.FileName = filepath.Base(path)
	main.Checksums = []map[string]string{{"algorithm": "SHA256", "checksumValue": sum}}
	main.Comment = "commit " + r.commit
	doc := spdx{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: fmt.Sprintf("accountant-%v", r.version),
		Namespace: "https://github.com/dpaccountant/accountant/spdx/" + sum,
		Creation:  map[string]any{"created": r.date.Format(time.RFC3339), "creators": []string{"Tool: accountant-release"}},
		Packages:  []spdxPackage{main},
	}
	relate := func(from, kind, to string) {
		doc.Relationships = append(doc.Relationships, map[string]string{"spdxElementId": from, "relationshipType": kind, "relatedSpdxElement": to})
	}
	relate(doc.ID, "DESCRIBES", main.ID)
	inside := []spdxPackage{module("stdlib", info.GoVersion[len("go"):], "")}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		inside = append(inside, module(d.Path, d.Version, d.Sum))
	}
	for _, p := range inside {
		doc.Packages = append(doc.Packages, p)
		relate(main.ID, "DEPENDS_ON", p.ID)
	}
	out, err := json.MarshalIndent(doc, "", "  ")
	return append(out, '\n'), err
}
