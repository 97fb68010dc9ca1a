package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A browser is a headless Chromium that is driven over a pair of pipes by its DevTools
// protocol: JSON messages that end in a zero byte.
type browser struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	session string
	last    int
}

// browse starts Chromium with an empty page.
func browse(t *testing.T) *browser {
	t.Helper()
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// The test may run as root in a container, where Chromium has no sandbox; the page is ours.
	cmd := exec.Command("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // become 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil)
		cmd.Wait()
		in.Close()
		out.Close()
	})
	deadline := time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() { deadline.Stop() })
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})["targetId"]
	b.session = b.call("Target.attachToTarget", map[string]any{"targetId": target, "flatten": true})["sessionId"].(string)
	b.call("Page.enable", nil)
	return b
}

// call sends a command and returns its result, whatever events come before it.
func (b *browser) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.last++
	message := map[string]any{"id": b.last, "method": method, "params": params}
	if params == nil {
		message["params"] = map[string]any{}
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	data, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(data, 0)); err != nil {
		b.t.Fatal(method, err)
	}
	for {
		line, err := b.out.ReadBytes(0)
		if err != nil {
			b.t.Fatal(method, err)
		}
		var answer struct {
			ID     int
			Result map[string]any
			Error  any
		}
		if err := json.Unmarshal(line[:len(line)-1], &answer); err != nil {
			b.t.Fatal(err)
		}
		if answer.ID != b.last {
			continue
		}
		if answer.Error != nil {
			b.t.Fatal(method, answer.Error)
		}
		return answer.Result
	}
}

// eval returns the value of an expression as text.
func (b *browser) eval(expression string) string {
	b.t.Helper()
	r := b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true})
	if r["exceptionDetails"] != nil {
		b.t.Fatalf("%s: %v", expression, r["exceptionDetails"])
	}
	return fmt.Sprint(r["result"].(map[string]any)["value"])
}

// until waits for a condition in the page.
func (b *browser) until(condition string) {
	b.t.Helper()
	for range 600 {
		if b.eval("Boolean("+condition+")") == "true" {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.t.Fatalf("it never becomes true that %s\nengine: %s\npage: %s", condition, b.eval(`document.getElementById("engine").textContent`), b.eval("document.body.innerText"))
}

// set changes a field as a person does.
func (b *browser) set(selector, value string) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`{ const e = document.querySelector(%q); e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})); 0 }`, selector, value))
}

// picture writes a screenshot into the folder SCREENSHOTS, if that is set.
func (b *browser) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	r := b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true})
	data, err := base64.StdEncoding.DecodeString(r["data"].(string))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), data, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// TestChromium: the page from a disk answers, points at mistakes, draws, compares,
