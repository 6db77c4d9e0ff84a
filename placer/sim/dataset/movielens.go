package dataset

import (
	"io/fs"

	"github.com/nomad-placer/nomad-placer/placer/numeric/pq"
	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

// MovieLens is the name of the folder of ReadMovieLens.
const MovieLens = "movielens-small"

var movielensRatings = tables.Spec{Name: "ratings_train", Columns: []string{"userid", "movieid", "rating"}}

// The scale of MovieLens ratings (Harper 2015).
const (
	LeastStars = 0.5
	MostStars  = 5
)

// ReadMovieLens reads film ratings: users are rows and films are columns,
// numbered in order of appearance. They are no utility matrix of ours, but the
// matrix on which the error of a factorisation is best known.
func ReadMovieLens(folder fs.FS) (rows, columns int, ratings []pq.Entry, err error) {
	users, films := map[string]int{}, map[string]int{}
	number := func(of map[string]int, name string) int {
		i, ok := of[name]
		if !ok {
			i = len(of)
			of[name] = i
		}
		return i
	}
	err = each(folder, movielensRatings, &skips{}, func(row tables.Row) {
		ratings = append(ratings, pq.Entry{Row: number(users, row.Text("userid")), Column: number(films, row.Text("movieid")), Value: row.Positive("rating")})
	})
	return len(users), len(films), ratings, err
}
