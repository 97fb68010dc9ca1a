package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
)

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