// calibrates, and keeps the plan in its address; and fits a telephone.
func TestChromium(t *testing.T) {
	dist := built(t, "chromium")
	b := browse(t)
	size := func(width, height int) {
		b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
	}
	size(1000, 1300)
	page := "file://" + filepath.ToSlash(dist) + "/index.html"
	start := time.Now()
	b.call("Page.navigate", map[string]any{"url": page})
	answered := `document.querySelector("#training-answer")?.textContent.includes("≤ ε ≤")`
	b.until(answered)
	t.Logf("first answer after %v", time.Since(start).Round(time.Millisecond))
	if got := b.eval(`document.getElementById("training-answer").textContent`); !strings.Contains(got, "2.38168972 ≤ ε ≤ 2.38168973") {
		t.Errorf("the first answer is %s", got)
	}
	if got := b.eval(`document.getElementById("statement").textContent`); !strings.Contains(got, "PRIVACY STATEMENT") {
		t.Errorf("the statement is %q", got)
	}
	b.picture("training")

	set := b.set
	set(`[name="noise-multiplier"]`, "-1")
	b.until(`document.querySelector('[name="noise-multiplier"]').getAttribute("aria-invalid") === "true"`)
	set(`[name="noise-multiplier"]`, "1.2")
	b.until(answered + ` && document.getElementById("training-answer").textContent.includes("2.0639")`)
	b.eval(`document.getElementById("batchings").click()`)
	b.until(`document.querySelectorAll("#training-more tr").length > 5 && !document.getElementById("training-more").textContent.includes("…")`)
	b.picture("batchings")

	b.eval(`document.querySelector("#training [data-open]").click()`)
	planned := `document.querySelector("#plan-answer")?.textContent.includes("2.0639")`
	b.until(planned)
	if got := b.eval(`document.getElementById("plan-answer").textContent`); !strings.Contains(got, "add-remove") {
		t.Errorf("the answer for a plan is %s", got)
	}
	for button, shown := range map[string]string{`[data-draw="delta"]`: "#plan-more svg polyline", "#compare": "#plan-more td", "#calibrate-form button": "#plan-more p"} {
		b.eval(fmt.Sprintf(`{ document.getElementById("plan-more").replaceChildren(); document.querySelector(%q).click(); 0 }`, button))
		b.until(fmt.Sprintf(`document.querySelector(%q)`, shown))
		b.picture(strings.Trim(strings.NewReplacer("#", "", "[", "", "]", "", `"`, "", "=", "-", " ", "-").Replace(button), "-"))
	}
	address := b.eval("location.href")
	set("#text", "neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {sigma: 1}}\n")
	b.until(`document.querySelector("#lines b")?.textContent.trim() === "3" && document.getElementById("plan-error").textContent.includes("line 3")`)
	b.picture("error")

	// What can stand at the cursor is listed, and taken by a key.
	b.eval(`{ const e = document.getElementById("text"); e.focus(); e.value = "nei"; e.setSelectionRange(3, 3); e.dispatchEvent(new Event("input", {bubbles: true})); 0 }`)
	b.until(`document.querySelector("#choices:not([hidden]) [aria-selected=true]")?.textContent === "neighbors"`)
	b.picture("choices")
	b.eval(`{ document.getElementById("text").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", bubbles: true, cancelable: true})); 0 }`)
	b.until(`document.getElementById("text").value === "neighbors: " && document.getElementById("choices").hidden`)

	// The address carries the plan to a telephone in the dark.
	size(360, 740)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": "dark"}}})
	b.call("Page.navigate", map[string]any{"url": "about:blank"})
	b.call("Page.navigate", map[string]any{"url": address})
	b.until(planned)
	if got := b.eval("document.documentElement.scrollWidth"); got != "360" {
		t.Errorf("on a telephone of 360 pixels the page is %s wide", got)
	}
	if got := b.eval(`[...document.querySelectorAll("input, select, textarea, button")].filter((e) => !e.labels?.length && !e.textContent.trim()).length`); got != "0" {
		t.Errorf("%s controls have no name", got)
	}
	b.picture("telephone")
}

// recordFrames is a script that keeps what the page shows at each frame, beside the values of the fields.
const recordFrames = `globalThis.frames_ = []; (function frame() {
	const value = (selector) => document.querySelector(selector).value;
	const text = (...ids) => ids.map((id) => document.getElementById(id).textContent).join(" ");
	const seen = JSON.stringify({
		batching: value('[name="batching"]'), noise: value('[name="noise-multiplier"]'), solve: value('[name="solve"]'), plan: value("#text"), delta: value("#plan-form [name=delta]"),
		training: text("training-answer", "statement"), table: text("training-more"), answer: text("plan-answer"), more: text("plan-more"),
	});
	if (frames_.at(-1) !== seen) frames_.push(seen);
	requestAnimationFrame(frame);
})(); 0`

