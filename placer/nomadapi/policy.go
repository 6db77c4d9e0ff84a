package nomadapi

import _ "embed"

// PolicyHCL is the least-privilege ACL policy of the placer's workload identity,
// commented capability by capability. It names the default hold pool.
//
//go:embed policy.hcl
var PolicyHCL string
