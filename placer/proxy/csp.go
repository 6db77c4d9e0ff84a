package proxy

import (
	"net/http"
	"net/url"
	"strings"
)

// policiesOf are the content security policies of an answer: a browser obeys all of
// them, so all have to allow what the tab needs.
func policiesOf(header http.Header) []string {
	var out []string
	for _, line := range header.Values("Content-Security-Policy") {
		for policy := range strings.SplitSeq(line, ",") {
			if strings.TrimSpace(policy) != "" {
				out = append(out, policy)
			}
		}
	}
	return out
}

// need is what a policy must allow, and the directives that decide on it: the
// first that is there does.
type need struct {
	what       string
	directives []string
}

// tabNeeds: the script and its modules, the style sheet, and the records.
var tabNeeds = []need{
	{"scripts", []string{"script-src-elem", "script-src", "default-src"}},
	{"style sheets", []string{"style-src-elem", "style-src", "default-src"}},
	{"requests", []string{"connect-src", "default-src"}},
}

// refusal says which of a page's policies keeps the tab from working as they are;
// empty where none does. The proxy never adds to a policy.
func refusal(header http.Header, origin *url.URL) string {
	for _, policy := range policiesOf(header) {
		directives := parsePolicy(policy)
		for _, n := range tabNeeds {
			if name, ok := allows(directives, n.directives, origin); !ok {
				return "the page's content security policy does not allow " + n.what + " of its own origin (" + name + ")"
			}
		}
		if _, ok := directives["sandbox"]; ok {
			return "the page's content security policy has a sandbox"
		}
	}
	return ""
}

// parsePolicy reads a policy as browsers do: the first of two directives of one
// name counts.
func parsePolicy(policy string) map[string][]string {
	out := map[string][]string{}
	for directive := range strings.SplitSeq(policy, ";") {
		fields := strings.Fields(directive)
		if len(fields) == 0 {
			continue
		}
		name := strings.ToLower(fields[0])
		if _, twice := out[name]; !twice {
			out[name] = fields[1:]
		}
	}
	return out
}

// allows reports whether the first directive there is allows the page's own
// origin, and its name. Without one everything is allowed.
func allows(directives map[string][]string, names []string, origin *url.URL) (name string, ok bool) {
	for _, name := range names {
		sources, found := directives[name]
		if !found {
			continue
		}
		for _, s := range sources {
			if strings.EqualFold(s, "'strict-dynamic'") {
				return name, false // then only nonces and hashes count
			}
		}
		for _, s := range sources {
			if matches(s, origin) {
				return name, true
			}
		}
		return name, false
	}
	return "", true
}

// matches reports whether a source expression surely means the page's own origin.
// Forms with wild cards or ports that we do not read count as no: then no tab is
// shown, which is the safe side.
func matches(source string, origin *url.URL) bool {
	switch s := strings.ToLower(source); s {
	case "'self'", "*":
		return true
	case origin.Scheme + ":":
		return true
	default:
		return strings.TrimSuffix(s, "/") == origin.Scheme+"://"+strings.ToLower(origin.Host) || s == strings.ToLower(origin.Host)
	}
}
