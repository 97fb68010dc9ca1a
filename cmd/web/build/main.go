// Command build makes the page of cmd/web in a folder that works from anywhere, a disk included. It
// compiles the engine to WebAssembly and packs it into a script. (A page opened from a disk may
// load scripts, but not fetch files.) Beside them it puts the hand-written files, the example plans
// and the schema of plans.
//
//	go run ./cmd/web/build [folder]    from the root of the repository; the folder is cmd/web/dist if not given
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	text "github.com/dpaccountant/accountant/plan"
)

func main() {
	to := dist
	if len(os.Args) > 1 {
		to = os.Args[1]
	}
	s, err := build(".", to)
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: open index.html\n", to)
	fmt.Printf("module %.2f MB, packed (%s) %.2f MB\n", float64(s.module)/1e6, s.format, float64(s.packed)/1e6)
}

// dist is where the page goes by default: git ignores it.
var dist = filepath.Join("cmd", "web", "dist")

// A size is that of the WebAssembly module, in bytes, and how it is packed.
type size struct {
	module, packed int
	format         string
}

// pages are the files that are copied as they are.
var pages = []string{"index.html", "style.css", "copy.js", "complete.js", "fields.js", "app.js"}

// build makes the page in the folder to, from the repository at root.
func build(root, to string) (s size, err error) {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return s, err
	}
	if s, err = engine(root, to); err != nil {
		return s, err
	}
	worker, err := workerText(root)
	if err != nil {
		return s, err
	}
	plans, err := examples(root)
	if err != nil {
		return s, err
	}
	err = errors.Join(script(to, "engine-worker.js", "accountantWorker", worker), script(to, "schema.js", "accountantSchema", json.RawMessage(text.Schema())),
		script(to, "examples.js", "accountantExamples", plans))
	if err != nil {
		return s, err
	}
	for _, name := range pages {
		data, err := os.ReadFile(filepath.Join(root, "cmd", "web", name))
		if err != nil {
			return s, err
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o666); err != nil {
			return s, err
		}
	}
	return s, nil
}

// engine writes engine.js, the script of the module.
func engine(root, to string) (s size, err error) {
	module, err := compile(root)
	if err != nil {
		return s, err
	}
	if stripped, err := strip(module); err == nil {
		module = stripped
	} else {
		fmt.Fprintln(os.Stderr, "build: stack traces stay in the module:", err)
	}
	packed, format, err := pack(module)
	if err != nil {
		return s, err
	}
	return size{len(module), len(packed), format}, script(to, "engine.js", "accountantEngine", map[string]string{
		"module": base64.StdEncoding.EncodeToString(packed), "packing": format})
}

// inlined are the packages in whose inner loops a call costs much. Everywhere else functions are
// not inlined (-l), which makes the module a tenth smaller. It changes no answer: Go rounds every
// operation on WebAssembly alike, inlined or not.
var inlined = []string{
	"math", "math/bits", "math/cmplx", "runtime", "internal/runtime/...",
	"gonum.org/v1/gonum/mathext/...", "gonum.org/v1/gonum/dsp/fourier/...", "gonum.org/v1/gonum/internal/asm/f64",
	"github.com/dpaccountant/accountant/internal/transform", "github.com/dpaccountant/accountant/internal/xmath",
	"github.com/dpaccountant/accountant/fourier/internal/...", "github.com/dpaccountant/accountant/internal/positive",
	"github.com/dpaccountant/accountant/pld", "github.com/dpaccountant/accountant/profiles",
}

// compile returns the engine as a WebAssembly module, without what debuggers need.
func compile(root string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "web")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "engine.wasm")
	args := []string{"build", "-trimpath", "-ldflags", "-s -w", "-gcflags=all=-l"}
	for _, fast := range inlined {
		args = append(args, "-gcflags="+fast+"=")
	}
	cmd := exec.Command("go", append(args, "-o", out, "./cmd/web")...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build ./cmd/web: %w", err)
	}
	return os.ReadFile(out)
}

// workerText is the script of the worker: what the Go distribution needs to run a module,
// then ours.
func workerText(root string) (string, error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	first, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(goroot)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return "", err
	}
	text := string(first)
	for _, name := range []string{"unpack.js", "worker.js"} {
		ours, err := os.ReadFile(filepath.Join(root, "cmd", "web", name))
		if err != nil {
			return "", err
		}
		text += "\n" + string(ours)
	}
	return text, nil
}

// A plan is an example of a plan file.
type plan struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// examples are the plans of examples/ that need no other file.
func examples(root string) (all []plan, err error) {
	paths, err := filepath.Glob(filepath.Join(root, "examples", "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, plan{strings.TrimSuffix(filepath.Base(path), ".yaml"), string(data)})
	}
	return all, nil
}

// script writes a value as a script that sets a global variable.
func script(to, file, variable string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, file), []byte("globalThis."+variable+" = "+string(data)+";\n"), 0o666)
}

// What follows packs a module: by xz as LZMA if that program is installed (cmd/web/unpack.js unpacks
// it), else with gzip, which browsers unpack themselves and which is longer by almost half.

// pack returns the packed module and the name of the format.
func pack(module []byte) (packed []byte, format string, err error) {
	if xz, err := exec.LookPath("xz"); err == nil {
		packed, err = lzma(xz, module)
		return packed, "lzma", err
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, "", err
	}
	if _, err := z.Write(module); err != nil {
		return nil, "", err
	}
	return out.Bytes(), "gzip", z.Close()
}

// lzma runs xz with the settings that pack WebAssembly best, and writes the size into the
// header, where xz leaves it open.
func lzma(xz string, module []byte) ([]byte, error) {
	var complaint bytes.Buffer
	cmd := exec.Command(xz, "--format=lzma", "--lzma1=preset=9e,pb=0", "--stdout")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(module), &complaint
	packed, err := cmd.Output()
	if err != nil || len(packed) < 18 {
		return nil, fmt.Errorf("xz: %v %s", err, complaint.Bytes())
	}
	binary.LittleEndian.PutUint64(packed[5:], uint64(len(module)))
	return packed, nil
}
