package nomadapi

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// tokenHeader is where Nomad looks for a token.
const tokenHeader = "X-Nomad-Token" //nolint:gosec // the name of a header

// tokenFile is a token in a file, which Nomad writes anew before the old one ends.
type tokenFile struct {
	path string

	mu    sync.Mutex
	token string
	at    time.Time // of the file when it was read
	size  int64
}

// openTokenFile reads the token for the first time.
func openTokenFile(path string, log *slog.Logger) (*tokenFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the token's file: %w; Nomad writes it for a task with `identity { file = true }`", err)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		log.Warn("others on this machine can read the agent's token; name the task's user in its job, and Nomad writes the file for that user alone",
			"file", path, "mode", info.Mode().Perm().String())
	}
	t := &tokenFile{path: path}
	if t.current() == "" {
		return nil, fmt.Errorf("the token's file %s has no token that this user can read", path)
	}
	return t, nil
}

// current is the token as it is now. While the file is written it is empty: the token from
// before is still good then.
func (t *tokenFile) current() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	info, err := os.Stat(t.path)
	if err != nil || info.ModTime().Equal(t.at) && info.Size() == t.size {
		return t.token
	}
	if text, err := os.ReadFile(t.path); err == nil && len(bytes.TrimSpace(text)) > 0 {
		t.token, t.at, t.size = string(bytes.TrimSpace(text)), info.ModTime(), info.Size()
	}
	return t.token
}

// own is the token we are known by now.
func (c *client) own() string {
	if c.token == nil {
		return c.fixed
	}
	return c.token.current()
}

// secret is the token for a request that the client of commands makes; "" is the one that
// it was made with.
func (c *client) secret() string {
	if c.token == nil {
		return ""
	}
	return c.token.current()
}
