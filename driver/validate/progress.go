package validate

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
)

// progress shows how far a run is.
type progress interface {
	note(text string)
	plan(all, todo []cell)
	begin(c cell)
	end(c cell, took time.Duration, failure error)
	close()
}

// lineEvery is how often a line is written where there is no terminal.
const lineEvery = 10 * time.Second

// reporter writes a bar on a terminal, and lines elsewhere.
type reporter struct {
	out     io.Writer
	now     func() time.Time
	bar     *progressbar.ProgressBar // nil off a terminal
	started time.Time
	spoke   time.Time
	stage   stage

	all, done int           // cells
	left      time.Duration // expected of the cells to do
	expected  time.Duration // of those measured now
	took      time.Duration // by those
}

func newReporter(out io.Writer, now func() time.Time) *reporter {
	r := &reporter{out: out, now: now, started: now()}
	if file, ok := out.(*os.File); ok && isatty.IsTerminal(file.Fd()) {
		r.bar = progressbar.NewOptions(1, progressbar.OptionSetWriter(out), progressbar.OptionSetWidth(24),
			progressbar.OptionSetPredictTime(false), progressbar.OptionUseANSICodes(true), progressbar.OptionClearOnFinish())
	}
	return r
}

func (r *reporter) note(text string) {
	if r.bar != nil {
		_ = r.bar.Clear() // a bar that cannot be drawn stops nothing
	}
	fmt.Fprintf(r.out, "[%4.0fs] %s\n", r.now().Sub(r.started).Seconds(), text)
}

func (r *reporter) plan(all, todo []cell) {
	r.all, r.done = len(all), len(all)-len(todo)
	for _, c := range todo {
		r.left += c.expect
	}
	if r.done > 0 {
		r.note(fmt.Sprintf("%d of %d cells are measured already", r.done, r.all))
	}
	if r.bar != nil {
		r.bar.ChangeMax(r.all)
	}
}

func (r *reporter) begin(c cell) {
	text := fmt.Sprintf("%s, %d of %d, about %s to go", c.title, r.done+1, r.all, r.remaining())
	if r.bar != nil {
		r.bar.Describe(text)
		_ = r.bar.Set(r.done) // see note
		return
	}
	if now := r.now(); c.stage != r.stage || now.Sub(r.spoke) >= lineEvery {
		r.note(text)
		r.spoke, r.stage = now, c.stage
	}
}

func (r *reporter) end(c cell, took time.Duration, failure error) {
	r.done++
	r.left -= c.expect
	r.expected += c.expect
	r.took += took
	if failure != nil {
		r.note(fmt.Sprintf("%s: %v", c.title, failure))
	}
}

// remaining is what is expected of the rest, times how far expectations were
// off so far.
func (r *reporter) remaining() time.Duration {
	factor := 1.0
	if r.expected > 5*time.Second {
		factor = r.took.Seconds() / r.expected.Seconds()
	}
	return time.Duration(factor * float64(r.left)).Round(time.Second)
}

func (r *reporter) close() {
	if r.bar != nil {
		_ = r.bar.Clear() // see note
	}
}
