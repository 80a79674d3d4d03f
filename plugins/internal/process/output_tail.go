package process

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/scqm/scqm/internal/quote"
)

// tailBytes is the number of bytes kept from the end of a plugin's output.
const tailBytes = 16 << 10

// outputTail is a writer that keeps the end of the data written to it.
type outputTail struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer. It never returns an error.
func (t *outputTail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-tailBytes):]...)
	if len(t.text) > 2*tailBytes {
		t.text = slices.Clone(t.text[len(t.text)-tailBytes:])
	}
	return len(p), nil
}

// lastWords returns the most informative line: the last one that reports a panic of a
// Go program, else the last one. The line is quoted because a plugin could send control
// characters to the terminal.
func (t *outputTail) lastWords() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, panicked := "", ""
	for line := range strings.Lines(string(t.text[max(0, len(t.text)-tailBytes):])) {
		line = strings.TrimSpace(message(line))
		if line != "" {
			last = line
		}
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			panicked = line
		}
	}
	if panicked != "" {
		last = panicked
	}
	return quote.Text(last)
}

// message returns the message of a line that is a JSON log entry. It returns any other
// line unchanged.
func message(line string) string {
	var entry struct {
		Message *string `json:"@message"`
	}
	if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &entry) == nil && entry.Message != nil {
		return *entry.Message
	}
	return line
}
