package model_test

import (
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// built is a trace of one thread that a test writes.
type built struct {
	device  int64
	records []storage.Record
	at      time.Duration
	n       int64
}

func newTrace(device int64) *built { return &built{device: device} }

// add appends an I/O so many milliseconds after the one before; the first one is at 0.
func (b *built) add(ms float64, op storage.Op, offset, size int64) {
	if b.n > 0 {
		b.at += time.Duration(ms * float64(time.Millisecond))
	}
	b.records = append(b.records, storage.Record{At: b.at, Op: op, Offset: offset, Bytes: size})
	b.n++
}

// counted counts a trace's transitions.
func counted(t testing.TB, b *built, o model.Options) *model.Fitted {
	t.Helper()
	survey := model.NewSurvey()
	for i := range b.records {
		survey.Add(&b.records[i])
	}
	f, err := model.NewFitter(survey, survey.Layout(b.device), o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.records {
		if err := f.Add(&b.records[i]); err != nil {
			t.Fatal(err)
		}
	}
	fitted, err := f.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return fitted
}

// fit makes the model of a trace, which must be one that can be walked.
func fit(t testing.TB, b *built, o model.Options) *model.Model {
	t.Helper()
	fitted := counted(t, b, o)
	m, err := fitted.Model(fitted.Levels())
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	return m
}
