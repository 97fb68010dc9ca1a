package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dpaccountant/accountant/ledger"
	"github.com/dpaccountant/accountant/ledger/sqlledger/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const plan = `{"neighbors":"add-remove","steps":[{"mechanism":{"pure":{"epsilon":0.1}}}]}`

// command runs accountant-sql with a plan on standard input.
func command(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(plan), &o, &e)
	return code, o.String(), e.String()
}

// TestCommands: the commands of a ledger, in a database.
func TestCommands(t *testing.T) {
	dbtest.ForEach(t, func(t *testing.T, d dbtest.Database) {
		t.Setenv("ACCOUNTANT_DATABASE", d.URL)
		copied := filepath.Join(t.TempDir(), "copy.ledger")
		for _, c := range []struct {
			args string
			code int
			out  string // part of what is printed, or of the error
		}{
			{"status census", failed, ""},
			{"init --neighbors add-remove --epsilon 0.35 --delta 0 census", 0, `"entries":0`},
			{"init --neighbors add-remove --epsilon 0.35 --delta 0 census", failed, "exists already"},
			{"status nowhere", failed, "has no ledger"},
			{"add census -", 0, `{"spent":true}`},
			{"add --key a --note first census -", 0, `{"spent":true}`},
			{"add --key a census -", 0, `{"spent":true,"again":true}`},
			{"fits census -", 0, `"fits":1,`},
			{"add census -", 0, `{"spent":true}`},
			{"add census -", refused, "of which 0.3 is spent"},
			{"status census", 0, `"entries":3`},
			{"log census", 0, `"note":"first","key":"a"`},
			{"check census", 0, `"entries":3`},
			{"check --head " + strings.Repeat("0", 64) + " census", failed, "no line has the checksum"},
			{"check --head x census", failed, "head: "},
			{"backup census " + copied, 0, `"entries":3`},
			{"backup census " + copied, failed, "exists already"},
			{"add census missing.yaml", failed, "missing.yaml"},
			{"init --neighbors add-remove --epsilon 1 --delta 0 <b>\u202eother", failed, `name: "<b>\u202eother" is not a name`},
			{"init --neighbors add-remove --epsilon x --delta 0 other", failed, "epsilon: "},
			{"init other", usage, "neighbors"},
			{"add census", usage, "accepts 2 arg"},
			{"no-such-command", usage, "unknown command"},
		} {
			code, out, errOut := command(t, strings.Fields(c.args)...)
			if code != c.code || !strings.Contains(out+errOut, c.out) || (code == 0) != (errOut == "") {
				t.Errorf("%s: %d, %s%s; want %d, %s", c.args, code, out, errOut, c.code, c.out)
			}
		}
		if st, err := ledger.Verify(t.Context(), ledger.File(copied), ""); err != nil || st.Entries != 3 {
			t.Errorf("%+v, %v", st, err)
		}
	})
	for _, url := range []string{"", "mysql://secret", "sqlite:", "postgres://user:secret@%zz/"} {
		t.Setenv("ACCOUNTANT_DATABASE", url)
		if code, _, errOut := command(t, "status", "census"); code != failed || !strings.Contains(errOut, "ACCOUNTANT_DATABASE") && url == "" || strings.Contains(errOut, "secret") {
			t.Errorf("%q: %d, %s", url, code, errOut)
		}
	}
}

// serving runs a server of the command, and returns where it listens and a function that ends it.
func serving(t *testing.T, args ...string) (url string, end func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, append([]string{"serve", "--http", "0"}, args...), nil, io.Discard, w)
		w.Close()
	}()
	log := json.NewDecoder(r)
	for {
		var line struct{ Msg, Address string }
		if err := log.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.Msg == "listening" {
			url = "http://" + line.Address
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, io.MultiReader(log.Buffered(), r)) }()
	return url, func() {
		stop()
		if code := <-done; code != 0 {
			t.Errorf("exit status %d", code)
		}
	}
}

