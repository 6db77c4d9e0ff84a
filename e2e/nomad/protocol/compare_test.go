package protocol

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// This file is in e2e/nomad and, by a link, in e2e/autoscaler: modules that pin what they run share
// no package, for each would choose the versions of the other.

// compareWire holds every line of a golden file, which e2e/wiretest wrote, against what is linked
// here. least is how many lines it has to have.
func compareWire(t *testing.T, golden string, least int) {
	t.Helper()
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for _, line := range lines {
		if problem := compare(strings.Fields(line)); problem != "" {
			t.Errorf("%s: the other side has %s", line, problem)
		}
	}
	if len(lines) < least {
		t.Errorf("only %d lines: is the file still whole?", len(lines))
	}
}

func compare(words []string) string {
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(words[1]))
	if err != nil {
		return "no " + words[1]
	}
	switch words[0] {
	case "message":
		return ""
	case "method":
		m := d.(protoreflect.MethodDescriptor)
		return different(strings.Join(words[2:], " "), fmt.Sprintf("%s %t %s %t", m.Input().FullName(), m.IsStreamingClient(), m.Output().FullName(), m.IsStreamingServer()))
	case "value":
		v := d.(protoreflect.EnumDescriptor).Values().ByName(protoreflect.Name(words[2]))
		if v == nil {
			return "no such value"
		}
		return different(words[3], strconv.Itoa(int(v.Number())))
	default:
		number, err := strconv.Atoi(words[2])
		if err != nil {
			return err.Error()
		}
		f := d.(protoreflect.MessageDescriptor).Fields().ByNumber(protoreflect.FieldNumber(number))
		if f == nil {
			return "no such field"
		}
		return different(words[3]+" "+words[4], string(f.Name())+" "+kind(f))
	}
}

func different(want, have string) string {
	if want == have {
		return ""
	}
	return have
}

// kind is everything of a field that its bytes depend on.
func kind(f protoreflect.FieldDescriptor) string {
	if f.IsMap() {
		return "map<" + kind(f.MapKey()) + "," + kind(f.MapValue()) + ">"
	}
	out := f.Kind().String()
	if m := f.Message(); m != nil {
		out = string(m.FullName())
	}
	if e := f.Enum(); e != nil {
		out = string(e.FullName())
	}
	if f.IsList() {
		out = fmt.Sprintf("list<%s,%t>", out, f.IsPacked())
	}
	if o := f.ContainingOneof(); o != nil {
		out += ",oneof:" + string(o.Name())
	}
	return out
}
