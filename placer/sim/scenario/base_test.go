package scenario_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// folderOf has files by name.
func folderOf(texts map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range texts {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// based reads a file that is based on small.
func based(text string) (*scenario.Scenario, error) {
	return scenario.Open(folderOf(map[string]string{"small.hcl": small, "mine.hcl": text}), "mine.hcl", "folder")
}

// A file on a base means what the base would mean with the change written into it.
func TestWhatAFileSaysOverItsBase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says string
		old  []string // of small, and what replaces it, in turn
		adds string
	}{
		"nothing":             {"", nil, ""},
		"an attribute":        {"seeds = [3]", []string{"[1, 2]", "[3]"}, ""},
		"a new attribute":     {"columns = [\"mem_bw\"]", []string{`limit  = "4h"`, "limit = \"4h\"\ncolumns = [\"mem_bw\"]"}, ""},
		"in a block":          {"profiling {\n training = 13\n}", []string{"training   = 12", "training = 13"}, ""},
		"new in a block":      {"profiling {\n entries = 3\n}", []string{"training   = 12", "training = 12\n entries = 3"}, ""},
		"in a block in it":    {"cluster {\n lose {\n  nodes = 2\n }\n}", []string{"nodes = 1", "nodes = 2"}, ""},
		"in a labelled block": {"population \"services\" {\n jobs = 4\n}", []string{"jobs        = 3", "jobs = 4"}, ""},
		"deep in it": {"population \"batch\" {\n arrivals \"poisson\" {\n every = \"30s\"\n}\n}",
			[]string{`every = "20s"`, `every = "30s"`}, ""},
		"a list is one value": {"population \"batch\" {\n classes = [\"IO\"]\n weights = [2]\n}",
			[]string{`["ST", "MP"]`, `["IO"]`, "[1, 3]", "[2]"}, ""},
		"a new block in a block": {"population \"services\" {\n arrivals \"constant\" {\n burst {\n after = 1\n jobs = 2\n every = \"1s\"\n}\n}\n}",
			[]string{"every = \"30s\"", "every = \"30s\"\n burst {\n after = 1\n jobs = 2\n every = \"1s\"\n}"}, ""},
		"a new block":         {"world {\n window = \"1m\"\n}", nil, "world {\n window = \"1m\"\n}"},
		"new blocks are last": {"policy \"random\" {}\npolicy \"ni\" {}", nil, "policy \"random\" {}\npolicy \"ni\" {}"},
		"a block keeps its place": {"policy \"oracle\" {\n adapter = \"quasar\"\n}\npolicy \"random\" {}\npolicy \"least-loaded\" {\n agents = 2\n}",
			[]string{`knowledge = "oracle"`, "knowledge = \"oracle\"\n adapter = \"quasar\"", `policy "least-loaded" {}`, "policy \"least-loaded\" {\n agents = 2\n}"}, "policy \"random\" {}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := small
			for pair := range slices.Chunk(c.old, 2) {
				if !strings.Contains(whole, pair[0]) {
					t.Fatalf("%q is not in the base", pair[0])
				}
				whole = strings.Replace(whole, pair[0], pair[1], 1)
			}
			want, err := decode(t, whole+c.adds)
			if err != nil {
				t.Fatal(err)
			}
			got, err := based("base = \"small.hcl\"\n" + c.says)
			if err != nil {
				t.Fatal(err)
			}
			if got.Identity() != want.Identity() {
				t.Errorf("got  %s\nwant %s", got.Identity(), want.Identity())
			}
			if !slices.Equal(got.Policies(), want.Policies()) || got.Title != "small" || got.Name != "mine" {
				t.Errorf("%s %q: %v, want %v", got.Name, got.Title, got.Policies(), want.Policies())
			}
		})
	}
}