// TestServe: sixteen clients ask two servers of one database, each with every key twice: exactly what fits is granted, once.
func TestServe(t *testing.T) {
	dbtest.ForEach(t, func(t *testing.T, d dbtest.Database) {
		t.Setenv("ACCOUNTANT_DATABASE", d.URL)
		one, endOne := serving(t)
		two, endTwo := serving(t)
		post := func(url, op, body string) (int, string) {
			for {
				resp, err := http.Post(url+"/v1/"+op, "application/json", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return 0, ""
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil {
					t.Error(err)
				}
				if resp.StatusCode != http.StatusServiceUnavailable {
					return resp.StatusCode, strings.TrimSpace(string(text))
				}
			}
		}
		for _, c := range []struct {
			op, body string
			status   int
			part     string
		}{
			{"ledger-create", `{"path":"team/census","neighbors":"add-remove","epsilon":2.05,"delta":0,"mode":"planned"}`, 200, `"team/census"`},
			{"ledger-create", `{"path":"team/census","neighbors":"add-remove","epsilon":2.05,"delta":0,"mode":"planned"}`, 400, "exists already"},
			{"ledger-create", `{"path":"../census","neighbors":"add-remove","epsilon":2.05,"delta":0,"mode":"planned"}`, 400, "is not a name such as"},
			{"ledger-status", `{"ledger":"team/none"}`, 400, "is not the name of a ledger here"},
			{"ledger-log", `{"path":"team/none"}`, 400, "is not the name of a ledger here"},
			{"ledger-check", `{"path":"team/none"}`, 400, "is not the name of a ledger here"},
		} {
			if status, text := post(one, c.op, c.body); status != c.status || !strings.Contains(text, c.part) {
				t.Errorf("%s %s: %d %s", c.op, c.body, status, text)
			}
		}
		var mu sync.Mutex
		count := map[string]int{}
		var all sync.WaitGroup
		for client := range 16 {
			all.Go(func() {
				for n := range 3 {
					for _, url := range []string{one, two} { // the second time repeats the first
						status, text := post(url, "ledger-spend", fmt.Sprintf(`{"ledger":"team/census","plan":%s,"key":"%d-%d"}`, plan, client, n))
						mu.Lock()
						if status == 200 {
							count[text]++
						} else {
							count[fmt.Sprint(status)]++
						}
						mu.Unlock()
					}
				}
			})
		}
		all.Wait()
		if count[`{"spent":true}`] != 20 || count[`{"spent":true,"again":true}`] != 20 || count["409"] != 56 {
			t.Errorf("%v", count)
		}
		if status, text := post(two, "ledger-check", `{"path":"team/census"}`); status != 200 || !strings.Contains(text, `"entries":20`) {
			t.Errorf("%d %s", status, text)
		}
		if status, text := post(one, "ledger-log", `{"path":"team/census"}`); status != 200 || strings.Count(text, `"key"`) != 20 {
			t.Errorf("%d %s", status, text)
		}
		endOne()
		endTwo()
	})
}

// TestServeWithoutDatabase: when the database is gone, the server is not ready, and a spend is 500 without a word of where it was.
func TestServeWithoutDatabase(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("ACCOUNTANT_DATABASE", "sqlite:"+filepath.Join(dir, "budget.db"))
	url, end := serving(t)
	defer end()
	post := func(op, body string) (int, string) {
		resp, err := http.Post(url+"/v1/"+op, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	if status, text := post("ledger-create", `{"path":"a","neighbors":"add-remove","epsilon":1,"delta":0,"mode":"planned"}`); status != 200 {
		t.Fatal(text)
	}
	if err := os.WriteFile(filepath.Join(dir, "budget.db"), bytes.Repeat([]byte("x"), 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, text := post("ledger-spend", `{"ledger":"a","plan":`+plan+`}`); status != 500 || !strings.Contains(text, `"kind":"storage"`) || strings.Contains(text, "database disk image") {
		t.Errorf("%d %s", status, text)
	}
}
