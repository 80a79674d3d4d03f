package bindings

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"sync"
)

// maxLogged is the maximum number of log records kept for Python. Further records are dropped.
const maxLogged = 1000

// logged stores the log records of a job's plugins until Python fetches them.
type logged struct {
	mu      sync.Mutex
	records []json.RawMessage
}

// Write implements [io.Writer]. Each call writes one record.
func (l *logged) Write(record []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.records) < maxLogged {
		l.records = append(l.records, bytes.Clone(record))
	}
	return len(record), nil
}

func (l *logged) count() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return float64(len(l.records))
}

func (l *logged) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Logged returns what plugins have logged since the last call, as a JSON list of the records of log/slog.
func Logged(number int64) (string, error) {
	return withJob("log", number, func(j *job) (string, error) {
		j.log.mu.Lock()
		defer j.log.mu.Unlock()
		records := j.log.records
		j.log.records = nil
		return encode(records)
	})
}
