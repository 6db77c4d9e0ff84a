package wording

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Count prints how many there are of something: "1 node", "3 nodes".
func Count(n int, noun string) string {
	return Number(float64(n)) + " " + Plural(n, noun)
}

// Plural is the noun for that many.
func Plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// listedNames bounds how many names a sentence has.
const listedNames = 5

// List prints "node a", "nodes a and b" or "nodes a, b, c, d, e and 7 more".
func List(noun string, names []string) string {
	noun = Plural(len(names), noun)
	switch last := len(names) - 1; {
	case last < 0:
		return "no " + noun
	case last == 0:
		return noun + " " + names[0]
	case len(names) > listedNames:
		return fmt.Sprintf("%s %s and %d more", noun, strings.Join(names[:listedNames], ", "), len(names)-listedNames)
	default:
		return fmt.Sprintf("%s %s and %s", noun, strings.Join(names[:last], ", "), names[last])
	}
}

// Shorten cuts text to limit characters and shows that it was cut.
func Shorten(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// Capital begins text as a sentence begins: errors and reasons do not.
func Capital(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + s[size:]
}
