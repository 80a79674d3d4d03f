package memory

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units of sizes, each 1024 times the one before.
const units = "KMGTPE"

// Parse parses a size in bytes: a number and a unit K, M, G or T. Units are powers of
// 1024, and may be followed by B or iB.
func Parse(s string) (int64, error) {
	text := strings.ToUpper(strings.TrimSpace(s))
	number := strings.TrimRight(text, units+"IB")
	suffix := strings.TrimSuffix(strings.TrimSuffix(text[len(number):], "B"), "I")
	scale := 1.0
	if len(suffix) == 1 {
		k := strings.Index(units, suffix)
		scale = math.Pow(1024, float64(k+1))
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	bytes := v * scale
	if err != nil || len(suffix) > 1 || !(bytes >= 1) || bytes > math.MaxInt64/2 {
		return 0, fmt.Errorf("want a size such as 512M or 4G")
	}
	return int64(bytes), nil
}

// Format formats a size with a unit.
func Format(bytes float64) string {
	k := -1
	for bytes >= 1024 && k < len(units)-1 {
		bytes /= 1024
		k++
	}
	switch {
	case math.IsInf(bytes, 0):
		return "an endless amount"
	case k < 0:
		return fmt.Sprintf("%.0f bytes", bytes)
	case bytes < 10:
		return fmt.Sprintf("%.1f %ciB", bytes, units[k])
	}
	return fmt.Sprintf("%.0f %ciB", bytes, units[k])
}
