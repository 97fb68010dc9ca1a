// Command load measures accountant serve --http. It reports requests a second, and the times that
// half and 99 of 100 requests take, for questions and for spends with a ledger on disk. It also
// reports the most memory that the server has had. It starts the server that it is given, in a
// folder of its own:
//
//	go build -o /tmp/accountant ./cmd/accountant
//	go run ./lab/load -program /tmp/accountant
//
// Clients and server share the machine, so a request costs both; -requests 100000 shows whether the
// memory of the server grows.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/lab/try"
	"github.com/dpaccountant/accountant/lab/xfft"
)

func main() {
	program := flag.String("program", "accountant", "the accountant that serves")
	requests := flag.Int("requests", 2000, "requests of each kind")
	clients := flag.Int("clients", 16, "clients that ask at once")
	flag.Parse()
	log.SetFlags(0)
	if *requests < 1 || *clients < 1 {
		log.Fatalf("-requests %d and -clients %d must be at least 1", *requests, *clients)
	}
	try.Main(func() { measure(*program, *requests, *clients) })
}

// A kind of request is a name, an operation and the body of the nth request.
type kind struct {
	name, op string
	body     func(n int) string
}

const spend = `{"ledger":"load.ledger","plan":{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":2000}}}]},"key":"%s-%d"}`

func dpsgd(n int) string {
	return fmt.Sprintf(`{"plan":{"neighbors":"add-remove","steps":[{"mechanism":{"gaussian":{"noise-multiplier":%g}},"sampling":{"poisson":{"rate":0.01}},"count":10000}]},"delta":1e-5}`, 1+float64(n)*1e-6)
}

var kinds = []kind{
	{"version", "version", func(int) string { return "{}" }},
	{"ε of DP-SGD, a new plan each", "epsilon", dpsgd},
	{"spend", "ledger-spend", func(n int) string { return fmt.Sprintf(spend, "a", n) }},
	{"spend, repeated with its key", "ledger-spend", func(n int) string { return fmt.Sprintf(spend, "a", n%10) }},
	{"ledger-status", "ledger-status", func(int) string { return `{"ledger":"load.ledger"}` }},
}

func measure(program string, requests, clients int) {
	dir := try.Must(os.MkdirTemp("", "load"))
	defer os.RemoveAll(dir)
	cmd := exec.Command(program, "serve", "--http", "127.0.0.1:0", "--ledgers", dir)
	stderr := try.Must(cmd.StderrPipe())
	try.Check(cmd.Start())
	defer cmd.Process.Kill()
	url := address(stderr)
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	c := &http.Client{Transport: transport}
	try.Check(post(c, url+"/v1/ledger-create", `{"path":"load.ledger","neighbors":"add-remove","epsilon":100,"delta":1e-5,"mode":"adaptive"}`))
	fmt.Printf("%-32s %9s %9s %9s %9s %12s %10s\n", "", "requests", "/s", "p50 ms", "p99 ms", "server ms", "most MB")
	for _, k := range kinds {
		before := xfft.ProcessorOf(cmd.Process.Pid)
		began := time.Now()
		times := run(c, url, k, requests, clients)
		took := time.Since(began)
		cpu := xfft.ProcessorOf(cmd.Process.Pid) - before
		slices.Sort(times)
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		fmt.Printf("%-32s %9d %9.0f %9.2f %9.2f %12.3f %10.1f\n", k.name, requests, float64(requests)/took.Seconds(), ms(times[len(times)/2]), ms(times[len(times)*99/100]),
			ms(cpu)/float64(requests), mostMemory(cmd.Process.Pid)/1e6)
	}
	try.Check(cmd.Process.Signal(syscall.SIGTERM))
	transport.CloseIdleConnections()
	try.Check(cmd.Wait())
}

// address returns where the server listens, and throws away the rest of its log.
func address(log io.Reader) string {
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var entry struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "listening" {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return "http://" + entry.Address
		}
	}
	try.Check(errors.Join(fmt.Errorf("the server does not listen: %s", lines.Text()), lines.Err()))
	return ""
}

// run makes requests of one kind, by clients that each take their share in turn, and returns the time of each.
func run(c *http.Client, url string, k kind, requests, clients int) []time.Duration {
	times, errs := make([]time.Duration, requests), make([]error, clients)
	parallel.Do(clients, func(client int) {
		for n := client; n < requests && errs[client] == nil; n += clients {
			began := time.Now()
			errs[client] = post(c, url+"/v1/"+k.op, k.body(n))
			times[n] = time.Since(began)
		}
	})
	try.Check(errors.Join(errs...))
	return times
}

func post(c *http.Client, url, body string) error {
	resp, err := c.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", url, resp.Status, text)
	}
	return err
}

// mostMemory returns the most bytes of memory that a process has had so far, where /proc tells; 0 elsewhere.
func mostMemory(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes := 0.0
	_, _ = fmt.Sscan(after, &kilobytes)
	return 1024 * kilobytes
}
