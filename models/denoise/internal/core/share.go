package core

import (
	"context"
	"math"

	"github.com/scqm/scqm/models/denoise/internal/lookup"
	"github.com/scqm/scqm/models/rows"
)

// sharedJobs returns jobs in which several rows use one chart. A row uses the chart that serves the fitted row nearest
// to it. Fitted rows are visited in order. One without a chart makes a chart, which serves all rows within the fraction
// share of the distance of its furthest neighbour. The assignment depends on the fitted rows alone.
func (d *Prepared) sharedJobs(x rows.Data, share float64) []job {
	chart := d.sharedCharts(share)
	var s lookup.Search
	rows := map[int]int{} // chart to job
	var jobs []job
	for i := range x.N {
		at := chart[s.Find(d.Cloud.Index, x.Row(i), 1)[0].Row]
		k, ok := rows[at]
		if !ok {
			k = len(jobs)
			rows[at] = k
			jobs = append(jobs, job{centre: d.Cloud.Row(at)})
		}
		jobs[k].rows = append(jobs[k].rows, i)
	}
	return jobs
}

// sharedCharts returns, for every fitted row of positive weight, the row whose
// chart serves it.
func (d *Prepared) sharedCharts(share float64) []int {
	c := d.Cloud
	chart := make([]int, c.N)
	for i := range chart {
		chart[i] = -1
	}
	var s lookup.Search
	for _, i := range c.Used {
		if chart[i] >= 0 {
			continue
		}
		chart[i] = i
		found := s.Find(c.Index, c.Row(i), d.Size)
		reach := share * math.Sqrt(found[len(found)-1].Distance)
		for _, f := range found {
			if chart[f.Row] < 0 && math.Sqrt(f.Distance) <= reach {
				chart[f.Row] = i
			}
		}
	}
	return chart
}

// compareShared measures how much sharing charts changes the results.
func (d *Prepared) compareShared(ctx context.Context, x rows.Data, r *Result, o Options) error {
	n := min(x.N, 256)
	some := rows.Data{N: n, D: x.D}
	for k := range n {
		some.X = append(some.X, x.Row(k*x.N/n)...)
	}
	o.Share, o.Progress = 0, nil
	own, err := d.Each(ctx, some, o)
	if err != nil {
		return err
	}
	var apart, moved float64
	for k := range n {
		i := k * x.N / n
		shared, alone := r.X[i*x.D:(i+1)*x.D], own.X[k*x.D:(k+1)*x.D]
		for j, v := range alone {
			apart += (shared[j] - v) * (shared[j] - v) / float64(n)
			moved += (x.Row(i)[j] - v) * (x.Row(i)[j] - v) / float64(n)
		}
	}
	r.ShareError, r.ShareMoved = math.Sqrt(apart), math.Sqrt(moved)
	return nil
}
