// Package wiretest keeps what goes over the wire of a protocol of others in a golden file. A test
// in the module that pins the other side compares the file with its own protocol: both cannot be
// linked into one program, since they register the same names.
package wiretest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// golden is where a protocol's package keeps its list.
const golden = "testdata/wire.golden"

// Golden compares every method, field and value of a protocol with the golden file, or writes it.
func Golden(t *testing.T, update bool, files ...protoreflect.FileDescriptor) {
	t.Helper()
	var lines []string
	for _, file := range files {
		lines = append(lines, services(file.Services())...)
		lines = append(lines, enums(file.Enums())...)
		lines = append(lines, messages(file.Messages())...)
	}
	slices.Sort(lines)
	want := strings.Join(lines, "\n") + "\n"
	if update {
		if err := os.WriteFile(golden, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(golden)
	if err != nil || string(got) != want {
		t.Errorf("%s is not the protocol (%v); rewrite it with -update, and run the test in the module of the other side (e2e)", golden, err)
	}
}

func services(list protoreflect.ServiceDescriptors) []string {
	var out []string
	for i := range list.Len() {
		methods := list.Get(i).Methods()
		for k := range methods.Len() {
			m := methods.Get(k)
			out = append(out, fmt.Sprintf("method %s %s %t %s %t", m.FullName(), m.Input().FullName(), m.IsStreamingClient(), m.Output().FullName(), m.IsStreamingServer()))
		}
	}
	return out
}

func enums(list protoreflect.EnumDescriptors) []string {
	var out []string
	for i := range list.Len() {
		values := list.Get(i).Values()
		for k := range values.Len() {
			out = append(out, fmt.Sprintf("value %s %s %d", list.Get(i).FullName(), values.Get(k).Name(), values.Get(k).Number()))
		}
	}
	return out
}

func messages(list protoreflect.MessageDescriptors) []string {
	var out []string
	for i := range list.Len() {
		m := list.Get(i)
		if m.IsMapEntry() {
			continue // its map says it
		}
		out = append(out, "message "+string(m.FullName()))
		for k := range m.Fields().Len() {
			f := m.Fields().Get(k)
			out = append(out, fmt.Sprintf("field %s %d %s %s", m.FullName(), f.Number(), f.Name(), kindOf(f)))
		}
		out = append(out, enums(m.Enums())...)
		out = append(out, messages(m.Messages())...)
	}
	return out
}

// kindOf is everything of a field that its bytes depend on.
func kindOf(f protoreflect.FieldDescriptor) string {
	if f.IsMap() {
		return "map<" + kindOf(f.MapKey()) + "," + kindOf(f.MapValue()) + ">"
	}
	kind := f.Kind().String()
	switch {
	case f.Message() != nil:
		kind = string(f.Message().FullName())
	case f.Enum() != nil:
		kind = string(f.Enum().FullName())
	}
	if f.IsList() {
		kind = fmt.Sprintf("list<%s,%t>", kind, f.IsPacked())
	}
	if o := f.ContainingOneof(); o != nil {
		kind += ",oneof:" + string(o.Name())
	}
	return kind
}
