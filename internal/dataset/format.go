package dataset

import "strings"

// Formats, named by their file extensions.
const (
	formatNPY = ".npy"
	formatNPZ = ".npz"
	formatCSV = ".csv"
	formatTSV = ".tsv"
	formatIDX = ".idx"
	formatTXT = ".txt" // labels only
)

var formats = []string{formatNPY, formatNPZ, formatCSV, formatTSV, formatIDX}

// splitKey splits file.npz:key into file and key. A colon in any other place is part of the name.
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
