package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/service"
)

func newExplainCmd() *cobra.Command {
	var form output
	cmd := &cobra.Command{
		Use: "explain",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
			topics, err := service.Topics()
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, t := range topics {
				names = append(names, t.Name+"\t"+t.Title)
				for _, other := range t.Also {
					if start != "" && strings.HasPrefix(other, start) {
						names = append(names, other+"\t"+t.Title)
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				topics, err := service.Topics()
				if err != nil {
					return err
				}
				return form.print(cmd.OutOrStdout(), topics, func(w io.Writer) {
					tw := newTable(w, 3, 0).headless()
					fmt.Fprint(tw, "topic\ttitle\n")
					for _, t := range topics {
						fmt.Fprintf(tw, "%s\t%s\n", t.Name, t.Title)
					}
					tw.Flush()
				})
			}
			t, err := service.New(nil).Explain(cmd.Context(), service.ExplainRequest{Topic: strings.Join(args, " ")})
			if err != nil {
				return err
			}
			return form.print(cmd.OutOrStdout(), t, func(w io.Writer) {
				fmt.Fprintf(w, "%s\n%s\n\n%s", t.Title, strings.Repeat("=", len([]rune(t.Title))), t.Text)
			})
		},
	}
	form.register(cmd)
	return cmd
}
