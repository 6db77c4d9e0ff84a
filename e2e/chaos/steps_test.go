package main

import "testing"

// The step of an agent is the latest that any of its jobs is in, and none before it leads.
func TestTheLogTellsTheStep(t *testing.T) {
	t.Parallel()
	var l agentLog
	for _, c := range []struct{ line, want string }{
		{`level=INFO msg="nomad-placer agent started" version=1`, noStep},
		{`level=INFO msg=leading address=x`, noStep},
		{`level=DEBUG msg=stage job=default/a version=0 stage=hold message="held: seen"`, stepHold},
		{`level=DEBUG msg=stage job=default/b version=0 stage=profile message="profiling on x"`, stepProfile},
		{`level=DEBUG msg=stage job=default/b version=0 stage=observe message="released"`, stepHold},
		{`level=DEBUG msg=stage job=default/a version=0 stage=rewrite message="writing"`, stepRewrite},
		{`level=DEBUG msg="adaptation begins" workload=default/b/main kind=resize`, stepTransfer},
		{`level=INFO msg=adaptation workload=default/b/main kind=resize from=1 result=done`, stepRewrite},
		{`level=WARN msg="leadership lost" error=x`, noStep},
	} {
		l.read([]byte("time=1 " + c.line + "\n"))
		if got := l.step(); got != c.want {
			t.Errorf("after %s: %q, want %q", c.line, got, c.want)
		}
	}
	if l.leads || l.seen["resize"] != 1 {
		t.Errorf("%+v", l)
	}
}
