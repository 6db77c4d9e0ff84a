package access

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// limits count what each of many may do.
type limits struct {
	perSecond rate.Limit
	burst     int

	mu  *sync.Mutex
	all *lru.Cache[string, *rate.Limiter]
}

func newLimits(perSecond float64, burst int) limits {
	return limits{rate.Limit(perSecond), burst, &sync.Mutex{}, kept[string, *rate.Limiter](keptSources)}
}

// take takes one, or says how long to wait for the next. What was taken can be given
// back.
func (l limits) take(who string, now time.Time) (giveBack func(), wait time.Duration) {
	l.mu.Lock()
	limit, ok := l.all.Get(who)
	if !ok {
		limit = rate.NewLimiter(l.perSecond, l.burst)
		l.all.Add(who, limit)
	}
	l.mu.Unlock()
	one := limit.ReserveN(now, 1)
	if wait := one.DelayFrom(now); wait > 0 {
		one.CancelAt(now)
		return func() {}, wait
	}
	return func() { one.CancelAt(now) }, 0
}

// networkBits of an IPv6 address are one source: a machine has all of the rest.
const networkBits = 64

// sourceOf is where a request comes from. Headers that say something else are not
// believed.
func sourceOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if address = address.Unmap(); address.Is4() {
		return address.String()
	}
	network, err := address.WithZone("").Prefix(networkBits)
	if err != nil {
		return host
	}
	return network.String()
}
