package sim

// The latency of a service is not simulated request by request. In a queue with random arrivals
// and exponential service times every percentile of the time in the system is proportional to
// 1/(μ − λ), where λ requests per second come and μ could be served (M/M/1; Kleinrock 1975, §3.2).
// A service that is left a share s of the speed it was sized by then has a tail latency of
//
//	(1 − ρ) / (s − ρ)
//
// times that in isolation, where ρ is the share of its speed that its load takes.
const (
	// tailBusy is ρ (chosen by us: services that must answer in time are sized to be busy for two
	// thirds to three quarters of the time).
	tailBusy = 0.7
	// worstTail is the factor from which clients give up (chosen by us), and what a service that
	// cannot serve its load is counted with: without end its queue would grow for ever.
	worstTail = 100
)

// tailOf is the factor on the tail latency of a service that is left a share of the speed it was
// sized by. More than that is of no use.
func tailOf(share float64) float64 {
	over := min(1, share) - tailBusy
	if over <= (1-tailBusy)/worstTail {
		return worstTail
	}
	return (1 - tailBusy) / over
}
