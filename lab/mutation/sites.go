package main

// What can be wrong in a file. It assumes that the file is formatted and compiles; it returns mutants that may
// not compile, which the build finds out.

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/dpaccountant/accountant/lab/try"
)

// A mutant is one thing wrong.
type mutant struct {
	id            int32  // its switch, from 1; 0 is none
	name          string // the same as long as its line and function are
	pkg, file, fn string
	clause        string // the name of its package
	body          string // of the function
	line          int
	operator      string // what kind of wrong
	was, is       string // the span's text, before and after
	span          span
	condition     bool // the span is a condition, else a statement
	define        bool // the statement is a := …, and is with = is set after it
	state         string
	killer        string
}

type span struct{ from, to int }

func (s span) overlaps(t span) bool { return s.from < t.to && t.from < s.to }

// bears says by words whether a function carries a bound: its comment, name or text names one, or rounding.
var (
	aboutBound = regexp.MustCompile(`(?i)\b(bounds?|upper|lower|above|below|dominat\w*|errors?|round\w*|outward|certif\w*|prove[ds]?|at most|at least|safe side|never (less|more))\b`)
	inBound    = regexp.MustCompile(`xmath\.(U|Up|Down|RoundUp|ExpUp|ExpDown|Finite|ComplementErr)\b|\b(slack|[lL]ogErr|[eE]rr[A-Z]\w*|\w+Err)\b|\bUpper\b|\bLower\b|0x1p-[45]\d`)
	noBound    = regexp.MustCompile(`(?i)\b(rough\w*|guess\w*|estimate[sd]?|heuristic\w*|without a bound|about how|work limit|sketch\w*|cost|cheap\w*|aim|String)\b`)
	steers     = regexp.MustCompile(`(?i)proves? nothing|nothing here (is|proves)|any choice is\s+(//\s*)?sound|quick values|returns\s+(//\s*)?approximations|meant to be cheap|a sketch of|expected to be shortest|how a step is adapted`)
	noLine     = regexp.MustCompile(`fault\.|fmt\.|errors\.|meter\.|\bpanic\(|\.work|\bctx\b|\bStop\b|slices\.Grow|\bmake\(|\bnil\b`)
	errorWord  = regexp.MustCompile(`(?i)xmath\.U\b|err\b|slack|round|ulp|quadrature|0x1p-[3-9]\d|1e-1\d`)
)

func bears(fn *ast.FuncDecl, text []byte) bool {
	doc := fn.Name.Name + " " + fn.Doc.Text()
	return !noBound.MatchString(doc) && (aboutBound.MatchString(doc) || inBound.Match(text))
}

// sites returns the mutants of one file.
func sites(root, path string, src []byte) (all []mutant) {
	fset := token.NewFileSet()
	f := try.Must(parser.ParseFile(fset, path, src, parser.ParseComments|parser.SkipObjectResolution))
	rel := filepath.ToSlash(try.Must(filepath.Rel(root, path)))
	if top := src[:min(len(src), 1500)]; steers.Match(top) { // what steers a search is no bound
		return nil
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || !bears(fn, src[at(fn.Body.Pos()):at(fn.Body.End())]) {
			continue
		}
		v := &visitor{src: src, at: at, add: func(m mutant) {
			m.pkg, m.clause, m.file, m.fn = filepath.ToSlash(filepath.Dir(rel)), f.Name.Name, rel, name(fn)
			m.body = string(src[at(fn.Pos()):at(fn.End())])
			m.line = fset.Position(f.FileStart).Line + bytes.Count(src[:m.span.from], []byte("\n"))
			all = append(all, m)
		}}
		v.look(fn.Body)
	}
	seen := map[string]int{}
	for i := range all {
		m := &all[i]
		key := strings.Join([]string{m.file, m.fn, m.operator, m.was, m.is}, "\x00")
		seen[key]++
		m.name = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, seen[key])))[:8]
	}
	return all
}

func name(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	of, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*"), "[")
	return of + "." + fn.Name.Name
}

type visitor struct {
	src []byte
	at  func(token.Pos) int
	add func(mutant)
}

// look goes through the statements and conditions of a function, and of the functions in its statements. What stands before a
// condition in the head of a statement, behind a label, or is run by another goroutine or later is left alone.
func (v *visitor) look(body *ast.BlockStmt) {
	leave, asks := map[ast.Node]bool{}, map[ast.Node]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if leave[n] {
			return false
		}
		switch n := n.(type) {
		case *ast.AssignStmt, *ast.ReturnStmt, *ast.ExprStmt, *ast.IncDecStmt:
			v.wrongs(n)
		case *ast.IfStmt:
			leave[n.Init], leave[n.Cond] = true, true
			v.wrongs(n.Cond)
			v.earlyReturn(n)
		case *ast.ForStmt:
			leave[n.Init], leave[n.Cond], leave[n.Post] = true, true, true
			if n.Cond != nil {
				v.wrongs(n.Cond)
			}
		case *ast.SwitchStmt:
			leave[n.Init] = true
			for _, c := range n.Body.List {
				asks[c] = n.Tag == nil
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				if leave[e] = true; asks[n] {
					v.wrongs(e)
				}
			}
		case *ast.TypeSwitchStmt:
			leave[n.Init], leave[n.Assign] = true, true
		case *ast.DeclStmt, *ast.DeferStmt, *ast.GoStmt, *ast.LabeledStmt, *ast.SelectStmt:
			return false
		}
		return true
	})
}

