package service

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/dpaccountant/accountant/internal/decimal"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/nearest"
)

// This file has the terms of the answers and the theorems that they rest on, from texts
// that are built in.

// ExplainRequest names a topic, a theorem or another word of the texts; without one it
// asks for all topics.
type ExplainRequest struct {
	Topic      string `json:"topic,omitempty"`
	Containing string `json:"containing,omitempty" help:"list the topics whose text has these {words}"`
}

// shape reports keys that do not go together.
func (q ExplainRequest) shape() error {
	if q.Topic != "" && q.Containing != "" {
		return shape("%s is of no use with a topic", "containing")
	}
	return nil
}

// explain returns the topic of the request alone, or all.
func (s *Service) explain(_ context.Context, q ExplainRequest) ([]Topic, error) {
	topics := Topics()
	switch {
	case q.Containing != "":
		if topics = mentioning(topics, q.Containing); topics == nil {
			return nil, fault.New("containing", "%s is in no topic", decimal.Show(q.Containing))
		}
		return topics, nil
	case q.Topic == "":
		return topics, nil
	}
	t, err := findTopic(topics, q.Topic)
	return []Topic{t}, err
}

// A Topic is a file of topics: the title, other names of the topic after
// "also:", an empty line, the text.
type Topic struct {
	Name  string   `json:"topic" py:"name"`
	Title string   `json:"title"`
	Also  []string `json:"also,omitempty"`
	Text  string   `json:"text"`
}

//go:embed topics/*.txt
var topicFiles embed.FS

// Topics returns all topics by name. What is built in can be read, and tests look at its form.
func Topics() (all []Topic) {
	paths, _ := fs.Glob(topicFiles, "topics/*.txt")
	for _, path := range paths {
		data, _ := topicFiles.ReadFile(path)
		head, text, _ := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n\n")
		title, also, _ := strings.Cut(head, "\nalso: ")
		t := Topic{Name: strings.TrimSuffix(strings.TrimPrefix(path, "topics/"), ".txt"), Title: title, Text: strings.TrimSpace(text) + "\n"}
		if also != "" {
			t.Also = strings.Split(also, ", ")
		}
		all = append(all, t)
	}
	return all
}

// findTopic returns the topic of a name, which may be written with spaces.
func findTopic(topics []Topic, name string) (Topic, error) {
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
		return Topic{}, fmt.Errorf("%s is not a topic; it is mentioned in %s", decimal.Show(name), strings.Join(in, ", "))
	}
	if best := nearest.Word(key, names); best != "" {
		return Topic{}, fmt.Errorf("%s is not a topic; did you mean %q?", decimal.Show(name), best)
	}
	return Topic{}, fmt.Errorf("%s is not a topic; explain without one lists them", decimal.Show(name))
}

// mostWords is the longest text that is looked for, in bytes: a pattern takes a hundred times the memory of its text.
const mostWords = 1000

// mentioning returns the topics whose texts have these words, in whole.
func mentioning(topics []Topic, words string) (found []Topic) {
	words = strings.Join(strings.Fields(words), " ")
	if words == "" || len(words) > mostWords {
		return nil
	}
	// The end of a number is no full stop with digits behind it.
	whole, err := regexp.Compile(`(?i)(^|[^\pL\d])` + regexp.QuoteMeta(words) + `($|[^\pL\d.]|\.($|\D))`)
	if err != nil {
		return nil
	}
	for _, t := range topics {
		if whole.MatchString(strings.Join(strings.Fields(t.Title+" "+t.Text), " ")) {
			found = append(found, t)
		}
	}
	return found
}
