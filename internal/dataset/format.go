package dataset

import "strings"

// Formats, by the extension that stands for them.
const (
	formatNPY = ".npy"
	formatNPZ = ".npz"
	formatCSV = ".csv"
	formatTSV = ".tsv"
	formatIDX = ".idx"
	formatTXT = ".txt" // labels only
)

var formats = []string{formatNPY, formatNPZ, formatCSV, formatTSV, formatIDX}

// splitKey cuts file.npz:key in two. A colon elsewhere belongs to the name.
func splitKey(path string) (name, key string) {
	for i := range len(path) {
		if path[i] != ':' {
			continue
		}
		plain := strings.TrimSuffix(strings.ToLower(path[:i]), ".gz")
		if strings.HasSuffix(plain, formatNPZ) {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}
