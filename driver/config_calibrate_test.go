package driver

import (
	"strings"
	"testing"
	"time"
)

func TestCalibrateConfig(t *testing.T) {
	t.Parallel()
	values := task()
	values["calibrate"] = m{"seconds": "12.5"}
	c, err := decodeTaskConfig(pack(t, values))
	if err != nil || c.Calibrate == nil || c.Calibrate.Budget != 12500*time.Millisecond || c.work() != permitCalibrate {
		t.Errorf("%+v, %v", c, err)
	}
	values["calibrate"] = m{"seconds": nil}
	c, err = decodeTaskConfig(pack(t, values))
	if err != nil || c.Calibrate == nil || c.Calibrate.Budget != 0 {
		t.Errorf("without a time: %+v, %v", c, err)
	}
}

func TestBadCalibrateConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(v m)
		want   string
	}{
		"negative":     {func(v m) { v["calibrate"] = m{"seconds": -1} }, "calibrate.seconds"},
		"a day":        {func(v m) { v["calibrate"] = m{"seconds": 86400} }, "calibrate.seconds"},
		"not a number": {func(v m) { v["calibrate"] = m{"seconds": "NaN"} }, "calibrate.seconds"},
		"not a block":  {func(v m) { v["calibrate"] = 7 }, "not a block"},
		"a kernel too": {func(v m) { v["kernel"] = []any{kernel(nil)} }, "calibrate: a task with"},
		"pairs too":    {func(v m) { v["pairs"] = m{"request": goodPairs} }, "pairs"},
		"a target too": {func(v m) { v["target_task"] = "web" }, "target_task"},
	} {
		values := task()
		values["calibrate"] = m{"seconds": 0}
		c.change(values)
		if _, err := decodeTaskConfig(pack(t, values)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
