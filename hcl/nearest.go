package hcl

import (
	"strings"
	"unicode/utf8"
)

// maxNearestRunes bounds the work of comparing names; a longer word is not a
// misspelt one.
const maxNearestRunes = 64

// minPrefixRunes is how much of a name is taken for the whole of it.
const minPrefixRunes = 4

// Nearest returns the known name a user most likely meant by word, or "" where
// none is near: at most one edit in three characters, at least one, or else the
// only name that word begins.
func Nearest(word string, known []string) string {
	length := utf8.RuneCountInString(word)
	if length == 0 || length > maxNearestRunes {
		return ""
	}
	normal := normalName(word)
	best, bestDistance := "", max(1, length/3)+1
	for _, name := range known {
		if d := editDistance([]rune(normal), []rune(normalName(name))); d < bestDistance {
			best, bestDistance = name, d
		}
	}
	if best == "" && length >= minPrefixRunes {
		best = onlyWithPrefix(normal, known)
	}
	return best
}

func onlyWithPrefix(prefix string, known []string) string {
	found := ""
	for _, name := range known {
		if !strings.HasPrefix(normalName(name), prefix) {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// normalName makes spellings of one name equal: case, and - for _.
func normalName(s string) string { return strings.ReplaceAll(strings.ToLower(s), "-", "_") }

// editDistance is the number of single-character insertions, deletions,
// replacements and swaps of two next to each other that turn a into b (Damerau 1964, the
// restricted form). Cost O(len(a)·len(b)).
func editDistance(a, b []rune) int {
	before := make([]int, len(b)+1) // row i-2
	above := make([]int, len(b)+1)  // row i-1
	row := make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := 1
			if a[i-1] == b[j-1] {
				replace = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}

// quoteList writes names as a user would type them: `"a", "b" or "c"`.
func quoteList(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = `"` + n + `"`
	}
	return orList(quoted)
}

// orList joins words: `a, b or c`.
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// knownAre lists the names that could have stood where an unknown one did.
func knownAre(names []string) string { return "Known: " + strings.Join(names, ", ") + "." }
