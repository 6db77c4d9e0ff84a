package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network/replay"
)

// trafficRun is traffic mode: the part of a model of network traffic that one machine
// plays, to other tasks that do.
type trafficRun struct {
	*journal
	room     *room
	listener *replay.Listener
	player   *replay.Player
}

// prepare checks the request and listens for the peers. Names of peers are resolved once: the
// player is only told of addresses that the operator allows.
func (t *trafficRun) prepare(ctx context.Context) error {
	request := *t.room.spec.Traffic
	part, err := request.Part()
	if err != nil {
		return err
	}
	request.Peers = slices.Clone(request.Peers)
	for i := range request.Peers {
		if request.Peers[i].Address, err = t.room.resolvePeer(ctx, request.Peers[i].Address); err != nil {
			return err
		}
	}
	if t.listener, err = replay.Listen(request.Listen, request.Key); err != nil {
		return err
	}
	t.player = replay.New(request, part)
	asked := t.player.Report().AskedBytesPerSecond
	t.say("plays server %d to %d peers: %.4g bytes/s on average by the model, %.4g at most by the cap", request.Server, len(request.Peers), asked, request.LimitBytesPerSecond)
	if asked > request.LimitBytesPerSecond {
		t.say("the model sends more than the cap: what is over it is left out, and counted")
	}
	return nil
}

// runTraffic sends until there is a reason to stop.
func (t *trafficRun) runTraffic(ctx context.Context) error {
	err := t.player.Play(ctx)
	t.say("%s", t.report())
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return errors.Join(err, t.listener.Close())
}

func (t *trafficRun) report() replay.Report {
	r := t.player.Report()
	r.Received, r.Refused = t.listener.Received()
	return r
}

// handle answers commands: what is sent may be looked at. To change it, the job changes.
func (t *trafficRun) handle(_ context.Context, q Request) Response {
	if q.Command != CommandStats {
		return Response{Error: fmt.Sprintf("traffic follows its model: %q is not possible; possible: %s", q.Command, CommandStats)}
	}
	r := t.report()
	return Response{Traffic: &r}
}
