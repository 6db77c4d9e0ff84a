package ibench

import "sync"

// alert is what keeps a kernel from its intensity now; empty while nothing
// does. It is safe for concurrent use.
type alert struct {
	mu   sync.Mutex
	text string
}

func (a *alert) set(text string) {
	a.mu.Lock()
	a.text = text
	a.mu.Unlock()
}

// list is the alert as a load's Alerts.
func (a *alert) list() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.text == "" {
		return nil
	}
	return []string{a.text}
}
