//go:build man

// This file adds a command that writes the manual pages. It is only in a build with the
// tag man, which a release makes: the program itself does not carry the writer.

package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func init() { commands = append(commands, newManCmd) }

func newManCmd() *cobra.Command {
	var date, version string
	cmd := &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the manual pages",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			when, err := time.Parse(time.RFC3339, date)
			if err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Date: &when, Source: "accountant " + version, Manual: "accountant"}
			return doc.GenManTree(root, header, args[0])
		},
	}
	cmd.Flags().StringVar(&date, "date", "", "the date on the pages, as RFC 3339")
	cmd.Flags().StringVar(&version, "of", "", "the version on the pages")
	return cmd
}
