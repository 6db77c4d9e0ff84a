package engine

import "time"

// Now is not allowed here.
var Now = time.Now