// A base may have a base, and the nearest one counts. A base need not be a whole
// scenario.
func TestBaseOfABase(t *testing.T) {
	t.Parallel()
	got, err := scenario.Open(folderOf(map[string]string{
		"a.hcl": small, "b.hcl": "base = \"a.hcl\"\ntitle = \"b\"\nlimit = \"5h\"\nseeds = [5]", "c.hcl": "seeds = [6]\nbase = \"b.hcl\"",
	}), "c.hcl", ".")
	if err != nil || got.Title != "b" || !slices.Equal(got.Seeds, []uint64{6}) {
		t.Fatalf("%+v, %v", got, err)
	}
	want, err := decode(t, strings.NewReplacer("[1, 2]", "[6]", `"4h"`, `"5h"`).Replace(small))
	if err != nil || got.Identity() != want.Identity() {
		t.Errorf("got  %s\nwant %s, %v", got.Identity(), want.Identity(), err)
	}
	part := strings.Replace(small, `title  = "small"`, "", 1)
	if _, err := scenario.Open(folderOf(map[string]string{"part.hcl": part, "d.hcl": "base = \"part.hcl\"\ntitle = \"d\""}), "d.hcl", "."); err != nil {
		t.Error(err)
	}
}

// A file that names its policies has those and no others, in its order; what is based on
// it has them first.
func TestNamedPolicies(t *testing.T) {
	t.Parallel()
	files := folderOf(map[string]string{
		"small.base.hcl": small,
		"few.hcl":        "base = \"small.base.hcl\"\npolicies = [\"random\", \"oracle\", \"paragon\"]\npolicy \"random\" {}\npolicy \"paragon\" {\n agents = 2\n}",
		"more.hcl":       "base = \"few.hcl\"\npolicy \"least-loaded\" {}",
		"other.hcl":      "base = \"few.hcl\"\npolicies = [\"paragon\"]",
		"none.hcl":       "base = \"few.hcl\"\npolicies = []",
		"alone.hcl":      "policies = [\"oracle\", \"least-loaded\", \"paragon\"]\n" + small,
	})
	for name, want := range map[string][]string{
		"few.hcl": {"random", "oracle", "paragon"}, "more.hcl": {"random", "oracle", "paragon", "least-loaded"}, "other.hcl": {"paragon"}, "alone.hcl": {"oracle", "least-loaded", "paragon"},
	} {
		s, err := scenario.Open(files, name, "folder")
		if err != nil || !slices.Equal(s.Policies(), want) {
			t.Errorf("%s: %v, want %v: %v", name, s, want, err)
		}
	}
	if _, err := scenario.Open(files, "none.hcl", "folder"); err == nil || !strings.Contains(err.Error(), "folder/none.hcl:1:1: 1 to 100 policy blocks are needed, not 0") {
		t.Errorf("no policy: %v", err)
	}
	few, err := scenario.Open(files, "few.hcl", "folder")
	if err != nil {
		t.Fatal(err)
	}
	whole := small[:strings.Index(small, "policy")] + `policy "random" {}
policy "oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
policy "paragon" {
  adapter = "quasar"
  agents  = 2
}`
	if want, err := decode(t, whole); err != nil || few.Identity() != want.Identity() {
		t.Errorf("got  %s\nwant %s, %v", few.Identity(), want.Identity(), err)
	}
}

