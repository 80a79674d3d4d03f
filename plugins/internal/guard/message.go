package guard

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// A guard is started with title as its name and mark=version in its
// environment. Descriptors from fileAt on are those of [Program], then those
// over which host and guard talk.
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

// What a guard reports: a word and, but for the first, a number.
const (
	ready   = "ready"
	started = "started" // process number of the program
	failed  = "failed"  // error number
	ended   = "ended"   // status of wait(2)
)

// maxMessage bounds the message to a guard; the kernel takes less.
const maxMessage = 16 << 20

// encode makes the message that says what to start: its length in 4 bytes, and
// texts that end in NUL, as they do for the kernel.
func encode(p Program, host int) []byte {
	texts := append([]string{strconv.Itoa(host), p.Path, p.Dir, strconv.Itoa(len(p.Args))}, p.Args...)
	body := strings.Join(append(texts, p.Env...), "\x00") + "\x00"
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// decode reads such a message without its length.
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
