package main

// Flags, and the order of things.

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The packages whose lines are changed, and the tests that are asked: those of the same packages.
const packages = "profiles,pld,fourier,fourier/internal/closed,fourier/internal/lattice,fourier/internal/contour," +
	"subsample,subsample/internal/copies,subsample/adaptive,subsample/allocation,internal/transform"

type options struct {
	pkg, tests, only, cache, out string
	n, workers                   int
	seed                         uint64
	longest                      time.Duration
	list                         bool
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.pkg, "pkg", packages, "packages to change, with commas between")
	flag.StringVar(&o.tests, "tests", "", "packages whose tests are asked; those of -pkg if empty")
	flag.StringVar(&o.only, "only", "", "names of mutants, with commas between: no others")
	flag.IntVar(&o.n, "n", 220, "how many mutants")
	flag.Uint64Var(&o.seed, "seed", 1, "which of them")
	flag.IntVar(&o.workers, "workers", 2, "how many at a time")
	flag.DurationVar(&o.longest, "longest", 8*time.Second, "processor time above which a test is not asked")
	flag.StringVar(&o.cache, "cache", "", "file of answers; in the user's cache directory if empty")
	flag.StringVar(&o.out, "o", "", "file of the page; standard output if empty")
	flag.BoolVar(&o.list, "list", false, "list the mutants and run nothing")
	flag.Parse()
	if err := run(o); err != nil {
		log.Fatal(err)
	}
}

func run(o options) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	all, err := find(root, strings.Split(strings.ReplaceAll(o.pkg, "./", ""), ","))
	if err != nil {
		return err
	}
	ms := sample(all, o)
	if o.list {
		for _, m := range ms {
			fmt.Printf("%s %s:%d %s %s\n\t%s\n\t%s\n", m.name, m.file, m.line, m.fn, m.operator, flat(m.was), flat(m.is))
		}
		return nil
	}
	known, err := openAnswers(o.cache)
	if err != nil {
		return err
	}
	var open []*mutant
	for i, m := range ms {
		m.id = int32(i + 1)
		if !known.answer(root, m) {
			open = append(open, m)
		}
	}
	if len(open) > 0 {
		if open, err = ask(root, open, o, known); err != nil {
			return err
		}
	}
	ms = slices.DeleteFunc(ms, func(m *mutant) bool { return m.state == "" })
	return write(root, o, all, ms)
}

// ask compiles and judges mutants; those that do not compile keep an empty state.
func ask(root string, open []*mutant, o options, known *answers) ([]*mutant, error) {
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r := &runner{root: root, dir: dir, longest: o.longest, workers: o.workers}
	tested := o.tests
	if tested == "" {
		tested = o.pkg
	}
	if open, err = r.compile(open, strings.Split(strings.ReplaceAll(tested, "./", ""), ",")); err != nil {
		return nil, err
	}
	log.Printf("%d mutants compile", len(open))
	r.trace()
	log.Printf("traced")
	var mu sync.Mutex
	r.each(len(open), func(i int) {
		m := open[i]
		r.judge(m)
		mu.Lock()
		defer mu.Unlock()
		log.Printf("%s %s:%d %s: %s %s", m.name, m.file, m.line, m.operator, m.state, m.killer)
		if err := known.add(root, m); err != nil {
			log.Print(err)
		}
	})
	return open, nil
}

// find returns the mutants of all packages, in the order of their files.
func find(root string, pkgs []string) ([]mutant, error) {
	var all []mutant
	for _, p := range pkgs {
		files, err := filepath.Glob(filepath.Join(root, p, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			src, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			ms, err := sites(root, f, src)
			if err != nil {
				return nil, err
			}
			all = append(all, ms...)
		}
	}
	return all, nil
}

// sample takes mutants in turn from each kind of wrong in each package, in an order that the seed and their names decide.
func sample(all []mutant, o options) []*mutant {
	type kind struct{ pkg, operator string }
	groups := map[kind][]*mutant{}
	var order []kind
	for i := range all {
		m := &all[i]
		if o.only != "" {
			if !strings.Contains(","+o.only+",", ","+m.name+",") {
				continue
			}
		}
		k := kind{m.pkg, m.operator}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], m)
	}
	rank := func(m *mutant) string {
		return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%d %s", o.seed, m.name)))
	}
	var taken []*mutant
	for _, g := range groups {
		slices.SortFunc(g, func(a, b *mutant) int { return strings.Compare(rank(a), rank(b)) })
	}
	for turn := 0; ; turn++ {
		some := false
		for _, k := range order {
			if g := groups[k]; turn < len(g) {
				taken, some = append(taken, g[turn]), true
			}
		}
		if !some {
			break
		}
	}
	taken = apart(taken)
	if len(taken) > o.n && o.only == "" {
		taken = taken[:o.n]
	}
	return taken
}

// answers are kept in a file of JSON lines. Only what was killed is kept: a new test may kill what survived.
type answers struct {
	path  string
	known map[string]answer
}

type answer struct{ Key, Killer string }

func openAnswers(path string) (*answers, error) {
	if path == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, err
		}
		path = filepath.Join(dir, "accountant-mutation.jsonl")
	}
	a := &answers{path, map[string]answer{}}
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	for l := range strings.Lines(string(text)) {
		var x answer
		if json.Unmarshal([]byte(l), &x) == nil {
			a.known[x.Key] = x
		}
	}
	return a, nil
}

// key is the mutant and the text of its file and of its package's tests' names, so that an answer ends with what it is about.
func key(root string, m *mutant) string {
	src, _ := os.ReadFile(filepath.Join(root, m.file))
	return fmt.Sprintf("%s %x", m.name, sha256.Sum256(src))
}

// answer fills in what is known: the test that killed it must still be there.
func (a *answers) answer(root string, m *mutant) bool {
	x, ok := a.known[key(root, m)]
	if !ok {
		return false
	}
	pkg, test, ok := strings.Cut(x.Killer, ": ")
	if !ok || !hasTest(root, pkg, strings.TrimPrefix(strings.Fields(test)[0], "one")) {
		return false
	}
	m.state, m.killer = "killed", x.Killer
	return true
}

// hasTest reports that a test of that name is in the package; an empty name is any.
func hasTest(root, pkg, test string) bool {
	files, _ := filepath.Glob(filepath.Join(root, pkg, "*_test.go"))
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && strings.Contains(string(text), "\nfunc "+test) {
			return true
		}
	}
	return false
}

func (a *answers) add(root string, m *mutant) error {
	if m.state != "killed" {
		return nil
	}
	f, err := os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	return json.NewEncoder(f).Encode(answer{key(root, m), m.killer})
}
