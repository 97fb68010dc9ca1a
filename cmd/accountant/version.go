package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/service"
)

func newVersionCmd() *cobra.Command {
	var form output
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			v, err := service.New(nil).Version(cmd.Context(), service.VersionRequest{})
			if err != nil {
				return err
			}
			return form.print(cmd.OutOrStdout(), v, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "accountant %s, built with %s\n", v.Version, v.Go)
				return err
			})
		},
	}
	form.register(cmd)
	return cmd
}
