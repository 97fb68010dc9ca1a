package service

import (
	"cmp"
	"context"
	"runtime"
	"runtime/debug"
)

// This file has the version of the program that a Service is part of.

// A release sets these by the linker, as .goreleaser.yaml and python/wheel.py do. Else the Go tool's own
// notes in the binary are taken.
var releaseVersion, releaseCommit, releaseDate string

// VersionRequest asks for the version; it has no keys.
type VersionRequest struct{}

// VersionAnswer is the version of a program, the commit that it was built from and when
// that was made (RFC 3339), and the version of the tools that built it.
type VersionAnswer struct {
	Version  string `json:"version" py:",return"`
	Revision string `json:"revision,omitempty"`
	Date     string `json:"date,omitempty"`
	Go       string `json:"go"`
}

func (s *Service) version(context.Context, VersionRequest) (VersionAnswer, error) {
	return Version(), nil
}

// Version takes the version from the binary.
func Version() VersionAnswer {
	v := VersionAnswer{releaseVersion, releaseCommit, releaseDate, runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	v.Version = cmp.Or(v.Version, info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = cmp.Or(v.Revision, s.Value)
		case "vcs.time":
			v.Date = cmp.Or(v.Date, s.Value)
		}
	}
	return v
}
