package figures

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"runtime"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/profiler/chart"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

// echoStudied are ECHO's experiments on a declared cluster of hundreds of servers, as Combine
// has them; `nomad-placer traffic compare -synthetic 10x10x48` has those of 4,800. Its rows:
//
//	C.1: a load, C.2: …, C.3: a subset, C.4: …   deviations over parts of the servers
//	model: level 3                               a model: deviations over all servers
//	errors: 50 % of the servers                  what so many do not exceed
//	pairs: 0 exact pairs, weekdays               random pairs of servers
//	transitions: …                               of one window
//	curve 1                                      the temporal model of a server
var echoStudied = &Computation{
	Name: "ECHO's experiments", Source: "a declared cluster",
	Metrics: []string{
		"part25", "part50", "part75", "part95", "part100", "held", "average", "fluctuation", "locality", "average_held", "fluctuation_held", "locality_held", "transitions",
		"temporal", "spatial", "temporal_held", "spatial_held", "same_rack", "other_rack", "hierarchical", "flat", "fewer", "deviation", "terms",
	},
	run: runECHO,
}

const echoSeed = 1

// echoCluster is the declared cluster: 480 servers over two weeks, the second held out.
func echoCluster() network.SyntheticOptions {
	o := network.DefaultSynthetic(echoSeed)
	o.Groups, o.RacksPerGroup = 5, 2
	return o
}

// echoKept is what is kept of the experiments.
type echoKept struct {
	Study           *network.Study
	Original, Again network.Maps
}

func runECHO(ctx context.Context, env environment) (*Table, error) {
	k, err := echoResults(ctx, env)
	if err != nil {
		return nil, err
	}
	t := &Table{Seeds: 1, Notes: []string{fmt.Sprintf("declared cluster: %s; seed %d; in-sample unless it says held out", k.Study.Cluster, k.Study.Seed)}}
	t.addEcho(k.Study)
	t.pictures = echoPictures(k)
	return t, nil
}

// echoResults takes the kept results, or makes them. What a tiny cluster gives is part of the
// key: it says whether models still are what they were.
func echoResults(ctx context.Context, env environment) (echoKept, error) {
	tiny := network.DefaultSynthetic(echoSeed)
	tiny.Groups, tiny.RacksPerGroup, tiny.ServersPerRack, tiny.Bin = 2, 2, 4, time.Hour
	sample, err := network.RunStudy(ctx, echoOptions(tiny, "cluster"))
	if err != nil {
		return echoKept{}, err
	}
	mark, err := json.Marshal(sample)
	if err != nil {
		return echoKept{}, fmt.Errorf("figures: %w", err)
	}
	key := keyOf("echo", string(mark), fmt.Sprint(echoCluster()))
	var out echoKept
	if env.store.get(key, &out) && out.Study != nil && out.Study.Whole != nil {
		return out, nil
	}
	o := echoOptions(echoCluster())
	o.Progress = func(share float64, what string) { env.tell(fmt.Sprintf("ECHO, %s: %.0f %%", what, 100*share)) }
	found, err := network.RunStudy(ctx, o)
	if err != nil {
		return echoKept{}, err
	}
	made := echoKept{found, found.Whole.Original, found.Whole.Again}
	// What is kept has fewer digits: without a folder it has as many.
	text, err := json.Marshal(made)
	if err != nil {
		return echoKept{}, fmt.Errorf("figures: %w", err)
	}
	out = echoKept{}
	if err := json.Unmarshal(text, &out); err != nil {
		return echoKept{}, fmt.Errorf("figures: %w", err)
	}
	return out, env.store.put(key, made)
}

// echoOptions run parts of the experiments, all of them where none is named. How long things
// take is not asked.
func echoOptions(cluster network.SyntheticOptions, parts ...string) network.StudyOptions {
	o := network.DefaultStudy(echoSeed, func() time.Time { return time.Time{} })
	o.Cluster, o.Smaller, o.Workers, o.Parts = cluster, cluster, runtime.GOMAXPROCS(0), parts
	return o
}

