package provision

import "math"

// Prices are those of §8.2.3: rented cores have one price per hour, owned ones less, and a contract
// for owned ones is paid in advance for a term of weeks.
type Prices struct {
	RentedPerCoreHour float64
	Ratio             float64 // of rented to owned, ρ
	TermWeeks         int     // of the contract
}

// PublishedRatio is the mean of the ratios of providers (§8.5.1).
const PublishedRatio = 2.74

const (
	hoursPerWeek = 7 * 24
	weeksPerTerm = 52
)

// DefaultPrices have a rented core as unit.
func DefaultPrices() Prices {
	return Prices{RentedPerCoreHour: 1, Ratio: PublishedRatio, TermWeeks: weeksPerTerm}
}

func (p Prices) ownedPerCoreHour() float64 { return p.RentedPerCoreHour / p.Ratio }

// Load is what a strategy has of a stretch of time: cores that are owned, and the mean of those
// that are rented and billed.
type Load struct{ Owned, Rented float64 }

// PerHour is the cost of an hour where owned cores are paid by the hour, too.
func (p Prices) PerHour(l Load) float64 {
	return l.Owned*p.ownedPerCoreHour() + l.Rented*p.RentedPerCoreHour
}

// Absolute is what is paid in so many weeks: whole terms of the contract, and the rented hours.
func (p Prices) Absolute(l Load, weeks float64) float64 {
	terms := math.Max(1, math.Ceil(weeks/float64(p.TermWeeks)))
	return terms*float64(p.TermWeeks)*hoursPerWeek*l.Owned*p.ownedPerCoreHour() + weeks*hoursPerWeek*l.Rented*p.RentedPerCoreHour
}

// BreakEven is the number of weeks within the first term after which a costs less than b, false
// where that never comes. It is where the lines of what is paid in advance and by the week cross.
func (p Prices) BreakEven(a, b Load) (weeks float64, ok bool) {
	advance := float64(p.TermWeeks) * hoursPerWeek * (a.Owned - b.Owned) * p.ownedPerCoreHour()
	perWeek := hoursPerWeek * (b.Rented - a.Rented) * p.RentedPerCoreHour
	weeks = advance / perWeek
	return weeks, perWeek > 0 && weeks <= float64(p.TermWeeks)
}

// Crossover is the ratio of prices at which a and b cost the same per hour, NaN where there is
// none.
func Crossover(a, b Load) float64 {
	ratio := (a.Owned - b.Owned) / (b.Rented - a.Rented)
	if !(ratio > 0) {
		return math.NaN()
	}
	return ratio
}

// Billed is for how many hours a rented node is billed: by the second, with a minimum.
func Billed(seconds, minimumSeconds float64) float64 { return math.Max(seconds, minimumSeconds) / 3600 }

// Discount is a step of a schedule of sustained use: beyond a share of the month a type is
// billed at a part of its price.
type Discount struct{ Beyond, Price float64 }

// Sustained is the part of the full price that is paid for a type that is used for a share of the
// month, by steps in increasing order of Beyond.
func Sustained(share float64, steps []Discount) float64 {
	if !(share > 0) {
		return 1
	}
	paid, at, price := 0.0, 0.0, 1.0
	for _, s := range steps {
		if s.Beyond >= share {
			break
		}
		paid += (s.Beyond - at) * price
		at, price = s.Beyond, s.Price
	}
	return (paid + (share-at)*price) / share
}
