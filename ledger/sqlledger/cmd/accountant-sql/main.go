// Command accountant-sql has the ledgers of a database. Its commands are those of accountant ledger
// and the server of accountant serve --http, for budgets in PostgreSQL or SQLite.
//
//	export ACCOUNTANT_DATABASE=postgres://budget@db.example.org/budgets
//	accountant-sql init --neighbors add-remove --epsilon 3 --delta 1e-5 census
//	accountant-sql add --key run-17 census plan.yaml
//	accountant-sql serve --http 8080
//
// Answers are the JSON that accountant ledger prints with --json, and the exit status is the same:
// 3 is a refused spend. The environment names the database, as passwords do not belong on command
// lines.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/spf13/cobra"
	_ "modernc.org/sqlite"

	"github.com/dpaccountant/accountant/cmd/server"
	"github.com/dpaccountant/accountant/cmd/service"
	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/ledger/sqlledger"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Exit statuses, as those of accountant.
const (
	failed  = 1
	usage   = 2
	refused = 3
)

func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	var work started
	err := root.ExecuteContext(context.WithValue(ctx, startedKey{}, &work))
	if err == nil {
		return 0
	}
	fmt.Fprintf(errOut, "accountant-sql: %s\n", fault.Line(err.Error()))
	switch {
	case errors.Is(err, ledger.ErrBudget):
		return refused
	case !bool(work):
		return usage
	}
	return failed
}

// started is whether the arguments were right, and a command began.
type started bool

type startedKey struct{}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "accountant-sql",
		Short: "Privacy budgets in PostgreSQL or SQLite",
		Long: `accountant-sql spends privacy budgets that are kept in a database. The variable
ACCOUNTANT_DATABASE names it: postgres://USER@HOST/NAME, or sqlite:FILE.
docs/guide/ledger.md of accountant says what is promised.`,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddCommand(newInit(), newAdd(), newFits(), newStatus(), newLog(), newCheck(), newBackup(), newServe())
	return root
}

// open opens the database that the environment names.
func open(name string) (sqlledger.Database, error) {
	driver, dsn := "", ""
	if file, ok := strings.CutPrefix(name, "sqlite:"); ok && file != "" {
		// Flushed to disk at each commit, and patient with other writers.
		driver, dsn = "sqlite", "file:"+strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(file)+"?_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)"
	} else if strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://") || strings.HasPrefix(name, "host=") {
		driver, dsn = "pgx", name
	} else {
		return sqlledger.Database{}, fault.New("ACCOUNTANT_DATABASE", "is missing, or is not postgres://…, host=… or sqlite:FILE") // its text may be a password
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return sqlledger.Database{}, fault.New("ACCOUNTANT_DATABASE", "cannot be opened: %w", err)
	}
	db.SetConnMaxIdleTime(5 * time.Minute)
	return sqlledger.Database{DB: db}, nil
}

// onDatabase returns a command with so many arguments, which does something with the database and prints the answer.
func onDatabase(use, short string, arguments int, do func(cmd *cobra.Command, args []string, d sqlledger.Database) (any, error)) *cobra.Command {
	run := func(cmd *cobra.Command, args []string) error {
		if work, ok := cmd.Context().Value(startedKey{}).(*started); ok {
			*work = true
		}
		d, err := open(os.Getenv("ACCOUNTANT_DATABASE"))
		if err != nil {
			return err
		}
		defer d.DB.Close()
		answer, err := do(cmd, args, d)
		if err != nil || answer == nil {
			return err
		}
		text, err := service.Marshal(answer)
		if err == nil {
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
		}
		return err
	}
	return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(arguments), RunE: run}
}

// kept hands the ledgers of a database to the operations.
type kept struct{ sqlledger.Database }

func (k kept) CreateLedger(ctx context.Context, name string, c ledger.Config) (service.Ledger, error) {
	return k.Create(ctx, name, c)
}

func (k kept) OpenLedger(ctx context.Context, name string) (service.Ledger, error) {
	return k.Open(ctx, name)
}

func (k kept) VerifyLedger(ctx context.Context, name, head string) (ledger.Status, error) {
	return k.Verify(ctx, name, head)
}

func (k kept) LogLedger(ctx context.Context, name string, each func(ledger.Entry)) (ledger.Config, error) {
	return k.Log(ctx, name, each)
}

// ask answers a request about the ledgers of a database, as accountant serve does.
func ask[A, Q any](cmd *cobra.Command, d sqlledger.Database, request Q) (any, error) {
	return service.Ask[A](cmd.Context(), service.NewShared(kept{d}), request)
}

