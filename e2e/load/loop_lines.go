package load

import (
	"bytes"
	"context"
	"errors"
	"os"
	"time"
)

// lineBufferBytes is read at once.
const lineBufferBytes = 64 << 10

// lines counts the lines the command prints. Lines that arrive together are one
// tick.
func lines(ctx context.Context, c LoopConfig, count *progress) error {
	runner, err := newCommandRunner(c)
	if err != nil {
		return err
	}
	defer runner.close()
	return restart(ctx, count, func(ctx context.Context) error {
		output, stdout, err := os.Pipe()
		if err != nil {
			return err
		}
		cmd := runner.command(ctx)
		cmd.Stdout = stdout
		err = cmd.Start()
		_ = stdout.Close() // ours: the command has its own
		if err != nil {
			return errors.Join(runner.ended(ctx, cmd, err), output.Close())
		}
		reading := make(chan struct{})
		go func() {
			defer close(reading)
			countLines(output, count)
		}()
		err = cmd.Wait()
		failure := runner.ended(ctx, cmd, err)
		// What it left behind is dead; what it printed is read to its end, but no
		// longer than that takes.
		_ = output.SetReadDeadline(time.Now().Add(lastWordsWait))
		<-reading
		return errors.Join(failure, output.Close())
	})
}

func countLines(output *os.File, count *progress) {
	buffer := make([]byte, lineBufferBytes)
	for {
		n, err := output.Read(buffer)
		if lines := bytes.Count(buffer[:n], []byte{'\n'}); lines > 0 {
			count.tick(time.Now(), float64(lines))
		}
		if err != nil {
			return
		}
	}
}
