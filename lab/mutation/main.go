package main

// Flags, and the order of things.

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dpaccountant/accountant/internal/fault"
	"github.com/dpaccountant/accountant/internal/parallel"
	"github.com/dpaccountant/accountant/lab/try"
)

// The packages whose lines are changed, and the tests that are asked: those of the same packages.
const packages = "profiles,pld,fourier,fourier/internal/closed,fourier/internal/lattice,fourier/internal/contour," +
	"subsample,subsample/internal/copies,subsample/internal/adaptive,subsample/allocation,internal/transform"

// systems are the packages above them, which have a list of their own (systems.txt).
const systems = "menu,subsample/shuffler,selection,rdp,."

type options struct {
	pkg, tests, only, cache, out string
	asked                        string
	n                            int
	seed                         uint64
	longest, budget              time.Duration
	list                         bool
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.pkg, "pkg", packages, "packages to change, with commas between")
	flag.StringVar(&o.tests, "tests", "", "packages whose tests are asked; those of -pkg if empty")
	flag.StringVar(&o.asked, "ask", "^(Test|Example)", "tests that are asked; fewer for mutants that have survived the others")
	flag.StringVar(&o.only, "only", "", "names of mutants, with commas between: no others")
	flag.IntVar(&o.n, "n", 220, "how many mutants")
	flag.Uint64Var(&o.seed, "seed", 1, "which of them")
	flag.DurationVar(&o.longest, "longest", 8*time.Second, "processor time above which a test is not asked")
	flag.DurationVar(&o.budget, "budget", 30*time.Second, "processor time of the tests that one mutant is shown to")
	flag.StringVar(&o.cache, "cache", "", "file of answers, by which a run that was ended goes on; in the user's cache directory if empty")
	flag.StringVar(&o.out, "o", "", "file of the page; standard output if empty")
	flag.BoolVar(&o.list, "list", false, "list the mutants and run nothing")
	flag.Parse()
	try.Main(func() { run(o) })
}

func run(o options) {
	o.check()
	root := try.Must(os.Getwd())
	o.pkg, o.tests = strings.ReplaceAll(o.pkg, "./", ""), strings.ReplaceAll(o.tests, "./", "")
	if o.tests == "" {
		o.tests = o.pkg
	}
	all := find(root, strings.Split(o.pkg, ","))
	if len(all) == 0 {
		try.Check(fault.New("pkg", "%s has no line that carries a bound", o.pkg))
	}
	ms := sample(all, o)
	if o.list {
		for _, m := range ms {
			fmt.Printf("%s %s:%d %s %s\n\t%s\n\t%s\n", m.name, m.file, m.line, m.fn, m.operator, flat(m.was), flat(m.is))
		}
		return
	}
	known := openAnswers(root, o.cache, o.tests)
	var open []*mutant
	for i, m := range ms {
		m.id = int32(i + 1)
		if !known.answer(m) {
			open = append(open, m)
		}
	}
	if len(open) > 0 {
		ask(root, open, o, known)
	}
	asked := slices.DeleteFunc(slices.Clone(ms), func(m *mutant) bool { return m.state == notGo })
	write(o, all, asked, len(ms)-len(asked))
}

func (o options) check() {
	switch {
	case flag.NArg() > 0:
		try.Check(fault.New("arguments", "%q are not taken", flag.Args()))
	case o.n < 0:
		try.Check(fault.New("n", "%d is not in [0, +Inf)", o.n))
	}
	try.Must(regexp.Compile(o.asked))
}

// notGo is the state of a mutant that does not compile: there is nothing to ask.
const notGo = "does not compile"