// TestChromiumFrames: no frame shows an answer, a statement, a table or a picture of other settings than
// the fields have.
func TestChromiumFrames(t *testing.T) {
	dist := built(t, "chromium")
	b := browse(t)
	b.call("Page.navigate", map[string]any{"url": "file://" + filepath.ToSlash(dist) + "/index.html"})
	b.until(`document.getElementById("training-answer")?.textContent.includes("≤ ε ≤")`)
	type frame struct{ Batching, Noise, Solve, Plan, Delta, Training, Table, Answer, More string }
	frames := func() []frame {
		var texts []string
		if err := json.Unmarshal([]byte(b.eval("JSON.stringify(frames_)")), &texts); err != nil {
			t.Fatal(err)
		}
		all := make([]frame, len(texts))
		for i, text := range texts {
			if err := json.Unmarshal([]byte(text), &all[i]); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	// same fails if two frames with other settings show the same text that is an answer.
	same := func(what string, setting, shown func(frame) string) {
		t.Helper()
		of, answers := map[string]string{}, map[string]bool{}
		for _, f := range frames() {
			text := shown(f)
			if !strings.ContainsAny(text, "0123456789") {
				continue
			}
			answers[text] = true
			if s, ok := of[text]; ok && s != setting(f) {
				t.Errorf("%s: with %q a frame shows the answer for %q: %.200s", what, setting(f), s, text)
				return
			}
			of[text] = setting(f)
		}
		if len(answers) < 2 {
			t.Errorf("%s: %d answers were shown, and none is told from another", what, len(answers))
		}
	}

	// A small run, whose shuffled batches are soon answered too.
	trained := func(batching, noise string) {
		t.Helper()
		b.until(fmt.Sprintf(`trained?.batching === %q && String(trained["noise-multiplier"]) === %q && trained.examples === 1000`, batching, noise))
	}
	b.set(`[name="epochs"]`, "1")
	b.set(`[name="batch-size"]`, "50")
	b.set(`[name="examples"]`, "1000")
	trained("poisson", "1.1")
	b.eval(recordFrames)
	table := func() {
		t.Helper()
		b.eval(`document.getElementById("batchings").click()`)
		full := `!document.getElementById("training-more").textContent.includes("…")`
		b.until(`document.querySelectorAll("#training-more tr").length > 5 && ` + full)
		b.until(`JSON.parse(frames_.at(-1)).table === document.getElementById("training-more").textContent`) // it has been recorded, too
	}
	table()
	b.set(`[name="batching"]`, "shuffle")
	trained("shuffle", "1.1")
	b.eval(`document.getElementById("batchings").click()`) // its table must not come after the next change
	b.set(`[name="batching"]`, "fixed-order")
	trained("fixed-order", "1.1")
	b.set(`[name="noise-multiplier"]`, "4")
	trained("fixed-order", "4")
	table()
	settings := func(f frame) string { return f.Batching + " " + f.Noise }
	same("training", settings, func(f frame) string { return f.Training })
	// The table is about all batchings, whichever the form has.
	same("table", func(f frame) string { return f.Noise }, func(f frame) string { return f.Table })

	b.eval(`document.getElementById("tab-plan").click()`)
	b.eval("frames_.length = 0")
	b.set("#text", "neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 2}}\n")
	b.until(`document.getElementById("plan-answer").textContent.includes("≤ ε ≤")`)
	calibrate := func() {
		t.Helper()
		b.eval(`document.querySelector("#calibrate-form button").click()`)
		b.until(`document.querySelector("#plan-more p")`)
	}
	for _, change := range [][2]string{{"#text", "neighbors: add-remove\nsteps:\n  - mechanism: {gaussian: {noise-multiplier: 3}}\n"}, {"#plan-form [name=delta]", "1e-6"}, {`[name="solve"]`, "count"}} {
		calibrate()
		b.set(change[0], change[1])
		b.until(`document.getElementById("plan-answer").textContent.includes("≤ ε ≤")`)
	}
	calibrate()
	same("plan", func(f frame) string { return f.Plan + f.Delta }, func(f frame) string { return f.Answer })
	same("more", func(f frame) string { return f.Plan + f.Delta + f.Solve }, func(f frame) string { return f.More })
}

// opened is a browser with the page in a window of a size, after its first answer.
func opened(t *testing.T, width, height int, early string) *browser {
	dist := built(t, "chromium")
	b := browse(t)
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
	if early != "" {
		b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": early})
	}
	b.call("Page.navigate", map[string]any{"url": "file://" + filepath.ToSlash(dist) + "/index.html"})
	b.until(`document.getElementById("training-answer")?.textContent.includes("≤ ε ≤")`)
	return b
}

// watchButtons is a script that keeps every place at which a frame shows the buttons.
const watchButtons = `globalThis.places_ = new Set(); (function frame() {
	const buttons = [...document.querySelectorAll("nav button, #training .actions button")];
	if (document.readyState === "complete") places_.add(buttons.map((b) => b.textContent + " " + Math.round(b.getBoundingClientRect().x) + "," + Math.round(b.getBoundingClientRect().y + scrollY)).join("; "));
	requestAnimationFrame(frame);
})(); 0`

// TestChromiumStill: from the first frame on, while the engine starts, the first answer comes and the
// pointer moves over the page, no button moves; nor while another answer is computed.
func TestChromiumStill(t *testing.T) {
	for _, size := range [][2]int{{1000, 900}, {390, 844}} {
		b := opened(t, size[0], size[1], watchButtons)
		for y := 20; y < size[1]; y += 20 {
			b.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": size[0] / 3, "y": y})
		}
		b.set(`[name="noise-multiplier"]`, "1.3")
		b.until(`String(trained?.["noise-multiplier"]) === "1.3"`)
		b.set(`[name="batching"]`, "random-allocation")
		b.until(`trained?.batching === "random-allocation"`)
		if got := b.eval(`[...places_].join("\n")`); strings.Contains(got, "\n") {
			t.Errorf("%v: the buttons were at\n%s", size, got)
		}
	}
}

// TestChromiumTelephone: on a telephone the answer to the form is within the first screen, and so are those
// to statistics and to a plan; a count may have separators.
func TestChromiumTelephone(t *testing.T) {
	b := opened(t, 390, 844, "")
	seen := func(id string) {
		t.Helper()
		if end := b.eval(fmt.Sprintf(`Math.ceil(document.querySelector("#%s div").getBoundingClientRect().bottom + scrollY)`, id)); len(end) > 3 || end > "844" {
			t.Errorf("%s ends %s pixels below the top", id, end)
		} else {
			t.Logf("%s ends %s pixels below the top", id, end)
		}
		if got := b.eval("document.documentElement.scrollWidth"); got != "390" {
			t.Errorf("the page is %s wide", got)
		}
	}
	b.set(`[name="examples"]`, "60,000")
	b.until(`trained?.examples === 60000`)
	seen("training-answer")
	b.picture("telephone-training")
	b.set(`[name="noise-multiplier"]`, "1,100") // no count: is it 1.1, or 1100?
	b.until(`document.querySelector('[name="noise-multiplier"]').getAttribute("aria-invalid") === "true"`)
	b.eval(`document.getElementById("tab-statistics").click()`)
	b.until(`document.getElementById("statistics-answer").textContent.includes("≤ ε ≤")`)
	seen("statistics-answer")
	b.picture("telephone-statistics")
	b.eval(`document.getElementById("tab-plan").click()`)
	b.until(`document.getElementById("plan-answer").textContent.includes("≤ ε ≤")`)
	seen("plan-answer")
	b.picture("telephone-plan")
}

// TestChromiumStatistics: the form of statistics answers as the library does for its plan, says what it
// promises, takes that away at once when a field changes, and hands its plan on.
func TestChromiumStatistics(t *testing.T) {
	b := opened(t, 1000, 1000, "")
	b.eval(`document.getElementById("tab-statistics").click()`)
	answer := `document.getElementById("statistics-answer").textContent`
	b.until(answer + `.includes("≤ ε ≤")`)
	first := b.eval(answer)
	b.picture("statistics")
	stale := func(change string) string {
		return b.eval(fmt.Sprintf(`(() => { %s; return document.getElementById("statistics-answer").textContent + document.getElementById("statistics-statement").textContent; })()`, change))
	}
	if got := stale(`const e = document.querySelector("#statistics-form [name=scale]"); e.value = "40"; e.dispatchEvent(new Event("input", {bubbles: true}))`); got != "" {
		t.Errorf("after a change the page shows %q", got)
	}
	b.until(answer + `.includes("≤ ε ≤") && counted.includes("standard-deviation: 40")`)
	if got := b.eval(answer); got == first {
		t.Errorf("twice the noise has the same answer: %s", got)
	}
	b.set(`[name="statistic"]`, "sums")
	b.until(`document.getElementById("statistics-error").textContent === "largest: is missing"`)
	b.set(`[name="largest"]`, "2")
	b.until(answer + `.includes("≤ ε ≤") && counted.includes("per-partition: 1*2")`)
	b.set(`[name="statistic"]`, "partitions")
	b.set(`[name="threshold"]`, "300")
	b.until(answer + `.includes("≤ ε ≤") && counted.includes("threshold: 300")`)
	if got := b.eval(`document.getElementById("statistics-statement").textContent`); !strings.Contains(got, "only if a person is in it") {
		t.Errorf("the statement is %s", got)
	}
	text := b.eval(answer)
	b.eval(`document.querySelector("#statistics [data-open]").click()`)
	b.until(`document.getElementById("plan-answer").textContent.includes("≤ ε ≤")`)
	if got := b.eval(`document.getElementById("plan-answer").textContent`); !strings.HasPrefix(got, strings.SplitAfter(text, "at δ")[0]) {
		t.Errorf("the plan has %s, the form %s", got, text)
	}
}

// TestChromiumCompare: the table of batchings shows each line when it is known, not all at the end; and the
// ticks of a picture are round.
func TestChromiumCompare(t *testing.T) {
	b := opened(t, 1000, 1000, "")
	b.set(`[name="epochs"]`, "2")
	b.until(`trained?.steps === 469`)
	b.eval(`globalThis.known_ = []; new MutationObserver(() => {
		const known = [...document.querySelectorAll("#training-more td")].filter((c) => c.textContent !== "…").length;
		if (known_.at(-1) !== known) known_.push(known);
	}).observe(document.getElementById("training-more"), { childList: true }); document.getElementById("batchings").click(); 0`)
	b.until(`document.querySelectorAll("#training-more td").length === 12 && ![...document.querySelectorAll("#training-more td")].some((c) => c.textContent === "…")`)
	var known []int
	if err := json.Unmarshal([]byte(b.eval("JSON.stringify(known_)")), &known); err != nil || len(known) < 8 {
		t.Errorf("numbers of cells that were shown: %v, %v", known, err)
	}
	if got := b.eval(`document.querySelector("#training-more tr:nth-child(5)").textContent`); !strings.HasPrefix(got, "shuffle") || !strings.Contains(got, "≤ ε ≤") {
		t.Errorf("the line of shuffle is %s", got)
	}
	b.picture("compared")

	b.eval(`document.querySelector("#training [data-open]").click()`)
	b.until(`document.getElementById("plan-answer").textContent.includes("≤ ε ≤")`)
	for _, kind := range []string{"delta", "steps", "trade-off"} {
		b.eval(fmt.Sprintf(`{ document.getElementById("plan-more").replaceChildren(); document.querySelector('[data-draw="%s"]').click(); 0 }`, kind))
		b.until(`document.querySelector("#plan-more svg polyline")`)
		var labels []string
		if err := json.Unmarshal([]byte(b.eval(`JSON.stringify([...document.querySelectorAll("#plan-more .tick")].map((e) => e.textContent))`)), &labels); err != nil {
			t.Fatal(err)
		}
		if len(labels) < 6 {
			t.Errorf("%s: the ticks are %v", kind, labels)
		}
		for _, label := range labels {
			if !round.MatchString(label) {
				t.Errorf("%s: of the ticks %v, %s is not round", kind, labels, label)
			}
		}
		b.picture("ticks-" + kind)
	}
}

// round matches numbers of at most two digits that are not 0, besides powers of ten.
var round = regexp.MustCompile(`^(0|1e-?\d+|[1-9]\d?0*|0\.0*[1-9]\d?|[1-9]\.\d)$`)
