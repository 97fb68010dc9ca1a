package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/dpaccountant/accountant/pate/ballots"
	"github.com/spf13/cobra"
)

func newPateSynthCmd() *cobra.Command {
	var rule, out string
	var teachers int64
	var classes, queries int
	var form output
	cmd := &cobra.Command{
		Use:  "synth",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := ballots.SynthS1(teachers, classes, queries)
			if err != nil {
				return flagged(cmd, err)
			}
			var b bytes.Buffer
			write := v.WriteCSV
			if strings.EqualFold(filepath.Ext(out), ".npy") {
				write = v.WriteNPY
			}
			if err := write(&b); err != nil {
				return err
			}
			if out == "-" {
				if form.json || form.csv {
					return usageError{errors.New("--json and --csv exclude --out -")}
				}
				_, err := cmd.OutOrStdout().Write(b.Bytes())
				return err
			}
			if err := writeFileAtomic(out, b.Bytes()); err != nil {
				return fmt.Errorf("--out: %w", err)
			}
			return form.print(cmd.OutOrStdout(), struct {
				Out      string `json:"out"`
				Rule     string `json:"rule"`
				Teachers int64  `json:"teachers"`
				Classes  int    `json:"classes"`
				Queries  int    `json:"queries"`
			}{out, rule, teachers, classes, queries}, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "%s: %d queries, %d classes, %d teachers\n", out, queries, classes, teachers)
				return err
			})
		},
	}
	fs := cmd.Flags()
	rule = "s1"
	addChoice(cmd, &rule, "rule", "rule of the votes: s1", "s1")
	fs.Int64Var(&teachers, "teachers", 0, "number of teachers (required)")
	fs.IntVar(&classes, "classes", 0, "number of classes (required)")
	fs.IntVar(&queries, "queries", 0, "number of queries (required)")
	fs.StringVar(&out, "out", "", "`file` to write (required)")
	form.register(cmd)
	_ = cmd.MarkFlagFilename("out", "csv", "npy")
	for _, name := range []string{"teachers", "classes", "queries", "out"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}