// A base is neither listed nor run.
func TestBaseIsNoScenario(t *testing.T) {
	t.Parallel()
	files := folderOf(map[string]string{"small.base.hcl": small, "mine.hcl": "base = \"small.base.hcl\"", "base.hcl": small, "notes.txt": ""})
	if names, err := scenario.Files(files); err != nil || !slices.Equal(names, []string{"base.hcl", "mine.hcl"}) {
		t.Errorf("%v, %v", names, err)
	}
	want := `folder/small.base.hcl is a base for scenarios, and none itself: run one that is based on it, or write one that begins with base = "small.base.hcl"`
	if _, err := scenario.Open(files, "small.base.hcl", "folder"); !errors.Is(err, scenario.ErrScenario) || !strings.Contains(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := scenario.Open(files, "missing.base.hcl", "folder"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a base that is not there: %v", err)
	}
}

// What is wrong is said with its file and line.
func TestErrorsOfBases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mine, small string // small: unless empty, the base
		want        string
	}{
		"missing":          {"title = \"x\"\nbase = \"smal.hcl\"", "", `folder/mine.hcl:2:8: base = "smal.hcl" cannot be read: file does not exist; did you mean "small.hcl"?`},
		"missing, no hint": {"base = \"elsewhere.hcl\"", "", `folder/mine.hcl:1:8: base = "elsewhere.hcl" cannot be read: file does not exist; a base is a file of the same folder`},
		"itself":           {"base = \"mine.hcl\"", "", `folder/mine.hcl:1:8: base = "mine.hcl" leads back to itself (mine.hcl, mine.hcl): one of them must do without a base`},
		"a ring":           {"base = \"small.hcl\"", "\nbase = \"mine.hcl\"", `folder/small.hcl:2:8: base = "mine.hcl" leads back to itself (mine.hcl, small.hcl, mine.hcl)`},
		"above":            {`base = "../small.hcl"`, "", `folder/mine.hcl:1:8: base = "../small.hcl" is no file name: a base is a file of the same folder, such as`},
		"below":            {`base = "sub/small.hcl"`, "", `is no file name`},
		"absolute":         {`base = "/small.hcl"`, "", `is no file name`},
		"the other slash":  {`base = "..\\small.hcl"`, "", `is no file name`},
		"the folder":       {`base = "."`, "", `is no file name`},
		"its parent":       {`base = ".."`, "", `is no file name`},
		"empty":            {`base = ""`, "", `is no file name`},
		"null":             {`base = null`, "", `folder/mine.hcl:1:8: `},
		"no text":          {`base = ["small.hcl"]`, "", `folder/mine.hcl:1:8: Unsuitable value type`},
		"a variable":       {`base = "${x}.hcl"`, "", `folder/mine.hcl:1:11: Variables not allowed`},
		"in a block":       {"base = \"small.hcl\"\nprofiling {\n base = \"small.hcl\"\n}", "", `folder/mine.hcl:3:2: Unsupported argument`},
		"syntax":           {"base = \"small.hcl\"\nseeds = [", "", "folder/mine.hcl:2:"},
		"syntax below":     {"base = \"small.hcl\"", "title = \"x\"\ncluster {{", "folder/small.hcl:2:10: "},
		"too long":         {"base = \"small.hcl\"", strings.Repeat("#\n", scenario.MaxFileBytes/2+1), `base = "small.hcl" cannot be read: not a usable scenario: more than 1048576 bytes`},
		"a value here":     {"base = \"small.hcl\"\npopulation \"batch\" {\n jobs = -4\n}", "", "folder/mine.hcl:3:2: jobs = -4 is not from 1 to"},
		"a value below":    {"base = \"small.hcl\"\npopulation \"batch\" {\n applications = 3\n}", strings.Replace(small, "jobs         = 40", "jobs = -4", 1), "folder/small.hcl:20:3: jobs = -4 is not from 1 to"},
		"both together": {"base = \"small.hcl\"\npopulation \"batch\" {\n classes = [\"ST\"]\n}", "",
			"folder/small.hcl:18:3: 2 weights for 1 classes"},
		"a type":           {"base = \"small.hcl\"\npopulation \"batch\" {\n jobs = \"x\"\n}", "", "folder/mine.hcl:3:10: "},
		"a type below":     {"base = \"small.hcl\"\npopulation \"batch\" {\n}", strings.Replace(small, "jobs         = 40", "jobs = \"x\"", 1), "folder/small.hcl:20:"},
		"another argument": {"base = \"small.hcl\"\nprofiling {\n taught = 3\n}", "", `folder/mine.hcl:3:2: Unsupported argument: An argument named "taught" is not expected here.`},
		"a second label":   {"base = \"small.hcl\"\npopulation \"batch\" {\n arrivals \"constant\" {\n every = \"1s\"\n}\n}", "", "folder/mine.hcl:3:2: Duplicate arrivals block"},
		"many below": {"base = \"small.hcl\"\ncluster {\n lose {\n nodes = 2\n}\n}", strings.Replace(small, "  lose {", "lose {\n nodes = 1\n at = \"1m\"\n}\n  lose {", 1),
			"folder/mine.hcl:3:2: block lose: the base has 2 of them and this file 1, so which goes over which cannot be said"},
		"many here":                  {"base = \"small.hcl\"\npolicy \"random\" {}\npolicy \"paragon\" {}\npolicy \"paragon\" {}", "", `folder/mine.hcl:3:1: block policy "paragon": the base has 1 of them and this file 2, so`},
		"a policy that is not there": {"base = \"small.hcl\"\npolicies = [\"least-loadet\"]", "", `folder/mine.hcl:2:12: unknown policy "least-loadet"; did you mean "least-loaded"? Known: paragon, least-loaded, oracle`},
		"a policy named twice":       {"base = \"small.hcl\"\npolicies = [\"oracle\", \"oracle\"]", "", `folder/mine.hcl:2:12: policies names "oracle" twice`},
		"a policy that would be lost": {"base = \"small.hcl\"\npolicies = [\"oracle\"]\n\npolicy \"random\" {}", "",
			`folder/mine.hcl:4:1: policy "random" is not named in policies (line 2): name it there, or leave the block out`},
		"a policy that is there twice": {"base = \"small.hcl\"\npolicies = [\"random\"]\npolicy \"random\" {}\npolicy \"random\" {}", "", `folder/mine.hcl:4:1: policy "random" is there twice`},
		"policies that are no list":    {"base = \"small.hcl\"\npolicies = {}", "", "folder/mine.hcl:2:12: Unsuitable value type"},
		"a policy without a name":      {"base = \"small.hcl\"\npolicies = [\"oracle\"]\npolicy {}", "", "folder/mine.hcl:3:8: Missing name for policy"},
		"many new ones here":           {"base = \"small.hcl\"\npolicy \"random\" {}\npolicy \"random\" {}", "", `folder/mine.hcl:3:1: policy "random" is there twice`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			texts := map[string]string{"small.hcl": small, "mine.hcl": c.mine, "sub/small.hcl": small}
			if c.small != "" {
				texts["small.hcl"] = c.small
			}
			_, err := scenario.Open(folderOf(texts), "mine.hcl", "folder")
			if !errors.Is(err, scenario.ErrScenario) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// On disk a base is looked for in the folder of the file, wherever the program runs; a text
// without a folder has none.
func TestBaseIsInTheFolderOfTheFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{"small.hcl": small, "mine.hcl": "base = \"small.hcl\"\ntitle = \"mine\"", "lost.hcl": "base = \"nothing.hcl\""} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := scenario.Load(filepath.Join(folder, "mine.hcl")); err != nil || s.Title != "mine" || len(s.Policies()) != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := scenario.Load(filepath.Join(folder, "lost.hcl")); err == nil || !strings.Contains(err.Error(), filepath.Join(folder, "lost.hcl")+":1:8: ") {
		t.Errorf("a base that is not there: %v", err)
	}
	missing := filepath.Join(folder, "missing.hcl")
	if _, err := scenario.Load(missing); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.Mkdir(filepath.Join(folder, "sub.hcl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := scenario.Load(filepath.Join(folder, "sub.hcl")); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := decode(t, "title = \"x\"\nbase = \"small.hcl\""); !errors.Is(err, scenario.ErrScenario) || !strings.Contains(err.Error(), "test.hcl:2:8: ") {
		t.Errorf("a text without a folder: %v", err)
	}
}

// How a scenario is written makes no difference to what it is; what it says does.
func TestIdentity(t *testing.T) {
	t.Parallel()
	of := func(old, next string) string {
		t.Helper()
		text := strings.Replace(small, old, next, 1)
		if text == small {
			t.Fatalf("%q is not in the file", old)
		}
		s, err := decode(t, text)
		if err != nil {
			t.Fatal(err)
		}
		return s.Identity()
	}
	same := of("cluster", "# a comment\ncluster")
	for old, next := range map[string]string{
		`title  = "small"`:         `title = "another"`,
		`source = "a test"`:        `notes = ["for readers only"]`,
		"seeds  = [1, 2]":          "loads = []\nseeds  = [ 1,2 ]",
		`limit  = "4h"`:            "limit = \"${\"4h\"}\"",
		"load_swing  = 0.3":        "load_swing = 0.30\n  load_spike = 0",
		`policy "least-loaded" {}`: "policy \"least-loaded\" {\n  admission = \"fifo\"\n  agents = 0\n}",
		`sizing  = "reservation"`:  "",
		"training   = 12\n":        "\ntraining = 6 + 6\n",
		"classes     = [\"memcached\"]\n  jobs        = 3": "jobs = 3\n  classes = [\"memcached\"]",
	} {
		if got := of(old, next); got != same {
			t.Errorf("%q for %q:\ngot  %s\nwant %s", next, old, got, same)
		}
	}
	seen := map[string]string{same: "nothing"}
	for old, next := range map[string]string{
		"[1, 2]":                   "[2, 1]",
		`["ST", "MP"]`:             `["MP", "ST"]`,
		"nodes = 1":                "nodes = 2",
		`policy "least-loaded" {}`: `policy "random" {}`,
		"load_swing  = 0.3":        "load_swing = 0.31",
		"targets     = true":       "targets = false",
		"training   = 12":          "training = 12\n entries = 2",
		`adapter = "quasar"`:       "adapter = \"quasar\"\n options = {}\n admission_options = { classes = \"3\" }",
		"profiling {":              "world {}\nprofiling {",
	} {
		got := of(old, next)
		if other, ok := seen[got]; ok {
			t.Errorf("%q makes no difference from %s", next, other)
		}
		seen[got] = next
	}
}

// A run of one policy is another one where the scenario or the policy is, and not where other
// policies or seeds are.
func TestIdentityOfAPolicy(t *testing.T) {
	t.Parallel()
	for next, same := range map[string]bool{
		small: true, strings.Replace(small, "[1, 2]", "[3]", 1): true, strings.Replace(small, `policy "least-loaded" {}`, `policy "random" {}`, 1): true,
		strings.Replace(small, `adapter = "quasar"`, "", 1): false, strings.Replace(small, "training   = 12", "training   = 13", 1): false,
	} {
		s, err := decode(t, small)
		if err != nil {
			t.Fatal(err)
		}
		other, err := decode(t, next)
		if err != nil {
			t.Fatal(err)
		}
		if (s.IdentityOf("paragon") == other.IdentityOf("paragon")) != same || s.IdentityOf("paragon") == other.IdentityOf("oracle") {
			t.Errorf("the same: %v\n%s", !same, next)
		}
	}
}

// Whatever is in two files, an error has a place, and a file that says nothing of
// its own is its base.
func FuzzBase(f *testing.F) {
	f.Add([]byte("base = \"under.hcl\"\ntitle = \"over\"\npolicy \"random\" {}"), []byte(small))
	f.Add([]byte("base = \"under.hcl\"\ncluster {\n lose {\n nodes = 2\n}\n}"), []byte(small))
	f.Add([]byte("base = \"under.hcl\""), []byte("base = \"over.hcl\""))
	f.Fuzz(func(t *testing.T, over, under []byte) {
		files := fstest.MapFS{"over.hcl": {Data: over}, "under.hcl": {Data: under}, "same.hcl": {Data: []byte("base = \"over.hcl\"")}}
		s, err := scenario.Open(files, "over.hcl", ".")
		if err != nil {
			if !strings.Contains(err.Error(), "over.hcl:") && !strings.Contains(err.Error(), "under.hcl:") {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		same, err := scenario.Open(files, "same.hcl", ".")
		if err != nil || same.Identity() != s.Identity() {
			t.Errorf("%v: a file that adds nothing is not its base", err)
		}
	})
}