// earlyReturn makes the mutant of a condition for a return that never holds.
func (v *visitor) earlyReturn(s *ast.IfStmt) {
	if n := len(s.Body.List); n > 0 && s.Else == nil && !noLine.MatchString(v.text(s)) {
		if _, ok := s.Body.List[n-1].(*ast.ReturnStmt); ok {
			v.add(mutant{operator: "early return", was: v.text(s.Cond), is: "false && (" + v.text(s.Cond) + ")", span: v.span(s.Cond), condition: true})
		}
	}
}

func (v *visitor) span(n ast.Node) span { return span{v.at(n.Pos()), v.at(n.End())} }

func (v *visitor) text(n ast.Node) string { s := v.span(n); return string(v.src[s.from:s.to]) }

// wrongs makes the mutants of a statement or condition.
func (v *visitor) wrongs(whole ast.Node) {
	if noLine.MatchString(v.text(whole)) {
		return
	}
	sp := v.span(whole)
	_, condition := whole.(ast.Expr)
	a, _ := whole.(*ast.AssignStmt)
	replace := func(operator string, from, to int, text string) {
		m := mutant{operator: operator, was: v.text(whole), span: sp, condition: condition, define: a != nil && a.Tok == token.DEFINE}
		m.is = string(v.src[sp.from:from]) + text + string(v.src[to:sp.to])
		if m.define {
			op := v.at(a.TokPos) - sp.from // nothing before := is changed
			m.is = m.is[:op] + "=" + m.is[op+2:]
		}
		v.add(m)
	}
	put := func(operator string, at ast.Node, text string) {
		replace(operator, v.at(at.Pos()), v.at(at.End()), text)
	}
	rounding := errorWord.MatchString(v.text(whole)) // a constant there that is one larger or smaller is no wrong that a test could see
	ast.Inspect(whole, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BinaryExpr:
			v.binary(x, put)
		case *ast.CallExpr:
			if f := v.text(x.Fun); f == "math.IsInf" || f == "math.Inf" {
				return false
			}
			v.call(x, put)
		case *ast.SelectorExpr:
			if v.text(x) == "xmath.U" {
				put("error term", x, "0*xmath.U")
			}
			if to, ok := swapped[x.Sel.Name]; ok {
				put("direction", x.Sel, to)
			}
		case *ast.BasicLit:
			if rounding {
				return true
			}
			if x.Kind == token.INT {
				put("constant", x, "("+x.Value+"+1)")
				put("constant", x, "("+x.Value+"-1)")
			} else if x.Kind == token.FLOAT {
				put("constant", x, "("+x.Value+"+1)")
			}
		case *ast.AssignStmt:
			if to, ok := map[token.Token]string{token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+="}[x.Tok]; ok {
				op := v.at(x.TokPos)
				replace("sign", op, op+2, to)
				if rhs := v.text(x.Rhs[0]); errorWord.MatchString(rhs) {
					replace("error term", op, v.at(x.End()), "+= 0*("+rhs+")")
				}
			}
		}
		return true
	})
}

var swapped = map[string]string{
	"P": "Q", "Q": "P", "Upper": "Lower", "Lower": "Upper", "Up": "Down", "Down": "Up", "ExpUp": "ExpDown", "ExpDown": "ExpUp",
	"LogP": "LogQ", "LogQ": "LogP", "Ceil": "Floor", "Floor": "Ceil", "Add": "Remove", "Remove": "Add", "Lo": "Hi", "Hi": "Lo",
	"LogTailP": "LogTailQ", "LogTailQ": "LogTailP", "lo": "hi", "hi": "lo", "upper": "lower", "lower": "upper", "logP": "logQ", "logQ": "logP",
}

type putter func(operator string, at ast.Node, text string)

func (v *visitor) binary(x *ast.BinaryExpr, put putter) {
	l, r := v.text(x.X), v.text(x.Y)
	turned := map[token.Token][]string{
		token.LSS: {"<=", ">="}, token.LEQ: {"<", ">"}, token.GTR: {">=", "<="}, token.GEQ: {">", "<"},
		token.EQL: {"!="}, token.NEQ: {"=="},
	}
	for _, op := range turned[x.Op] {
		if l != "nil" && r != "nil" {
			put("comparison", x, l+" "+op+" "+r)
		}
	}
	switch x.Op {
	case token.ADD:
		put("sign", x, l+" - ("+r+")")
		if errorWord.MatchString(r) {
			put("error term", x, "("+l+")")
		} else if errorWord.MatchString(l) {
			put("error term", x, "("+r+")")
		}
	case token.SUB:
		put("sign", x, l+" + ("+r+")")
		if errorWord.MatchString(r) {
			put("error term", x, "("+l+")")
		}
	case token.MUL:
		if errorWord.MatchString(r) && strings.Contains(r, "1+") {
			put("error term", x, "("+l+")")
		}
	}
}

func (v *visitor) call(x *ast.CallExpr, put putter) {
	arg := func(i int) string { return v.text(x.Args[i]) }
	switch f := v.text(x.Fun); {
	case f == "max" && len(x.Args) > 1:
		put("direction", x.Fun, "min")
	case f == "min" && len(x.Args) > 1:
		put("direction", x.Fun, "max")
	case (f == "xmath.Up" || f == "xmath.Down" || f == "xmath.RoundUp") && len(x.Args) == 2:
		put("error term", x, "("+arg(0)+")")
	case (f == "math.Ceil" || f == "math.Floor") && len(x.Args) == 1:
		put("direction", x.Fun, map[string]string{"math.Ceil": "math.Floor", "math.Floor": "math.Ceil"}[f])
	}
}