// ask compiles and judges mutants.
func ask(root string, open []*mutant, o options, known *answers) {
	dir := try.Must(os.MkdirTemp("", "mutation"))
	defer os.RemoveAll(dir)
	r := &runner{root: root, dir: dir, asked: o.asked, longest: o.longest, budget: o.budget}
	open, wrong := r.compile(open, strings.Split(o.tests, ","))
	for _, m := range wrong {
		m.state = notGo
		try.Check(known.add(m))
	}
	log.Printf("%d mutants compile", len(open))
	r.trace()
	log.Printf("traced")
	var mu sync.Mutex
	_ = parallel.Each(context.Background(), len(open), nil, func(i int) { // never ends early
		m := open[i]
		r.judge(m)
		mu.Lock()
		defer mu.Unlock()
		log.Printf("%s %s:%d %s: %s %s", m.name, m.file, m.line, m.operator, m.state, m.killer)
		if err := known.add(m); err != nil {
			log.Print(err)
		}
	})
}

// find returns the mutants of all packages, in the order of their files.
func find(root string, pkgs []string) (all []mutant) {
	for _, p := range pkgs {
		for _, f := range try.Must(filepath.Glob(filepath.Join(root, p, "*.go"))) {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			all = append(all, sites(root, f, try.Must(os.ReadFile(f)))...)
		}
	}
	return all
}

// sample takes mutants in turn from each kind of wrong in each package, in an order that the seed and their names decide.
func sample(all []mutant, o options) []*mutant {
	type kind struct{ pkg, operator string }
	groups := map[kind][]*mutant{}
	var order []kind
	for i := range all {
		m := &all[i]
		if o.only != "" && !strings.Contains(","+o.only+",", ","+m.name+",") {
			continue
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
	for turn := range all {
		for _, k := range order {
			if g := groups[k]; turn < len(g) {
				taken = append(taken, g[turn])
			}
		}
	}
	taken = apart(taken)
	if len(taken) > o.n && o.only == "" {
		taken = taken[:o.n]
	}
	return taken
}

// answers are kept in a file of JSON lines.
type answers struct {
	path, root, tests string // tests is a hash of all tests: a new one may kill what survived
	known             map[string]answer
}

type answer struct{ Key, State, Killer string }

func openAnswers(root, path, pkgs string) *answers {
	if path == "" {
		path = filepath.Join(try.Must(os.UserCacheDir()), "accountant-mutation.jsonl")
	}
	h := sha256.New()
	for p := range strings.SplitSeq(pkgs, ",") {
		files, _ := filepath.Glob(filepath.Join(root, p, "*_test.go"))
		for _, f := range files {
			text, _ := os.ReadFile(f)
			h.Write(text)
		}
	}
	a := &answers{path: path, root: root, tests: fmt.Sprintf("%x", h.Sum(nil)), known: map[string]answer{}}
	text, err := os.ReadFile(path)
	if !os.IsNotExist(err) {
		try.Check(err)
	}
	for l := range strings.Lines(string(text)) {
		var x answer
		if json.Unmarshal([]byte(l), &x) == nil {
			a.known[x.Key] = x
		}
	}
	return a
}

// key is the mutant and the text of its function, so that an answer ends with what it is about.
func (a *answers) key(m *mutant) string {
	return fmt.Sprintf("%s %x", m.name, sha256.Sum256([]byte(m.body)))
}

// answer fills in what is known. The test that killed it must still be there; what survived is asked again when some test has changed.
func (a *answers) answer(m *mutant) bool {
	if x, ok := a.known[a.key(m)]; ok {
		if x.State == notGo {
			m.state = x.State
			return true
		}
		pkg, test, ok := strings.Cut(x.Killer, ": ")
		if ok && hasTest(a.root, pkg, strings.TrimPrefix(strings.Fields(test)[0], "one")) {
			m.state, m.killer = x.State, x.Killer
			return true
		}
	}
	x, ok := a.known[a.key(m)+" "+a.tests]
	if ok {
		m.state = x.State
	}
	return ok
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

func (a *answers) add(m *mutant) error {
	x := answer{a.key(m), m.state, m.killer}
	if m.state != "killed" && m.state != notGo {
		x.Key += " " + a.tests
	}
	f := try.Must(os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))
	defer f.Close()
	return json.NewEncoder(f).Encode(x)
}
