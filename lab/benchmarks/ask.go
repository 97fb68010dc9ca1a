package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/dpaccountant/accountant"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/plan"
)

// A said is what an accountant answers: one or both ends of ε, or a note that says why not, and what it cost.
type said struct {
	Cost    float64 `json:"x-fft"`
	Seconds float64
	Lower   *float64 `json:",omitempty"`
	Upper   *float64 `json:",omitempty"`
	Width   float64  `json:",omitempty"` // of this library's numbers; that of theory is not counted
	Note    string   `json:",omitempty"`
	Missing string   `json:",omitempty"` // why a peer cannot be asked
}

// A library is this library with a question before it.
type library struct {
	q     question
	plan  accountant.Plan
	opts  accountant.Options
	total *accountant.Accountant // of a question about one more step or run
	spent *ledger.Ledger         // of one about one more entry
	turn  int                    // how often it was asked
}

// prepare does what is not measured: it reads the plan, and answers for the total that a question is about one more step of.
func (l *library) prepare(ctx context.Context) {
	texts := [][]byte{l.q.Plan}
	if s := l.q.Schedule; s != nil { // in pieces, as the text of a plan has a limit
		texts = nil
		for i := range (s.N + 999) / 1000 {
			texts = append(texts, s.plan(1000*i, 1000*i+1000))
		}
	}
	for _, text := range texts {
		before := l.plan.Steps
		l.plan = *try.Must(plan.Parse(ctx, text))
		l.plan.Steps = append(before, l.plan.Steps...)
	}
	l.opts = accountant.Options{Recursion: l.q.Recursion, Accuracy: l.q.Accuracy}
	switch l.q.Ask {
	case "step", "run":
		l.total = l.account(ctx)
		try.Must(l.total.Epsilon(ctx, l.q.Delta))
	case "ledger":
		l.spent = try.Must(ledger.Create(ctx, ledger.File(filepath.Join(try.Must(os.MkdirTemp("", "benchmarks")), "ledger")), ledger.Config{Neighbors: l.plan.Neighbors, Epsilon: 1000, Delta: l.q.Delta, Mode: ledger.Planned}))
		for _, text := range texts {
			try.Check(l.spent.SpendPlan(ctx, text, ""))
		}
		try.Must(l.spent.Status(ctx))
	}
}

// account returns a new accountant that has the plan.
func (l *library) account(ctx context.Context) *accountant.Accountant {
	a := l.plan.Accountant(l.opts)
	try.Check(a.AddPlan(ctx, &l.plan))
	return a
}

// ask answers the question: ε from nothing, or after one more step, run or entry of a total; or a curve or a calibration. The ends
// are those of the last value.
func (l *library) ask(ctx context.Context) said {
	l.turn++
	one := schedule{N: 1, Count: 10, Rate: 0.01 + 1e-7*float64(l.turn), Sigma: 1}.plan(0, 1)
	switch l.q.Ask {
	case "ledger":
		try.Check(l.spent.SpendPlan(ctx, one, ""))
		spent := try.Must(l.spent.Status(ctx)).Spent.Epsilon
		return ends(spent.Lower, spent.Upper)
	case "calibrate":
		c := try.Must(accountant.Calibrate(ctx, &l.plan, accountant.Goal{Epsilon: l.q.Epsilon, Delta: l.q.Delta, Solve: accountant.NoiseMultiplier}, l.opts))
		return ends(c.Fails.At, c.Value)
	case "curve":
		ps := try.Must(l.account(ctx).EpsilonCurve(ctx, l.q.Deltas))
		return ends(ps[199].Lower, ps[199].Upper)
	case "step":
		try.Check(l.total.AddPlan(ctx, try.Must(plan.Parse(ctx, one))))
	case "run":
		step := l.plan.Steps[l.turn%len(l.plan.Steps)]
		step.Count = 1
		try.Check(l.total.Add(ctx, step, 1))
	default:
		l.total = l.account(ctx)
	}
	iv := try.Must(l.total.Epsilon(ctx, l.q.Delta))
	s := ends(iv.Lower, iv.Upper)
	if iv.Gap != nil {
		s.Width = max(iv.Gap.Proved.Upper/iv.Gap.Proved.Lower, iv.Gap.Attack.Upper/iv.Gap.Attack.Lower) - 1
	}
	return s
}

func ends(lower, upper float64) said {
	return said{Lower: &lower, Upper: &upper, Width: (upper - lower) / upper}
}

//go:embed peers.py
var peersProgram string

// A peer is another accountant, run by Python.
type peer struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	missing string
}

// startPeer starts a peer. One that is not installed is no error: its answers say that it is missing.
func startPeer(python, name string) *peer {
	p := &peer{cmd: exec.Command(python, "-c", peersProgram, name)}
	p.cmd.Stderr = os.Stderr
	p.in = try.Must(p.cmd.StdinPipe())
	// It ends with its input, when this program does.
	p.out = bufio.NewScanner(try.Must(p.cmd.StdoutPipe()))
	if err := p.cmd.Start(); err != nil {
		p.missing = err.Error()
	} else {
		p.missing = p.read().Missing
	}
	if p.missing != "" {
		fmt.Fprintf(os.Stderr, "\n*** %s IS MISSING: %s\n*** ITS COLUMN WILL BE EMPTY (see PYTHONPATH and -python)\n\n", name, p.missing)
	}
	return p
}

func (p *peer) read() (s said) {
	if !p.out.Scan() {
		try.Check(fmt.Errorf("%v has ended: %w", p.cmd.Args[3:], p.out.Err()))
	}
	try.Check(json.Unmarshal(p.out.Bytes(), &s))
	return s
}

// ask puts a question to the peer.
func (p *peer) ask(q question, limit float64) said {
	if p.missing != "" {
		return said{Note: "missing"}
	}
	q.Limit = limit
	try.Check(json.NewEncoder(p.in).Encode(q))
	return p.read()
}
