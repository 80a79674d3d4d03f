//go:build cgo && unix

package stdio

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const asked = "SCQM_TEST_CLOSED_FILES"

// TestMain answers, with its exit code, which files were closed.
func TestMain(m *testing.M) {
	if os.Getenv(asked) == "" {
		os.Exit(m.Run())
	}
	os.Exit(100 + int(Closed()))
}

func TestClosed(t *testing.T) {
	for redirection, want := range map[string]int{
		"": 0, "<&-": 1, ">&-": 2, "2>&-": 4, "<&- >&- 2>&-": 7,
		"</dev/null >/dev/null 2>/dev/null": 0, "0<>/dev/null 1<>/dev/null 2<>/dev/null": 0,
	} {
		cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf(`"$0" %s`, redirection), os.Args[0])
		cmd.Env = append(os.Environ(), asked+"=1")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = &bytes.Buffer{}, &bytes.Buffer{}, &bytes.Buffer{}
		require.Error(t, cmd.Run())
		assert.Equal(t, 100+want, cmd.ProcessState.ExitCode(), redirection)
	}
}
