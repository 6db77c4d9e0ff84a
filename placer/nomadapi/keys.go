package nomadapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/hashicorp/nomad/api"
)

// ErrKeyTwice means that a job has a key twice, as Nomad reads keys.
var ErrKeyTwice = errors.New("a key is there twice, and Nomad makes a mixture of both values")

// CanonicalKeys gives the keys of a job the spelling that Nomad stores. Nomad takes them in
// any case; so do jobs that were made for it by hand. Keys that are a user's own, such as
// those of meta or of a driver's configuration, stay, and so do those that are not known.
func CanonicalKeys(job map[string]any) error {
	return canonicalKeys(job, reflect.TypeFor[api.Job]())
}

func canonicalKeys(v any, t reflect.Type) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil // it reads its text itself
	}
	switch t.Kind() {
	case reflect.Struct:
		if fields, ok := v.(map[string]any); ok {
			return canonicalFields(fields, t)
		}
	case reflect.Slice:
		list, _ := v.([]any)
		for _, item := range list {
			if err := canonicalKeys(item, t.Elem()); err != nil {
				return err
			}
		}
	case reflect.Map:
		values, _ := v.(map[string]any)
		for _, value := range values {
			if err := canonicalKeys(value, t.Elem()); err != nil {
				return err
			}
		}
	}
	return nil
}

func canonicalFields(fields map[string]any, t reflect.Type) error {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			name = field.Name
		}
		if !field.IsExported() || name == "-" {
			continue
		}
		if err := rename(fields, name); err != nil {
			return err
		}
		if value, ok := fields[name]; ok {
			if err := canonicalKeys(value, field.Type); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// rename gives a key in another case its name.
func rename(fields map[string]any, name string) error {
	_, found := fields[name]
	for key, value := range fields {
		if key == name || !strings.EqualFold(key, name) {
			continue
		}
		if found {
			return fmt.Errorf("%s: %w", key, ErrKeyTwice)
		}
		delete(fields, key)
		fields[name], found = value, true
	}
	return nil
}
