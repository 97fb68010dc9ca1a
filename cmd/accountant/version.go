package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

// versionLine is what version and --version print.
func versionLine(v service.VersionAnswer) string {
	line := "accountant " + v.Version
	if v.Revision != "" {
		line += ", commit " + v.Revision
	}
	if v.Date != "" {
		line += " of " + v.Date
	}
	return line + ", built with " + v.Go
}

// versionFlag is --version of the root command, for those who expect it there.
func versionFlag(root *cobra.Command) {
	v := service.Version()
	root.Version = v.Version // which makes cobra add the flag
	root.SetVersionTemplate(strings.ReplaceAll(versionLine(v), "{{", "") + "\n")
}
