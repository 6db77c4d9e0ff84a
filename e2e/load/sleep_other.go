//go:build !linux

package load

import "time"

// sharpenTimers does nothing where threads have no timer slack.
func sharpenTimers() {}

func preciseSleep(d time.Duration) { time.Sleep(d) }
