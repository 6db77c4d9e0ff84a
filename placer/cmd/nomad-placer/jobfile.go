package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/hashicorp/nomad/api"
	"github.com/zclconf/go-cty/cty"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// variableFlags are the HCL variables of a jobspec.
type variableFlags struct {
	set   listFlag
	files listFlag
}

func (v *variableFlags) add(f *flag.FlagSet) {
	f.Var(&v.set, "var", "Set the job's variable: `name=value`. May be given several times.")
	f.Var(&v.files, "var-file", "Read the job's variables from this HCL `file`. May be given several times.")
}

// listFlag is a flag that may be given several times.
type listFlag []string

func (l *listFlag) String() string { return strings.Join(*l, ",") }

func (l *listFlag) Set(v string) error {
	*l = append(*l, v)
	return nil
}

// read returns the content of the files and the variables of -var.
func (v *variableFlags) read() (string, map[string]string, error) {
	var b strings.Builder
	for _, file := range v.files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", nil, fmt.Errorf("variables: %w", err)
		}
		b.Write(content)
		b.WriteByte('\n')
	}
	flags := map[string]string{}
	for _, pair := range v.set {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || !hclsyntax.ValidIdentifier(name) {
			return "", nil, command.UsageError("-var takes name=value, not %q", pair)
		}
		flags[name] = value
	}
	return b.String(), flags, nil
}

// variableExpression writes a list or object as it is, and anything else as a
// string, which Nomad converts to the variable's type.
func variableExpression(value string) string {
	trimmed := strings.TrimSpace(value)
	if strings.HasPrefix(trimmed, "[") || strings.HasPrefix(trimmed, "{") {
		if _, diags := hclsyntax.ParseExpression([]byte(trimmed), "-var", hcl.InitialPos); !diags.HasErrors() {
			return trimmed
		}
	}
	return string(hclwrite.TokensForValue(cty.StringVal(value)).Bytes())
}

// jobFile is a job as the user wrote it.
type jobFile struct {
	name       string // for messages
	source     []byte
	stripped   []byte // without performance blocks
	blocks     map[string]jobhcl.Block
	specs      map[string]performance.Spec
	fileVars   string             // content of the -var-file files
	flags      map[string]string  // -var
	diagnostic jobhcl.Diagnostics // errors and warnings, in order
}

// readJobFile reads and checks a file, or standard input for "-". Problems of
// its performance blocks are in diagnostic; an error means it could not be read.
func readJobFile(s *command.Shell, name string, vars *variableFlags) (*jobFile, error) {
	j := &jobFile{name: name, specs: map[string]performance.Spec{}}
	var err error
	if name == "-" {
		j.name = "standard input"
		j.source, err = io.ReadAll(s.In)
	} else {
		j.source, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, fmt.Errorf("job file: %w", err)
	}
	if j.fileVars, j.flags, err = vars.read(); err != nil {
		return nil, err
	}
	j.stripped, j.blocks, j.diagnostic = jobhcl.Extract(j.source, j.name)
	for _, group := range slices.Sorted(maps.Keys(j.blocks)) {
		spec, _, err := blockOptions().DecodeBlock(j.blocks[group], j.name)
		if err := j.collect(err); err != nil {
			return nil, err
		}
		j.specs[group] = spec
	}
	return j, nil
}

// collect keeps the diagnostics that an error is made of.
func (j *jobFile) collect(err error) error {
	var ds jobhcl.Diagnostics
	if errors.As(err, &ds) {
		j.diagnostic = append(j.diagnostic, ds...)
		return nil
	}
	return err
}

// isJSON reports a job written in Nomad's JSON form.
func (j *jobFile) isJSON() bool {
	return strings.HasPrefix(strings.TrimSpace(string(j.source)), "{")
}

