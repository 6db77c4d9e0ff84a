package stat

import _ "example.org/bad/profiler/interference"
