package nomadapi

import (
	"bytes"
	"encoding/json"
	"maps"
)

// object is a JSON object as Nomad sent it. A missing field, null and a field of
// another type all read as the zero value: what Nomad leaves out means nothing.
type object map[string]any

func (o object) text(key string) string {
	s, _ := o[key].(string)
	return s
}

func (o object) boolean(key string) bool {
	b, _ := o[key].(bool)
	return b
}

func (o object) number(key string) int64 {
	switch n := o[key].(type) {
	case json.Number:
		v, _ := n.Int64()
		return v
	case int:
		return int64(n)
	case int64:
		return n
	case uint64:
		return int64(n)
	case float64:
		return int64(n)
	default:
		return 0
	}
}

func (o object) index(key string) uint64 { return uint64(max(0, o.number(key))) }

func (o object) object(key string) object { return asObject(o[key]) }

func (o object) objects(key string) []object {
	list, _ := o[key].([]any)
	out := make([]object, 0, len(list))
	for _, item := range list {
		if m := asObject(item); m != nil {
			out = append(out, m)
		}
	}
	return out
}

func (o object) texts(key string) []string {
	list, _ := o[key].([]any)
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func asObject(v any) object {
	switch m := v.(type) {
	case object:
		return m
	case map[string]any:
		return m
	default:
		return nil
	}
}

// setList stores a list of objects; an empty one is null, as Nomad writes it.
func (o object) setList(key string, list []object) {
	if len(list) == 0 {
		o[key] = nil
		return
	}
	out := make([]any, len(list))
	for i, item := range list {
		out[i] = map[string]any(item)
	}
	o[key] = out
}

// clone copies deeply, so that rewriting never touches what was read.
func (o object) clone() object {
	out, _ := cloneValue(map[string]any(o)).(map[string]any)
	return out
}

func cloneValue(v any) any {
	switch t := v.(type) {
	case object:
		return cloneValue(map[string]any(t))
	case map[string]any:
		m := maps.Clone(t)
		for k, item := range m {
			m[k] = cloneValue(item)
		}
		return m
	case []any:
		list := make([]any, len(t))
		for i, item := range t {
			list[i] = cloneValue(item)
		}
		return list
	default:
		return v
	}
}

// canonical is the JSON of v with sorted keys and without nulls and empty lists
// and objects, so that two forms of the same thing compare equal.
func canonical(v any) []byte {
	b, err := json.Marshal(prune(v))
	if err != nil {
		// Unreachable: v came from a JSON decoder.
		return nil
	}
	return b
}

func sameContent(a, b object) bool {
	return bytes.Equal(canonical(map[string]any(a)), canonical(map[string]any(b)))
}

func prune(v any) any {
	switch t := v.(type) {
	case object:
		return prune(map[string]any(t))
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, item := range t {
			if p := prune(item); p != nil {
				out[k] = p
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		if len(t) == 0 {
			return nil
		}
		out := make([]any, len(t))
		for i, item := range t {
			out[i] = prune(item)
		}
		return out
	default:
		return v
	}
}
