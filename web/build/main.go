// Command build makes the page of web/ in a folder that works from anywhere, a disk
// included: it compiles the door to WebAssembly, packs it into a script (a page that was
// opened from a disk may not fetch files, but may load scripts), and puts the hand-written
// files and the example plans beside it.
//
//	go run ./web/build [folder]    from the root of the repository; the folder is web/dist if not given
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	to := filepath.Join("web", "dist")
	if len(os.Args) > 1 {
		to = os.Args[1]
	}
	sizes, err := build(".", to)
	if err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
	fmt.Printf("%s: open index.html\nmodule: %.2f MB, gzipped %.2f MB\n", to, float64(sizes.module)/1e6, float64(sizes.packed)/1e6)
}

// sizes are those of the WebAssembly module, in bytes.
type sizes struct{ module, packed int }

// pages are the hand-written files that are copied as they are.
var pages = []string{"index.html", "style.css", "copy.js", "app.js"}

// build makes the page in the folder to, from the repository at root.
func build(root, to string) (s sizes, err error) {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return s, err
	}
	module, err := compile(root)
	if err != nil {
		return s, err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return s, err
	}
	if _, err := z.Write(module); err != nil {
		return s, err
	}
	if err := z.Close(); err != nil {
		return s, err
	}
	worker, err := workerText(root)
	if err != nil {
		return s, err
	}
	if err := script(to, "engine.js", "accountantEngine", map[string]string{
		"module": base64.StdEncoding.EncodeToString(packed.Bytes()), "worker": worker}); err != nil {
		return s, err
	}
	plans, err := examples(root)
	if err != nil {
		return s, err
	}
	if err := script(to, "examples.js", "accountantExamples", plans); err != nil {
		return s, err
	}
	for _, name := range pages {
		data, err := os.ReadFile(filepath.Join(root, "web", name))
		if err != nil {
			return s, err
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o666); err != nil {
			return s, err
		}
	}
	return sizes{len(module), packed.Len()}, nil
}

// compile returns the door as a WebAssembly module.
func compile(root string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "web")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "engine.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, "./web")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build ./web: %w", err)
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
	second, err := os.ReadFile(filepath.Join(root, "web", "worker.js"))
	return string(first) + "\n" + string(second), err
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
