package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/internal/memory"
)

// The entry point knows the limits of package memory, and says them.
func TestEntryPointHasTheLimits(t *testing.T) {
	b, err := os.ReadFile("entry_linux.h")
	require.NoError(t, err)
	text := string(b)
	for name, want := range map[string]int64{"MIN_ADDRESS_SPACE": memory.MinAddressSpace, "MIN_DATA": memory.MinData} {
		found := regexp.MustCompile(`#define ` + name + ` (0x[0-9a-f]+)`).FindStringSubmatch(text)
		require.NotNil(t, found, name)
		got, err := strconv.ParseInt(found[1], 0, 64)
		require.NoError(t, err)
		assert.Equal(t, want, got, name)
	}
	for name, limit := range map[string]int64{"noAddressSpace": memory.MinAddressSpace, "noData": memory.MinData} {
		said := ""
		for _, m := range regexp.MustCompile(`DATA `+name+`<>\+(\d+)\(SB\)/(\d), \$("[^"]*")`).FindAllStringSubmatch(text, -1) {
			part, err := strconv.Unquote(m[3])
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprint(len(said)), m[1])
			assert.Equal(t, fmt.Sprint(len(part)), m[2])
			said += part
		}
		assert.Contains(t, text, fmt.Sprintf("#define %s_len %d\n", name, len(said)))
		assert.Contains(t, text, fmt.Sprintf("GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", name, len(said)))
		assert.Contains(t, said, fmt.Sprintf(" %d MiB that the program needs to start", limit>>20))
		assert.True(t, strings.HasSuffix(said, "\n"))
	}
}
