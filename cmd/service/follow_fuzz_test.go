package service

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"
)

// FuzzFollow: a line of a log is added, or blank, or an error about that line; runs never go down,
// after an error the total is as before, and ε stands in order.
func FuzzFollow(f *testing.F) {
	const pure = `{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":0.1}}}]}`
	for _, log := range []string{
		pure + "\n" + pure + "\n",
		pure + "\n{\"steps\":3}\n\n{\"count\":2}\n",
		"\ufeff" + pure + "\r\n",
		`{"neighbors":"substitute","steps":[{"mechanism":{"gaussian":{"noise-multiplier":1}},"sampling":{"poisson":{"rate":0.1}},"count":9}]}`,
		"{}\n[]\n{\"steps\":1e18}\n{\"steps\":-1}\nnull\n{", "{\"time\":1,\"step\":7}\n", "\xff\n",
	} {
		f.Add([]byte(log), true)
		f.Add([]byte(log), false)
	}
	f.Fuzz(func(t *testing.T, log []byte, given bool) {
		if len(log) > 2000 {
			return
		}
		q := FollowRequest{Delta: Decimals{"1e-5"}, Limits: Limits{Accuracy: "0.1", Caps: Caps{Work: "1e4"}}}
		if given {
			q.Plan = PlanText(pure)
		}
		ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer stop()
		follower, err := Follow(ctx, q)
		if err != nil {
			if ctx.Err() != nil {
				return
			}
			t.Fatal(err)
		}
		runs := int64(0)
		for i, line := range bytes.Split(log, []byte("\n")) {
			a, ok, err := follower.Line(ctx, line)
			if ctx.Err() != nil {
				return
			}
			var wrong *LogLineError
			switch {
			case err != nil && !errors.As(err, &wrong):
				t.Fatalf("line %d of %q: %v", i+1, log, err)
			case err != nil && wrong.Line != i+1:
				t.Fatalf("line %d of %q: the error is about line %d", i+1, log, wrong.Line)
			case err == nil && ok != (len(bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))) > 0) && i == 0,
				err == nil && ok && (a.Runs <= runs || a.Line != i+1 || len(a.Results) != 1):
				t.Fatalf("line %d of %q: %+v after %d runs", i+1, log, a, runs)
			}
			if ok {
				runs = a.Runs
			}
			if follower.acct != nil && follower.acct.Runs() != runs {
				t.Fatalf("line %d of %q: %d runs are counted, not %d", i+1, log, follower.acct.Runs(), runs)
			}
		}
	})
}
