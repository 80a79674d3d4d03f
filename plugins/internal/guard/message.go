package guard

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// A guard is started with the name title and the environment variable mark=version. The
// file descriptors from fileAt on are those of [Program], followed by those for
// communication between host and guard.
const (
	title   = "scqm-plugin-guard"
	mark    = "SCQM_PLUGIN_GUARD"
	version = "1"

	fileAt    = 3
	stdoutAt  = 4
	stderrAt  = 5
	controlAt = 6
	reportAt  = 7
)

// The words of a guard's report. Each but the first is followed by a number.
const (
	ready   = "ready"
	started = "started" // process number of the program
	failed  = "failed"  // error number
	ended   = "ended"   // status of wait(2)
)

// maxMessage is the maximum size of the message to a guard. The kernel allows less.
const maxMessage = 16 << 20

// encode returns the message that describes the program to start: its length in 4
// bytes, then strings terminated by NUL, as for the kernel.
func encode(p Program, host int) []byte {
	texts := append([]string{strconv.Itoa(host), p.Path, p.Dir, strconv.Itoa(len(p.Args))}, p.Args...)
	body := strings.Join(append(texts, p.Env...), "\x00") + "\x00"
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// decode decodes the message of encode without the length.
func decode(body []byte) (p Program, host int, ok bool) {
	texts := strings.Split(string(body), "\x00")
	if len(texts) < 5 {
		return p, 0, false
	}
	host, err := strconv.Atoi(texts[0])
	count, errCount := strconv.Atoi(texts[3])
	rest := texts[4 : len(texts)-1]
	if err != nil || errCount != nil || count < 1 || count > len(rest) {
		return p, 0, false
	}
	return Program{Path: texts[1], Dir: texts[2], Args: rest[:count], Env: rest[count:]}, host, true
}
