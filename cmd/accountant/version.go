package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

func newVersionCmd() *cobra.Command {
	var form output
	cmd := &cobra.Command{
		Use:  "version",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := service.New(nil).Version(cmd.Context(), service.VersionRequest{})
			if err != nil {
				return err
			}
			return form.print(cmd.OutOrStdout(), v, func(w io.Writer) {
				fmt.Fprintln(w, versionLine(v))
			})
		},
	}
	form.register(cmd)
	return cmd
}

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
	v, err := service.New(nil).Version(context.Background(), service.VersionRequest{})
	if err != nil {
		return
	}
	root.Version = v.Version // which makes cobra add the flag
	root.SetVersionTemplate(strings.ReplaceAll(versionLine(v), "{{", "") + "\n")
}