// parse lets Nomad read the jobspec and puts the performance texts into it.
func (j *jobFile) parse(ctx context.Context, client *api.Client, namespace string) (map[string]any, error) {
	job, err := j.parsed(ctx, client)
	if err != nil {
		return nil, err
	}
	if err := jobhcl.Attach(job, j.blocks); err != nil {
		return nil, fmt.Errorf("%s: %w", j.name, err)
	}
	if given, _ := job["Namespace"].(string); given == "" || (given == api.DefaultNamespace && namespace != "") {
		job["Namespace"] = namespace
	}
	if err := j.checkTexts(job); err != nil {
		return nil, err
	}
	return job, nil
}

func (j *jobFile) parsed(ctx context.Context, client *api.Client) (map[string]any, error) {
	if j.isJSON() {
		var wrapped struct{ Job map[string]any }
		if err := command.DecodeNumbers(bytes.NewReader(j.source), &wrapped); err != nil {
			return nil, fmt.Errorf("%s: %w", j.name, err)
		}
		if wrapped.Job == nil {
			return nil, fmt.Errorf(`%s: a job in JSON is {"Job": {…}}`, j.name)
		}
		return wrapped.Job, nil
	}
	var answer json.RawMessage
	request := api.JobsParseRequest{JobHCL: string(j.stripped), Variables: j.variables(), Canonicalize: true}
	if _, err := client.Raw().Write("/v1/jobs/parse", &request, &answer, (&api.WriteOptions{}).WithContext(ctx)); err != nil {
		return nil, j.parseError(err)
	}
	var job map[string]any
	if err := command.DecodeNumbers(bytes.NewReader(answer), &job); err != nil {
		return nil, fmt.Errorf("nomad's answer: %w", err)
	}
	return job, nil
}

// parseError puts the user's file name into Nomad's message.
func (j *jobFile) parseError(err error) error {
	var answer api.UnexpectedResponseError
	if !errors.As(err, &answer) || !answer.HasBody() || answer.StatusCode() == http.StatusForbidden {
		return fmt.Errorf("asking Nomad to read %s: %w", j.name, err)
	}
	return fmt.Errorf("%s", strings.ReplaceAll(strings.TrimSpace(answer.Body()), "input.hcl:", j.name+":"))
}

// checkTexts decodes what a stock file carries in meta, so that its problems
// are told before the job is registered.
func (j *jobFile) checkTexts(job map[string]any) error {
	texts := jobhcl.FromMeta(job)
	for _, group := range slices.Sorted(maps.Keys(texts)) {
		if _, native := j.blocks[group]; native {
			continue
		}
		spec, _, err := decodeBlock(texts[group], j.name+": meta.performance of group "+group)
		if err := j.collect(err); err != nil {
			return err
		}
		j.specs[group] = spec
	}
	return j.diagnostic.Err()
}

// submission is what the Definition tab of Nomad shows: the user's own text.
func (j *jobFile) submission() *api.JobSubmission {
	format := "hcl2"
	if j.isJSON() {
		format = "json"
	}
	return &api.JobSubmission{Source: string(j.source), Format: format, Variables: j.fileVars, VariableFlags: j.flags}
}

// variables are all variables as the content of one file, which is what
// Nomad's parse endpoint takes: the files first, -var after them.
func (j *jobFile) variables() string {
	text := j.fileVars
	for _, name := range slices.Sorted(maps.Keys(j.flags)) {
		text += name + " = " + variableExpression(j.flags[name]) + "\n"
	}
	return text
}

// hold puts a job with targets into the hold pool. A pool of the user's own
// would be lost on release, so it is refused.
func hold(job map[string]any, n *nomadFlags) error {
	pool, _ := job["NodePool"].(string)
	if !(cluster.Pools{Hold: n.holdPool, Run: n.runPool}).MayHold(pool) {
		return fmt.Errorf("the job names node_pool %q, but a held job is released into %q: "+
			"leave node_pool out and use a constraint, or give -run-pool and configure the agent alike", pool, n.runPool)
	}
	job["NodePool"] = n.holdPool
	return nil
}
