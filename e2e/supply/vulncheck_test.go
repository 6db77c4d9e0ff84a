package supply

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A known vulnerability fails the check; that there is no database is said and does not.
func TestVulncheck(t *testing.T) {
	t.Parallel()
	database, err := filepath.Abs("testdata/database")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env    []string
		module string
		want   string
		fails  bool
	}{
		"vulnerable":        {[]string{"VULNDB=" + database}, "testdata/module", "GO-9999-0001", true},
		"nothing known":     {[]string{"VULNDB=" + database}, ".", "No vulnerabilities found", false},
		"no such directory": {[]string{"VULNDB=" + database + "/none"}, ".", "has no index/db.json", true},
		// Port 9 of this machine answers nobody.
		"no database": {[]string{"VULNDB=", "HTTPS_PROXY=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9"}, ".", "NOT CHECKED: no vulnerability database", false},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "../../.ci/vulncheck", "-C", filepath.Join("e2e/supply", c.module), "./...")
			cmd.Env = append(os.Environ(), c.env...)
			out, err := cmd.CombinedOutput()
			if (err != nil) != c.fails || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, want %q and failure %v:\n%s", err, c.want, c.fails, out)
			}
		})
	}
}
