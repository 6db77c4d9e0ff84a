package evaluate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/numeric/pq"
)

// RatingsReport is the error of the factorisation on film ratings, where its
// level is well known: a check of the arithmetic, not of classification.
type RatingsReport struct {
	Ratings   int       `json:"ratings"`
	Rows      int       `json:"rows"`
	Columns   int       `json:"columns"`
	Seeds     int       `json:"seeds"`
	Mean      Figure    `json:"rmse_mean"`    // of always predicting the mean
	Offsets   Figure    `json:"rmse_offsets"` // of the mean with one offset per row and column
	Factors   Figure    `json:"rmse_factors"` // of the factorisation with these offsets
	Published Published `json:"published"`
}

// ratingsTest is the share of ratings that is held out.
const ratingsTest = 0.2

// ratingsPublished is the level of a tuned factorisation with offsets on the
// whole of the same ratings (ml-latest-small, 100,836), five folds.
var ratingsPublished = Published{Source: "Surprise's SVD on ml-latest-small, five folds (mgesteban/recommender-system-algorithm-comparison)", Figures: map[string]float64{RMSE: 0.87}}

// ratingsConfig was chosen on splits of other seeds than 1 to 5.
func ratingsConfig() pq.Config {
	c := pq.Defaults()
	c.Bias, c.Rank, c.LearningRate, c.Regularisation, c.MaxEpochs = pq.FullBias, 20, 0.01, 0.07, 40
	return c
}

// Ratings splits the ratings four to one by seed and reports errors on the fifth
// part. low and high bound a prediction.
func Ratings(ctx context.Context, rows, columns int, all []pq.Entry, low, high float64, seeds []uint64, progress func(done, total int)) (RatingsReport, error) {
	r := RatingsReport{Ratings: len(all), Rows: rows, Columns: columns, Seeds: len(seeds), Published: ratingsPublished}
	var means, offsets, factors []float64
	for i, seed := range seeds {
		if ctx.Err() != nil {
			return RatingsReport{}, context.Cause(ctx)
		}
		train, test := splitRatings(all, seed)
		if len(train) == 0 || len(test) == 0 {
			return RatingsReport{}, fmt.Errorf("%w: %d ratings", ErrTooSmall, len(all))
		}
		cfg := ratingsConfig()
		full, err := pq.Fit(rows, columns, train, cfg)
		if err != nil {
			return RatingsReport{}, fmt.Errorf("factors: %w", err)
		}
		cfg.Rank = 0
		plain, err := pq.Fit(rows, columns, train, cfg)
		if err != nil {
			return RatingsReport{}, fmt.Errorf("offsets: %w", err)
		}
		mean := meanRating(train)
		means = append(means, ratingsError(test, func(pq.Entry) float64 { return mean }))
		offsets = append(offsets, ratingsError(test, func(e pq.Entry) float64 { return min(high, max(low, plain.At(e.Row, e.Column))) }))
		factors = append(factors, ratingsError(test, func(e pq.Entry) float64 { return min(high, max(low, full.At(e.Row, e.Column))) }))
		if progress != nil {
			progress(i+1, len(seeds))
		}
	}
	r.Mean, r.Offsets, r.Factors = overSeeds(means), overSeeds(offsets), overSeeds(factors)
	return r, nil
}

func splitRatings(all []pq.Entry, seed uint64) (train, test []pq.Entry) {
	rng := rand.New(rand.NewPCG(seed, uint64(len(all))))
	for _, e := range all {
		if rng.Float64() < ratingsTest {
			test = append(test, e)
		} else {
			train = append(train, e)
		}
	}
	return train, test
}

func meanRating(entries []pq.Entry) float64 {
	var sum float64
	for _, e := range entries {
		sum += e.Value
	}
	return sum / float64(len(entries))
}

func ratingsError(test []pq.Entry, predict func(pq.Entry) float64) float64 {
	var sum float64
	for _, e := range test {
		d := e.Value - predict(e)
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(test)))
}