func newInit() *cobra.Command {
	var q service.LedgerCreateRequest
	cmd := onDatabase("init --neighbors R --epsilon ε --delta δ NAME", "Make a ledger, and the tables if there are none", 1, func(cmd *cobra.Command, args []string, d sqlledger.Database) (any, error) {
		if err := server.CheckName("name", args[0]); err != nil {
			return nil, err
		}
		q.Path = args[0]
		if _, err := ask[service.LedgerHandle](cmd, d, q); err != nil {
			return nil, err
		}
		return ask[service.LedgerState](cmd, d, service.LedgerStatusRequest{LedgerHandle: service.LedgerHandle{Ledger: args[0]}})
	})
	fs := cmd.Flags()
	fs.StringVar(&q.Neighbors, "neighbors", "", "add-remove, substitute or zero-out")
	fs.StringVar((*string)(&q.Epsilon), "epsilon", "", "`ε` of the budget")
	fs.StringVar((*string)(&q.Delta), "delta", "", "`δ` of the budget")
	fs.StringVar(&q.Mode, "mode", string(ledger.Planned), "planned, adaptive or adaptive-gaussian")
	fs.StringVar((*string)(&q.RecordsPerPerson), "records-per-person", "", "how many records `k` a person has at most (default 1)")
	for _, name := range []string{"neighbors", "epsilon", "delta"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}

// readPlan reads a plan file, - from standard input.
func readPlan(cmd *cobra.Command, name string) (data []byte, err error) {
	from := cmd.InOrStdin()
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	if data, err = io.ReadAll(io.LimitReader(from, service.MaxPlan+1)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := service.CheckPlan(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

func newAdd() *cobra.Command {
	var q service.LedgerSpendRequest
	cmd := onDatabase("add NAME plan.yaml", "Spend a plan, before it runs", 2, func(cmd *cobra.Command, args []string, d sqlledger.Database) (a any, err error) {
		if q.Key == "" && cmd.Flags().Changed("key") {
			return nil, fault.New("key", "is empty, must name the spend")
		}
		if q.Plan, err = readPlan(cmd, args[1]); err != nil {
			return nil, err
		}
		q.Ledger = args[0]
		if a, err = ask[service.Spent](cmd, d, q); err != nil {
			return nil, fmt.Errorf("%s: %w", args[1], err)
		}
		return a, nil
	})
	cmd.Flags().StringVar(&q.Note, "note", "", "free `text` for the readers of the log")
	cmd.Flags().StringVar(&q.Key, "key", "", "`name` of this spend: however often add runs with it, the plan is spent once")
	return cmd
}

func newFits() *cobra.Command {
	var q service.LedgerFitsRequest
	cmd := onDatabase("fits NAME plan.yaml", "Tell how many more times a plan could be spent", 2, func(cmd *cobra.Command, args []string, d sqlledger.Database) (_ any, err error) {
		if q.Plan, err = readPlan(cmd, args[1]); err != nil {
			return nil, err
		}
		q.Ledger = args[0]
		return ask[service.LedgerFits](cmd, d, q)
	})
	cmd.Flags().StringVar((*string)(&q.Limit), "limit", "", "stop at this `number` of times (default a million)")
	return cmd
}

func newStatus() *cobra.Command {
	return onDatabase("status NAME", "Tell what is spent, what is left and which guarantee holds", 1, func(cmd *cobra.Command, args []string, d sqlledger.Database) (any, error) {
		return ask[service.LedgerState](cmd, d, service.LedgerStatusRequest{LedgerHandle: service.LedgerHandle{Ledger: args[0]}})
	})
}

func newLog() *cobra.Command {
	return onDatabase("log NAME", "List what was spent, one JSON object a line", 1, func(cmd *cobra.Command, args []string, d sqlledger.Database) (any, error) {
		var failed error
		_, err := d.Log(cmd.Context(), args[0], func(e ledger.Entry) {
			text, err := service.Marshal(service.LedgerEntryOf(e))
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
			}
			failed = errors.Join(failed, err)
		})
		return nil, errors.Join(err, failed)
	})
}

func newCheck() *cobra.Command {
	var q service.LedgerCheckRequest
	cmd := onDatabase("check NAME", "Verify every checksum and recompute the total", 1, func(cmd *cobra.Command, args []string, d sqlledger.Database) (any, error) {
		q.Path = args[0]
		return ask[service.LedgerState](cmd, d, q)
	})
	cmd.Flags().StringVar(&q.Head, "head", "", "`checksum` that the ledger must contain, as status printed it earlier")
	return cmd
}

func newBackup() *cobra.Command {
	return onDatabase("backup NAME FILE", "Copy a ledger to a new file, which accountant ledger reads", 2, func(cmd *cobra.Command, args []string, d sqlledger.Database) (any, error) {
		l, err := d.Open(cmd.Context(), args[0])
		if err != nil {
			return nil, err
		}
		st, err := l.Backup(cmd.Context(), args[1])
		if err != nil {
			return nil, err
		}
		return service.LedgerStateOf(st), nil
	})
}

func newServe() *cobra.Command {
	var c server.Config
	cmd := onDatabase("serve --http ADDRESS", "Answer HTTP requests, as accountant serve --http does", 0, func(cmd *cobra.Command, args []string, d sqlledger.Database) (any, error) {
		if err := sqlledger.Init(cmd.Context(), d.DB); err != nil {
			return nil, err
		}
		c.Elsewhere, c.Log = d, cmd.ErrOrStderr()
		s, err := server.New(c)
		if err != nil {
			return nil, err
		}
		ln, err := s.Listen()
		if err != nil {
			return nil, err
		}
		return nil, s.Serve(cmd.Context(), ln)
	})
	cmd.Args = cobra.NoArgs
	cmd.Long = `serve answers the requests of accountant serve --http, whose flags it has, with the
ledgers of the database. Several servers may have the same database, on any
hosts. Who may name which ledger is in the file of --clients.`
	c.Register(cmd.Flags())
	_ = cmd.MarkFlagRequired("http")
	return cmd
}
