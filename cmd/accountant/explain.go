package main

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/internal/nearest"
)

// A topic is a file of explain_topics: the title, other names of the topic after
// "also:", an empty line, the text.
type topic struct {
	Name  string   `json:"topic"`
	Title string   `json:"title"`
	Also  []string `json:"also,omitempty"`
	Text  string   `json:"text"`
}

//go:embed explain_topics/*.txt
var topicFiles embed.FS

// readTopics returns all topics by name.
func readTopics() ([]topic, error) {
	paths, err := fs.Glob(topicFiles, "explain_topics/*.txt")
	if err != nil {
		return nil, err
	}
	var all []topic
	for _, path := range paths {
		data, err := topicFiles.ReadFile(path)
		if err != nil {
			return nil, err
		}
		head, text, ok := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n\n")
		title, also, _ := strings.Cut(head, "\nalso: ")
		if !ok || strings.Contains(title, "\n") {
			return nil, fmt.Errorf("%s: has no title with an empty line after it", path)
		}
		t := topic{strings.TrimSuffix(strings.TrimPrefix(path, "explain_topics/"), ".txt"), title, nil, strings.TrimSpace(text) + "\n"}
		if also != "" {
			t.Also = strings.Split(also, ", ")
		}
		all = append(all, t)
	}
	return all, nil
}

// findTopic returns the topic of a name, which may be written with spaces.
func findTopic(topics []topic, name string) (topic, error) {
	key := strings.ToLower(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(" _,–-", r) }), "-"))
	var names []string
	for _, t := range topics {
		if t.Name == key || slices.Contains(t.Also, key) {
			return t, nil
		}
		names = append(append(names, t.Name), t.Also...)
	}
	// A theorem, or another word of the texts.
	if found := mentioning(topics, name); len(found) == 1 {
		return found[0], nil
	} else if len(found) > 1 {
		var in []string
		for _, t := range found {
			in = append(in, t.Name)
		}
		return topic{}, fmt.Errorf("%s is not a topic; it is mentioned in %s", show(name), strings.Join(in, ", "))
	}
	if best := nearest.Word(key, names); best != "" {
		return topic{}, fmt.Errorf("%s is not a topic; did you mean %q?", show(name), best)
	}
	return topic{}, fmt.Errorf("%s is not a topic; explain without one lists them", show(name))
}

// mentioning returns the topics whose texts have these words, in whole.
func mentioning(topics []topic, words string) (found []topic) {
	words = strings.Join(strings.Fields(words), " ")
	// The end of a number is no full stop with digits behind it.
	whole, err := regexp.Compile(`(?i)(^|[^\pL\d])` + regexp.QuoteMeta(words) + `($|[^\pL\d.]|\.($|\D))`)
	if err != nil || words == "" {
		return nil
	}
	for _, t := range topics {
		if whole.MatchString(strings.Join(strings.Fields(t.Title+" "+t.Text), " ")) {
			found = append(found, t)
		}
	}
	return found
}

func newExplainCmd() *cobra.Command {
	var form output
	cmd := &cobra.Command{
		Use:   "explain [topic]",
		Short: "Explain a theorem or a term of the output",
		Long: `explain tells in a few words what a term of the output means, or what a theorem
says that an answer rests on: its statement, its conditions, where it is from.
Without a topic it lists them all.`,
		Example: `  accountant explain add-remove
  accountant explain "Rényi filter"`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
			topics, err := readTopics()
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
			topics, err := readTopics()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return form.print(cmd.OutOrStdout(), topics, func(w io.Writer) error {
					tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
					for _, t := range topics {
						fmt.Fprintf(tw, "%s\t%s\n", t.Name, t.Title)
					}
					return tw.Flush()
				})
			}
			t, err := findTopic(topics, strings.Join(args, " "))
			if err != nil {
				return err
			}
			return form.print(cmd.OutOrStdout(), t, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%s\n%s\n\n%s", t.Title, strings.Repeat("=", len([]rune(t.Title))), t.Text)
				return err
			})
		},
	}
	form.register(cmd)
	return cmd
}
