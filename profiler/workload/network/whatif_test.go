package network

import (
	"errors"
	"math"
	"testing"
)

// A cluster of n times the servers has n times the traffic, and every server the load
// of the one it copies.
func TestScaledModelKeepsTheLoadOfEveryServer(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	large, err := m.Scale(3)
	if err != nil {
		t.Fatal(err)
	}
	if large.Topology.Servers() != 3*m.Topology.Servers() || large.Topology.Groups() != 3*m.Topology.Groups() {
		t.Fatalf("%s", large.Topology)
	}
	sent, received := m.Expected()
	largeSent, largeReceived := large.Expected()
	for i := range largeSent {
		s := i % m.Topology.Servers()
		if math.Abs(largeSent[i]-sent[s]) > 1e-6*sent[s] || math.Abs(largeReceived[i]-received[s]) > 1e-6*received[s] {
			t.Errorf("server %d: %g and %g, want %g and %g", i, largeSent[i], largeReceived[i], sent[s], received[s])
		}
	}
	span := Span{To: week, Bin: bin}
	small, err := m.Generate(t.Context(), Generation{Span: span, Seed: 1, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	made, err := large.Generate(t.Context(), Generation{Span: span, Seed: 1, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if ratio := float64(len(made.Records())) / float64(len(small.Records())); math.Abs(ratio-3) > 0.1 {
		t.Errorf("%.3f times as many messages, want 3", ratio)
	}
	if _, err := m.Scale(0); !errors.Is(err, ErrGenerate) {
		t.Errorf("0 times: %v", err)
	}
}

func TestMix(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	sums := func(m *Model) (rack, far, reads, all float64) {
		for _, c := range m.Chains {
			for _, p := range c.Pairs {
				for _, f := range p.Features {
					all += f.Bytes
					if p.Level == ServerLevel {
						rack += f.Bytes
					} else if p.Level == GroupLevel {
						far += f.Bytes
					}
					if f.Direction == Read {
						reads += f.Bytes
					}
				}
			}
		}
		return rack, far, reads, all
	}
	rack, far, reads, all := sums(m)
	x := Unchanged()
	x.OtherGroup = 4
	more, err := m.WithMix(x)
	if err != nil {
		t.Fatal(err)
	}
	if gotRack, gotFar, _, _ := sums(more); gotRack != rack || math.Abs(gotFar-4*far) > 1e-6*far {
		t.Errorf("within racks %g of %g, between groups %g of %g", gotRack, rack, gotFar, far)
	}
	x = Unchanged()
	x.Reads = 0
	none, err := m.WithMix(x)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, gotReads, gotAll := sums(none); gotReads != 0 || math.Abs(gotAll-(all-reads)) > 1e-6*all || reads == 0 {
		t.Errorf("%g bytes read of %g, %g in all of %g", gotReads, reads, gotAll, all)
	}
	same, err := m.WithMix(Unchanged())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, got := sums(same); got != all {
		t.Errorf("unchanged, %g bytes of %g", got, all)
	}
	x.SameRack = math.Inf(1)
	if _, err := m.WithMix(x); !errors.Is(err, ErrGenerate) {
		t.Errorf("infinitely more: %v", err)
	}
}

func TestGenerateRefusesASpan(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	for _, s := range []Span{{To: day}, {Bin: bin}, {From: day, To: day, Bin: bin}, {To: day + 1, Bin: bin}} {
		if _, err := m.Generate(t.Context(), Generation{Span: s, Workers: 1}); !errors.Is(err, ErrGenerate) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
