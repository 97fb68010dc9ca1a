package service

import (
	"context"
	"runtime"
	"runtime/debug"
)

// This file has the version of the program that a Service is part of.

// VersionRequest asks for the version; it has no keys.
type VersionRequest struct{}

// VersionAnswer is the version of a program and of the tools that built it.
type VersionAnswer struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
}

// Version takes the version from what the Go tool wrote into the binary.
func (s *Service) Version(context.Context, VersionRequest) (VersionAnswer, error) {
	v := VersionAnswer{Version: "(devel)", Go: runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Revision = s.Value
			}
		}
	}
	return v, nil
}
