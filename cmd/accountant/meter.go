package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/dpaccountant/accountant/cmd/print"
	"github.com/dpaccountant/accountant/cmd/service"
)

// meterDelay is how long a computation takes before its progress is shown.
const meterDelay = time.Second

// A meter shows how far a computation is: a bar with the time left, or a spinner
// with the time gone where the number of parts is not known. It shows nothing in
// the first second, and leaves nothing behind. A nil meter shows nothing.
type meter struct {
	what, more  string
	w           io.Writer
	now         func() time.Time
	start, open time.Time // nothing is shown before it is open
	unit        []progressbar.Option
	quit        chan struct{}

	mu          sync.Mutex
	bar         *progressbar.ProgressBar
	shown, over bool
	done, total int       // total is 0 for a spinner
	last        time.Time // when done changed
}

// addProgress defines the flag --progress.
func addProgress(cmd *cobra.Command, to *string) {
	*to = "auto"
	addChoice(cmd, to, "progress", "show progress on standard error: auto (on a terminal), on or off", "auto", "on", "off")
}

// startMeter returns a meter on standard error: with "auto" if that is a terminal, since somebody waits also where
// the answer goes to a file or a pipe; with "on" one that shows at once, wherever that goes; with "off" none. Stop must be
// called before anything is printed.
func startMeter(cmd *cobra.Command, progress, what string) *meter {
	w := cmd.ErrOrStderr()
	switch {
	case progress == "on":
		return newMeter(w, what, time.Now, 0)
	case progress == "auto" && print.IsTerminal(w):
		m := newMeter(w, what, time.Now, meterDelay)
		go m.animate()
		return m
	}
	return nil
}

func newMeter(w io.Writer, what string, now func() time.Time, delay time.Duration) *meter {
	m := &meter{what: what, w: w, now: now, start: now(), open: now().Add(delay), quit: make(chan struct{})}
	m.restart(0)
	return m
}

func (m *meter) restart(total int) {
	m.total = total
	options := []progressbar.Option{
		progressbar.OptionSetWriter(m.w), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30),
		// The library's estimate of the time left suits many equal parts, not few.
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false),
		progressbar.OptionShowDescriptionAtLineEnd(),
	}
	if total == 0 {
		total = -1
		options = append(options, progressbar.OptionSpinnerType(14), progressbar.OptionSetSpinnerChangeInterval(0), progressbar.OptionSetElapsedTime(false))
	} else {
		options = append(options, progressbar.OptionShowCount())
	}
	m.bar = progressbar.NewOptions(total, append(options, m.unit...)...)
}

// show tells that a number of parts are done, or says more about what is going on.
func (m *meter) show(p service.Progress) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p.Total == 1 {
		p.Done, p.Total = 0, 0 // a bar would not move
	}
	switch {
	case p.Note != "":
		m.more = ", " + p.Note
	case p.Total != m.total:
		m.clear()
		m.restart(p.Total)
		fallthrough
	default:
		m.done, m.last = p.Done, m.now()
	}
	m.draw()
}

// clear removes what is shown.
func (m *meter) clear() {
	if m.shown {
		_ = m.bar.Clear()
	}
}

// draw shows the state, if it is time; the caller holds the lock.
func (m *meter) draw() {
	if m.over || m.now().Before(m.open) {
		return
	}
	if m.shown = true; m.total > 0 {
		_ = m.bar.Set(m.done)
	}
	text := m.what + m.more
	switch {
	case m.total == 0:
		if m.done > 0 {
			text += fmt.Sprintf(", step %d", m.done)
		}
		text += fmt.Sprintf(", %v", m.now().Sub(m.start).Truncate(time.Second))
	case m.done > 0:
		each := m.last.Sub(m.start) / time.Duration(m.done)
		left := each*time.Duration(m.total-m.done) - m.now().Sub(m.last)
		if left = left.Round(time.Second); left > 0 {
			text += fmt.Sprintf(", %v left", left)
		}
	}
	m.bar.Describe(text)
}

// inBytes has parts be bytes.
func (m *meter) inBytes() {
	if m != nil {
		m.unit = []progressbar.Option{progressbar.OptionShowBytes(true)}
	}
}

// animate keeps the clock running until stop.
func (m *meter) animate() {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-m.quit:
			return
		case <-tick.C:
			m.mu.Lock()
			m.draw()
			m.mu.Unlock()
		}
	}
}

// stop removes what is shown.
func (m *meter) stop() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.quit)
	m.clear()
	m.over = true
}
