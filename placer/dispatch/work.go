package dispatch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ResultFile is what a dispatch leaves in the folder that its allocation shares.
const ResultFile = "result"

// Done is what Work did.
type Done struct {
	Units  int `json:"units"`
	Failed int `json:"failed"` // of them
	// Refused: the units are of another build of the program, and none was done.
	Refused bool `json:"refused"`
}

// Work does what a payload says, in a program that was handed it, and leaves the results in a
// folder. What is wrong with a unit is its result; an error is that nothing could be done.
func Work(ctx context.Context, payload []byte, folder string, now func() time.Time, do func(ctx context.Context, input []byte) ([]byte, error)) (done Done, err error) {
	b, err := decodeBundle(payload)
	if err != nil {
		return done, err
	}
	program, err := thisProgram()
	if err != nil {
		return done, fmt.Errorf("dispatch: this program: %w", err)
	}
	r := returned{Program: program}
	if done.Refused = program != b.Program; !done.Refused { // else that is what is told
		for _, input := range b.Inputs {
			begun := now()
			o := outcome{Input: checksum(input)}
			if o.Result, err = do(ctx, input); err != nil {
				o.Result, o.Error = nil, err.Error()
				done.Failed++
			}
			if ctx.Err() != nil {
				return done, ctx.Err()
			}
			o.Seconds = now().Sub(begun).Seconds()
			r.Outcomes = append(r.Outcomes, o)
			done.Units++
		}
	}
	data, err := r.encode()
	if err != nil {
		return done, err
	}
	path := filepath.Join(folder, ResultFile)
	if err := os.WriteFile(path+".part", data, 0o644); err != nil {
		return done, fmt.Errorf("dispatch: %w", err)
	}
	return done, os.Rename(path+".part", path)
}
