package dashboard

import (
	"net/url"
	"slices"
	"strconv"
)

// selected marks the wanted choice of a list, or the first one where the list
// does not hold it.
func selected(list []option, want string) []option {
	list = slices.Clone(list)
	at := max(0, slices.IndexFunc(list, func(o option) bool { return o.Value == want }))
	list[at].Selected = true
	return list
}

// chosenOption is the value of the choice that selected has marked.
func chosenOption(list []option) string {
	return list[slices.IndexFunc(list, func(o option) bool { return o.Selected })].Value
}

// with is the query with one value changed, back on its first part.
func with(query url.Values, name, value string) string {
	next := url.Values{}
	for k, v := range query {
		next[k] = v
	}
	next.Del("page")
	next.Set(name, value)
	return "?" + next.Encode()
}

// pageRows is how many rows of a long table are on one page.
const pageRows = 100

// pager says which rows of a list are shown, and leads to the others.
type pager struct {
	From, To, Total int // rows [From, To) of Total
	Number, Last    int // of this part and of the last one, from 1
	Previous, Next  string
}

// First is the number of the first row shown, as people count.
func (p pager) First() int { return min(p.From+1, p.Total) }

// paginate reads the part asked for; one that does not exist is the nearest.
func paginate(query url.Values, total int) pager {
	p := pager{Total: total, Last: max(1, (total+pageRows-1)/pageRows)}
	number, err := strconv.Atoi(query.Get("page"))
	if err != nil {
		number = 1
	}
	p.Number = min(max(1, number), p.Last)
	p.From = (p.Number - 1) * pageRows
	p.To = min(total, p.From+pageRows)
	to := func(n int) string {
		next := url.Values{}
		for k, v := range query {
			next[k] = v
		}
		next.Set("page", strconv.Itoa(n))
		return "?" + next.Encode()
	}
	if p.Number > 1 {
		p.Previous = to(p.Number - 1)
	}
	if p.Number < p.Last {
		p.Next = to(p.Number + 1)
	}
	return p
}
