package dataset

import (
	"io/fs"

	"github.com/nomad-placer/nomad-placer/placer/numeric/pq"
)

// MovieLens is the name of the folder of ReadMovieLens.
const MovieLens = "movielens-small"

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
	err = each(folder, "ratings_train.csv.gz", []string{"userid", "movieid", "rating"}, func(f *file) error {
		stars, err := f.positive("rating")
		if err != nil {
			return err
		}
		ratings = append(ratings, pq.Entry{Row: number(users, f.text("userid")), Column: number(films, f.text("movieid")), Value: stars})
		return nil
	})
	return len(users), len(films), ratings, err
}
