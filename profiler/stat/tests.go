package stat

import "math"

// subsetSums counts the subsets of ranks by their sum.
func subsetSums(ranks []int, total int) []float64 {
	ways := make([]float64, total+1)
	ways[0] = 1
	for _, r := range ranks {
		for sum := total; sum >= r; sum-- {
			ways[sum] += ways[sum-r]
		}
	}
	return ways
}

// RankSum returns the exact one-sided p-values of the rank-sum test (Wilcoxon,
// Mann and Whitney) of "x and reference come from one distribution": less is
// small when x lies below, greater when it lies above. Ties share their mean
// rank, the distribution being the one conditional on them (Conover, §5.1). It
// assumes that x, but for a shift, varies as reference does. The smallest value
// it can give is 1/C(len(x)+len(reference), len(x)). 1 where either is empty.
// O(k·n³) for k samples in x and n in all.
func RankSum(x, reference []float64) (less, greater float64) {
	if len(x) == 0 || len(reference) == 0 {
		return 1, 1
	}
	ranks, sumOfX := pooledRanks(x, reference)
	ways := subsetSumsOfSize(ranks, len(x))
	all := math.Exp(logChoose(len(ranks), len(x)))
	for sum, count := range ways {
		if sum <= sumOfX {
			less += count / all
		}
		if sum >= sumOfX {
			greater += count / all
		}
	}
	return min(1, less), min(1, greater)
}

// pooledRanks ranks both samples together, doubled so that mean ranks of ties
// are whole, and sums those of x.
func pooledRanks(x, reference []float64) (ranks []int, sumOfX int) {
	pooled := Sorted(append(append([]float64(nil), x...), reference...))
	doubled := map[float64]int{}
	for i := 0; i < len(pooled); {
		j := i
		for j < len(pooled) && pooled[j] == pooled[i] {
			j++
		}
		doubled[pooled[i]] = i + 1 + j
		i = j
	}
	for _, v := range pooled {
		ranks = append(ranks, doubled[v])
	}
	for _, v := range x {
		sumOfX += doubled[v]
	}
	return ranks, sumOfX
}

// subsetSumsOfSize counts the subsets of size k by their sum.
func subsetSumsOfSize(ranks []int, k int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([][]float64, k+1)
	for size := range ways {
		ways[size] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, r := range ranks {
		for size := k; size > 0; size-- {
			for sum := total; sum >= r; sum-- {
				ways[size][sum] += ways[size-1][sum-r]
			}
		}
	}
	return ways[k]
}
