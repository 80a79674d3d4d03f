package selection

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

const (
	// normalSpread is the standard deviation of a Gaussian divided by its median absolute deviation.
	normalSpread = 1.482602218505602
	// efficient is the threshold of Huber's loss of an entry, in standard deviations, that has
	// 95 % efficiency under Gaussian noise.
	efficient = 1.345
	// outlying is the least residual of an outlying entry, in standard deviations of the noise. Gaussian noise
	// exceeds it with probability 6e-5.
	outlying = 4
	// manyOutliers is the share of outlying entries above which a robust loss is tried.
	manyOutliers = 0.005
)

// outliers describes the distribution of outlying entries over the rows. Independent corrupted entries have a
// binomial number in a row; corrupted rows contain most of the outlying entries. A row with more of them than
// expected by chance in any row is clustered.
type outliers struct {
	share     float64 // fraction of all entries that are outlying
	clustered float64 // fraction of outlying entries that are in clustered rows
}

// many reports whether single entries are outlying.
func (o outliers) many() bool { return o.share >= manyOutliers && !o.wholeRows() }

// wholeRows reports whether most of the outlying entries are in clustered rows.
func (o outliers) wholeRows() bool { return o.share >= manyOutliers && o.clustered > 0.5 }

// String describes the outliers in a sentence.
func (o outliers) String() string {
	switch {
	case o.wholeRows():
		return fmt.Sprintf("%.2g %% of the entries are outlying, and %.0f %% of those are in rows that are so as a whole", 100*o.share, 100*o.clustered)
	case o.many():
		return fmt.Sprintf("%.2g %% of the entries are outlying, in rows by chance", 100*o.share)
	}
	return fmt.Sprintf("%.2g %% of the entries are outlying, too few to matter", 100*o.share)
}

// countOutliers counts the outlying entries of residuals, n x D, after a fit of d dimensions.
func countOutliers(r []float64, D, d int) (o outliers) {
	spreads, n := noiseSpreads(r, D, d), len(r)/D
	counts := make([]int, n)
	total := 0
	for k, e := range r {
		if math.Abs(e) > outlying*spreads[k%D] {
			counts[k/D]++
			total++
		}
	}
	if total == 0 {
		return o
	}
	o.share = float64(total) / float64(len(r))
	chance := distuv.Binomial{N: float64(D), P: o.share}
	within := 0 // the most that a row has by chance
	for within < D && chance.Survival(float64(within))*float64(n) >= 1 {
		within++
	}
	for _, c := range counts {
		if c > within {
			o.clustered += float64(c) / float64(total)
		}
	}
	return o
}

// noiseSpreads estimates the standard deviation of the noise in each column by the median absolute residual, from
// n x D residuals after a fit of d dimensions. The median of all entries is a lower bound, since half of a column
// may lie on the sheet.
func noiseSpreads(r []float64, D, d int) []float64 {
	all := entrySize(r, D, d)
	spreads, column := make([]float64, D), make([]float64, len(r)/D)
	for j := range spreads {
		for i := range column {
			column[i] = r[i*D+j]
		}
		spreads[j] = normalSpread * max(all, entrySize(column, 1, 0)*math.Sqrt(float64(D)/float64(D-d)))
	}
	return spreads
}

// entrySize returns the median size of the noise in an entry, from n x D residuals after a fit of d dimensions.
func entrySize(residuals []float64, D, d int) float64 {
	sizes := make([]float64, len(residuals))
	for i, e := range residuals {
		sizes[i] = math.Abs(e)
	}
	return median(sizes) * math.Sqrt(float64(D)/float64(D-d))
}

// median returns the median of v, which it sorts.
func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
