package interference

import _ "example.org/bad/placer/cluster"
