package profile

import (
	"slices"
	"strings"
)

// DefaultNamespace is Nomad's.
const DefaultNamespace = "default"

// Sharing says whose profiles count for whom. By default those of a namespace count for it
// alone: what one tenant's workload does while it is measured is that tenant's word.
type Sharing struct {
	All     bool     // one for all
	Between []string // namespaces that share among themselves
}

// Scope names what a namespace shares profiles with: namespaces of one scope have theirs
// in common. It is the name of one of them.
func (s Sharing) Scope(namespace string) string {
	switch {
	case s.All:
		return DefaultNamespace
	case !slices.Contains(s.Between, namespace):
		return namespace
	case slices.Contains(s.Between, DefaultNamespace):
		return DefaultNamespace
	default:
		return slices.Min(s.Between)
	}
}

// Namespace is that of the workload that was measured.
func (p Profile) Namespace() string {
	namespace, _, _ := strings.Cut(p.Workload, "/")
	return namespace
}

// BuildVariables are variables of the environment that by custom only say which build a
// program is, so that a profile outlives a build. VERSION and TAG are not among them:
// programs choose by those what they fetch.
func BuildVariables() []string {
	return []string{
		"BUILD_ID", "BUILD_NUMBER", "BUILD_TAG", "BUILD_URL", "BUILD_DATE", "BUILD_TIMESTAMP",
		"GIT_COMMIT", "GIT_SHA", "GIT_REVISION",
		"CI_COMMIT_SHA", "CI_COMMIT_SHORT_SHA", "CI_JOB_ID", "CI_PIPELINE_ID", "CI_PIPELINE_IID",
		"GITHUB_SHA", "GITHUB_RUN_ID", "GITHUB_RUN_NUMBER", "CIRCLE_SHA1", "CIRCLE_BUILD_NUM",
		"BITBUCKET_COMMIT", "BITBUCKET_BUILD_NUMBER", "BUILDKITE_COMMIT", "BUILDKITE_BUILD_NUMBER",
		"DEPLOY_ID", "DEPLOYED_AT", "DD_VERSION", "SENTRY_RELEASE",
	}
}
