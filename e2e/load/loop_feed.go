package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

const (
	defaultChunkBytes = 16 << 10
	maxChunkBytes     = 1 << 20
	// maxFeedBytes bounds the input, which is held in memory: reading it anew
	// from disk would be a workload of its own.
	maxFeedBytes = 1 << 30
	megabyte     = 1e6
)

// feed gives the command its input without end, through a pipe that holds one
// chunk, so that a chunk that was taken is work that is done.
func feed(ctx context.Context, c LoopConfig, count *progress) error {
	setDefault(&c.Feed.ChunkBytes, defaultChunkBytes)
	if c.Feed.ChunkBytes < 1 || c.Feed.ChunkBytes > maxChunkBytes {
		return fmt.Errorf("chunks of %d bytes: give 1 to %d", c.Feed.ChunkBytes, maxChunkBytes)
	}
	head, body, err := readFeed(c.Feed)
	if err != nil {
		return err
	}
	runner, err := newCommandRunner(c)
	if err != nil {
		return err
	}
	defer runner.close()
	return restart(ctx, count, func(ctx context.Context) error {
		return feedOnce(ctx, c, runner, head, body, count)
	})
}

func readFeed(f FeedConfig) (head, body []byte, err error) {
	info, err := os.Stat(f.File)
	if err != nil {
		return nil, nil, err
	}
	if info.Size() > maxFeedBytes {
		return nil, nil, fmt.Errorf("%s has %d bytes: at most %d can be fed", f.File, info.Size(), maxFeedBytes)
	}
	if f.HeadBytes < 0 || f.HeadBytes >= info.Size() {
		return nil, nil, fmt.Errorf("a head of %d bytes leaves nothing of %s, which has %d", f.HeadBytes, f.File, info.Size())
	}
	data, err := os.ReadFile(f.File)
	if err != nil {
		return nil, nil, err
	}
	return data[:f.HeadBytes], data[f.HeadBytes:], nil
}

// feedOnce is one run of the command, until it ends.
func feedOnce(ctx context.Context, c LoopConfig, runner *commandRunner, head, body []byte, count *progress) error {
	f := c.Feed
	stdin, input, err := os.Pipe()
	if err != nil {
		return err
	}
	// A pipe of another size only counts less finely.
	sizePipe(input, f.ChunkBytes)
	cmd := runner.command(ctx)
	cmd.Stdin = stdin
	reading, stdout, err := collectOutput(f.Output, count)
	if err != nil {
		return errors.Join(err, stdin.Close(), input.Close())
	}
	if stdout != nil {
		cmd.Stdout = stdout
	}
	err = cmd.Start()
	_ = stdin.Close() // ours: the command has its own
	if stdout != nil {
		_ = stdout.Close()
	}
	if err != nil {
		_ = input.Close()
		<-reading
		return runner.ended(ctx, cmd, err)
	}
	pouring, over := context.WithCancel(ctx)
	writing := make(chan struct{})
	go func() {
		defer close(writing)
		pour(pouring, input, c, head, body, count)
	}()
	err = cmd.Wait()
	over()
	_ = input.Close() // frees a writer that still waits
	<-writing
	<-reading
	return runner.ended(ctx, cmd, err)
}

// pour writes the head once and the body again and again until the context ends,
// with the command. Counting input, a chunk counts when it was taken.
func pour(ctx context.Context, input io.Writer, c LoopConfig, head, body []byte, count *progress) {
	f := c.Feed
	write := func(data []byte) bool {
		for len(data) > 0 {
			chunk := data[:min(len(data), f.ChunkBytes)]
			n, err := input.Write(chunk)
			if !f.Output && n > 0 {
				count.tick(time.Now(), float64(n)/megabyte)
			}
			if err != nil {
				return false // how the command ended says why
			}
			data = data[len(chunk):]
			if !rest(ctx, c.Pause) {
				return false
			}
		}
		return true
	}
	for more := write(head); more; {
		more = write(body)
	}
}

// collectOutput counts what the command prints, if that is its work. done is
// closed when the output has ended.
func collectOutput(wanted bool, count *progress) (done <-chan struct{}, stdout *os.File, err error) {
	ended := make(chan struct{})
	if !wanted {
		close(ended)
		return ended, nil, nil
	}
	output, stdout, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	go func() {
		defer close(ended)
		defer output.Close()
		buffer := make([]byte, maxChunkBytes)
		for {
			n, err := output.Read(buffer)
			if n > 0 {
				count.tick(time.Now(), float64(n)/megabyte)
			}
			if err != nil && !errors.Is(err, syscall.EINTR) {
				return
			}
		}
	}()
	return ended, stdout, nil
}
