package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/dpaccountant/accountant/cmd/service"
)

func newManCmd() *cobra.Command {
	var date, version string
	cmd := &cobra.Command{
		Use:  "man",
		Args: exactly("folder for the pages"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v := service.Version()
			when, err := time.Parse(time.RFC3339, cmp.Or(date, v.Date, time.Now().UTC().Format(time.RFC3339)))
			if err != nil {
				return fmt.Errorf("--date: %s is not a date such as 2026-11-28T09:00:00Z", show(date))
			}
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return pathProblem(args[0], err)
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Section: "1", Date: &when, Source: "accountant " + cmp.Or(version, v.Version), Manual: "accountant"}
			forEachCommand(root, func(c *cobra.Command) {
				if err != nil || c != root && !c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
					return
				}
				var page bytes.Buffer
				own := *header
				if err = doc.GenMan(c, &own, &page); err == nil {
					err = writeFileAtomic(filepath.Join(args[0], strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"), page.Bytes())
				}
			})
			return err
		},
	}
	cmd.Flags().StringVar(&date, "date", "", "the `date` on the pages (default that of the commit)")
	cmd.Flags().StringVar(&version, "of", "", "the `version` on the pages (default this one)")
	return cmd
}
