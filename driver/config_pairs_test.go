package driver

import (
	"strings"
	"testing"
)

const goodPairs = `{"format":1,"cpus":[0,1],"seed":3,"configuration":"c","applications":[
	{"key":"k1","application":"a","task":"t1","target":{"kind":"rate","rate":1},"probe":{"type":"prometheus","port":"p","rate":"n"}},
	{"key":"k2","application":"b","task":"t2","target":{"kind":"rate","rate":1},"probe":{"type":"prometheus","port":"q","rate":"n"}}],
	"pairs":[{"a":"a","b":"b","placement":"same"}]}`

func TestPairsConfig(t *testing.T) {
	t.Parallel()
	values := task()
	values["pairs"] = m{"request": goodPairs}
	c, err := decodeTaskConfig(pack(t, values))
	if err != nil || c.Pairs == nil || c.Pairs.Rounds == 0 || len(c.Pairs.Applications) != 2 {
		t.Fatalf("%+v, %v", c, err)
	}
	bad := map[string]struct {
		spoil func(m)
		want  string
	}{
		"kernels too": {func(v m) { v["kernel"] = task(kernel(nil))["kernel"] }, "pairs:"},
		"target task": {func(v m) { v["target_task"] = "t1" }, "pairs:"},
		"no JSON":     {func(v m) { v["pairs"] = m{"request": "{"} }, "pairs.request"},
		"new word":    {func(v m) { v["pairs"] = m{"request": strings.Replace(goodPairs, "seed", "sead", 1)} }, "sead"},
		"stranger":    {func(v m) { v["pairs"] = m{"request": strings.Replace(goodPairs, `"a":"a"`, `"a":"x"`, 1)} }, `"x"`},
	}
	for name, tt := range bad {
		values := task()
		values["pairs"] = m{"request": goodPairs}
		tt.spoil(values)
		if _, err := decodeTaskConfig(pack(t, values)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q in it", name, err, tt.want)
		}
	}
}
