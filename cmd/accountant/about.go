package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/dpaccountant/accountant/cmd/print"
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

func newExplainCmd() *cobra.Command {
	return question{name: "explain", what: "looking", except: []string{"topic"}, text: printing(printTopics), extra: func(a *asking) {
		a.cmd.Args = nil
		a.read = func() error {
			a.request.(*service.ExplainRequest).Topic = strings.Join(a.args, " ")
			return nil
		}
		a.cmd.ValidArgsFunction = completeTopics
	}}.command()
}

// completeTopics offers the names of topics.
func completeTopics(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, t := range service.Topics() {
		names = append(names, t.Name+"\t"+t.Title)
		for _, other := range t.Also {
			if start != "" && strings.HasPrefix(other, start) {
				names = append(names, other+"\t"+t.Title)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// printTopics prints the topic that was asked for, or the list of all.
func printTopics(w io.Writer, topics []service.Topic, a *asking) {
	if t := topics[0]; a.request.(*service.ExplainRequest).Topic != "" {
		fmt.Fprintf(w, "%s\n%s\n\n%s", t.Title, strings.Repeat("=", len([]rune(t.Title))), t.Text)
		return
	}
	tw := print.NewTable(w, 3, 0).Headless()
	fmt.Fprint(tw, "topic\ttitle\n")
	for _, t := range topics {
		fmt.Fprintf(tw, "%s\t%s\n", t.Name, t.Title)
	}
	tw.Flush()
}
