package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var requests = flag.Int("requests", 20_000, "how many requests TestServeMemory makes")

// TestServeMemory: a server that has answered many requests, good and bad, each a
// different one, holds no more than after a tenth of them. The allowance of 16 MB is what the
// collector's pace may add to a live heap of some MB; a leak of 1 kB a request shows at 20,000.
func TestServeMemory(t *testing.T) {
	cmd, in, out := started(t, os.Stderr, linkedProgram(t), "serve", "--stdio")
	resident := func() int {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s: no VmRSS", text)
		}
		kb, err := strconv.Atoi(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		return kb
	}
	const many = 100 // at once, as many as a pipe holds
	at := map[int]int{}
	for n := 0; n < *requests; n += many {
		var batch strings.Builder
		for i := n; i < n+many; i++ {
			switch i % 4 {
			case 0:
				fmt.Fprintf(&batch, `{"id": %d, "op": "version"}`, i)
			case 1: // a plan that was never seen before
				fmt.Fprintf(&batch, `{"id": %d, "op": "epsilon", "delta": [0], "plan": "neighbors: add-remove\nsteps: [{mechanism: {pure: {epsilon: %g}}}]\n"}`, i, 1+float64(i)/1e7)
			case 2:
				fmt.Fprintf(&batch, `{"id": %d, "op": "epsilon", "delta": [%d], "plan": "neighbors: none"}`, i, i+2)
			case 3:
				fmt.Fprintf(&batch, `{"id": %d, "op": "no%d"`, i, i)
			}
			batch.WriteString("\n")
		}
		wrote := make(chan error, 1)
		go func() {
			_, err := in.Write([]byte(batch.String()))
			wrote <- err
		}()
		for i := n; i < n+many; i++ {
			line, err := out.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if failed := strings.Contains(line, `"error"`); failed != (i%4 >= 2) {
				t.Fatalf("%d: %s", i, line)
			}
		}
		if err := <-wrote; err != nil {
			t.Fatal(err)
		}
		if done := n + many; done*10 == *requests || done == *requests || done == 10_000 || done == 100_000 {
			at[done] = resident()
			t.Logf("%d requests: %d kB resident", done, at[done])
		}
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if first, last := at[*requests/10], at[*requests]; last > first+16<<10 {
		t.Errorf("%d kB after %d requests, %d kB after %d", first, *requests/10, last, *requests)
	}
}
