package network

import "testing"

// BenchmarkFitCluster fits the ten windows of 48 × 100 servers to a week of
// 5-minute bins on two cores. Targets: 60 s, and a file below 50 MB.
func BenchmarkFitCluster(b *testing.B) {
	cluster, err := NewSynthetic(DefaultSynthetic(1))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		m, err := Fit(b.Context(), Part(cluster, 0, week), DefaultFit())
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		size, err := m.Bytes()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(size)/1e6, "MB-file")
		b.ReportMetric(float64(m.Transitions()), "transitions")
		b.StartTimer()
	}
}

// BenchmarkGenerate generates a day of 48 × 10 servers.
func BenchmarkGenerate(b *testing.B) {
	o := DefaultSynthetic(1)
	o.Groups, o.RacksPerGroup = 5, 2
	cluster, err := NewSynthetic(o)
	if err != nil {
		b.Fatal(err)
	}
	m, err := Fit(b.Context(), Part(cluster, 0, week), DefaultFit())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		err := m.Each(b.Context(), Generation{Span: Span{To: day, Bin: bin}, Seed: 1, Workers: 2}, func() func(Record) { return func(Record) {} })
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFitCurve(b *testing.B) {
	c := webmailCurve(5, 1)
	for b.Loop() {
		if _, err := FitCurve(c); err != nil {
			b.Fatal(err)
		}
	}
}
