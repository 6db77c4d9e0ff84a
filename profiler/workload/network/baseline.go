package network

import "context"

// Baseline is a model that ECHO is compared with: a row of the table in Baselines.
type Baseline struct {
	Name    string
	Summary string
	options func(FitOptions) FitOptions
	change  func(*Model)
}

// Baselines lists them, in the order of tables. Level 3 is the model of the study.
func Baselines() []Baseline {
	same := func(o FitOptions) FitOptions { return o }
	levels := func(l Level) func(FitOptions) FitOptions {
		return func(o FitOptions) FitOptions { o.Levels, o.TopPairs = l, 0; return o }
	}
	return []Baseline{
		{"level 3", "groups of racks, racks and servers", same, nil},
		{"level 2", "groups of racks and racks; servers of a rack are alike", levels(RackLevel), nil},
		{"level 1", "groups of racks; servers of a group are alike", levels(GroupLevel), nil},
		{"flat", "all pairs of servers, without hierarchy", func(o FitOptions) FitOptions { o.Flat, o.TopPairs = true, 0; return o }, nil},
		{"one window", "three levels, and one chain for the whole week", func(o FitOptions) FitOptions { o.Windows = OneWindow(); return o }, nil},
		{"gravity", "what every server sends and receives, and not to whom", levels(ClusterLevel), nil},
		{"per user", "what every server sends; who receives it is drawn from all alike", levels(ClusterLevel), evenReceivers},
		{"infinite source", "every server sends the same to all alike", levels(ClusterLevel), func(m *Model) { evenReceivers(m); evenSenders(m) }},
	}
}

// Fit fits the baseline.
func (b Baseline) Fit(ctx context.Context, t Traffic, o FitOptions) (*Model, error) {
	m, err := Fit(ctx, t, b.options(o))
	if err != nil || b.change == nil {
		return m, err
	}
	b.change(m)
	return m, m.Check()
}

func evenReceivers(m *Model) {
	for i := range m.Chains {
		s := m.Chains[i].Shares[ClusterLevel]
		even(s.ReceivedCount)
		even(s.ReceivedBytes)
	}
}

func evenSenders(m *Model) {
	for i := range m.Chains {
		s := m.Chains[i].Shares[ClusterLevel]
		even(s.SentCount)
		even(s.SentBytes)
	}
}
