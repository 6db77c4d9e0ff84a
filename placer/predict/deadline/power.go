package deadline

// Power is what a machine draws (equation 1): idle, and on top of it in proportion to
// its cpu load, 0 to 1.
type Power struct{ IdleWatts, LoadWatts float64 }

// PaperPower is the machine of the evaluation: 250 W at full load, 70 % of it idle.
var PaperPower = Power{IdleWatts: 175, LoadWatts: 75}

// Watts at a load.
func (p Power) Watts(load float64) float64 { return p.IdleWatts + p.LoadWatts*load }

// Efficiency is the useful work per watt relative to that at full load (equation 2):
// 0 at idle, 1 at full load, increasing.
func (p Power) Efficiency(load float64) float64 {
	return load / p.Watts(load) * p.Watts(1)
}