// addEcho puts the experiments into rows.
func (t *Table) addEcho(s *network.Study) {
	add := func(name string, values map[string]network.Percent) {
		row := TableRow{name, map[string]report.Figure{}}
		for metric, v := range values {
			if v.Known() {
				row.Figures[metric] = report.Figure{Mean: float64(v)}
			}
		}
		t.Rows = append(t.Rows, row)
	}
	for _, r := range s.Rows {
		values := map[string]network.Percent{"held": r.HeldOut.All()}
		for i, part := range network.Parts {
			values[echoPart(part)] = r.InSample[i]
		}
		add(r.Table+": "+r.System, values)
	}
	for _, m := range s.Models {
		add("model: "+m.Name, map[string]network.Percent{
			"average": m.InSample.Average.All(), "fluctuation": m.InSample.Fluctuation.All(), "locality": m.InSample.Locality.All(),
			"average_held": m.HeldOut.Average.All(), "fluctuation_held": m.HeldOut.Fluctuation.All(), "locality_held": m.HeldOut.Locality.All(),
			"transitions": network.Percent(m.Transitions),
		})
	}
	for _, percent := range []int{50, 90} {
		add(fmt.Sprintf("errors: %d %% of the servers", percent), map[string]network.Percent{
			"temporal": s.Whole.InSample.Temporal.At(percent), "spatial": s.Whole.InSample.Spatial.At(percent),
			"temporal_held": s.Whole.HeldOut.Temporal.At(percent), "spatial_held": s.Whole.HeldOut.Spatial.At(percent),
		})
	}
	for _, p := range s.Pairs {
		add("pairs: "+p.Model+", "+p.Days, map[string]network.Percent{"same_rack": p.SameRack.Median, "other_rack": p.OtherRack.Median})
	}
	for _, c := range s.Transitions {
		add("transitions: "+c.What, map[string]network.Percent{"hierarchical": network.Percent(c.Hierarchical), "flat": network.Percent(c.Flat), "fewer": c.Fewer})
	}
	for i := range s.Curves {
		add(fmt.Sprintf("curve %d", i+1), map[string]network.Percent{"deviation": s.Curves[i].Deviation, "terms": network.Percent(len(s.Curves[i].Terms))})
	}
}

// The pictures, by title.
const (
	echoServersOriginal  = "Servers over time, original"
	echoServersGenerated = "Servers over time, generated"
	echoPairsOriginal    = "Servers × servers, original"
	echoPairsGenerated   = "Servers × servers, generated"
	echoRacksOriginal    = "Racks × racks, original"
	echoRacksGenerated   = "Racks × racks, generated"
	echoErrorPicture     = "Errors of servers"
)

// The size of a map in pixels.
const (
	echoMapWidth  = 420
	echoMapHeight = 400
)

func echoPictures(k echoKept) map[string]template.HTML {
	out := map[string]template.HTML{echoErrorPicture: echoErrors(k.Study.Whole.InSample)}
	for title, m := range map[string]network.Map{
		echoServersOriginal: k.Original.Servers, echoServersGenerated: k.Again.Servers,
		echoPairsOriginal: k.Original.Pairs, echoPairsGenerated: k.Again.Pairs,
		echoRacksOriginal: k.Original.Racks, echoRacksGenerated: k.Again.Racks,
	} {
		out[title] = chart.Raster{Label: title, Title: "in percent of the range of the map", Width: echoMapWidth, Height: echoMapHeight, Cells: m.Cells}.SVG()
	}
	return out
}

// echoErrors are the distributions of the errors of servers.
func echoErrors(d network.Deviation) template.HTML {
	line := func(name string, q network.Quantiles) chart.Series {
		s := chart.Series{Name: name}
		for percent, v := range q {
			s.Points = append(s.Points, chart.Point{X: float64(v), Y: float64(percent)})
		}
		return s
	}
	return report.Plot("errors of servers", chart.Axis{Title: "error, %"}, chart.Axis{Title: "servers, %", High: 100},
		[]chart.Series{line("over time", d.Temporal), line("over pairs", d.Spatial)})
}
