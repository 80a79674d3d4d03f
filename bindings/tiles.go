package bindings

import (
	"context"
	"encoding"
	"encoding/binary"
	"fmt"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/denoise/classic"
	datarows "github.com/scqm/scqm/models/rows"
)

// tilingSettings are the settings of [StartTiling].
type tilingSettings struct {
	denoiserSettings
	// Columns is the length of rows, Tiles and Queries count parts of the rows fitted
	// and of those to be denoised.
	Columns int `json:"columns"`
	Tiles   int `json:"tiles"`
	Queries int `json:"queries"`
	// Halo is nil where it is estimated.
	Halo    *float64 `json:"halo"`
	Average int      `json:"average"`
	Share   float64  `json:"share"`
}

// StartTiling begins to fit a method to the rows of tiles that Python keeps, or, where
// queries is above 0, to denoise as many parts of queries with the fit of length bytes at fit
// that [TileBytes] gave, with the precision matrix of the loss at precision (0: none). Time and again the job asks
// QuestionTasks: [TaskList] and [FetchTasks] give the tasks, [StartTask] does
// one, here or elsewhere, [AnswerTask] takes the reply, and [AnswerTasks] says that it
// was the last one. It returns 1.
func StartTiling(number int64, settings string, fit uint64, length int64, precision uint64) (int64, error) {
	return guarded("denoise in tiles", func() (int64, error) {
		var s tilingSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		if s.Columns < 1 || s.Tiles < 1 || s.Queries < 0 {
			return 0, fmt.Errorf("%d columns in %d tiles and %d parts of queries: %w", s.Columns, s.Tiles, s.Queries, framework.ErrInvalid)
		}
		fitted, err := readBytes("fit", fit, length)
		if err != nil {
			return 0, err
		}
		return start(number, "denoise in tiles", func(j *job) (any, error) { return s.run(j, fitted, precision) })
	})
}

func (s tilingSettings) run(j *job, fitted []byte, precision uint64) (*denoise.TileFit, error) {
	m, err := s.method(j, s.Columns, precision)
	if err != nil {
		return nil, err
	}
	e := &pythonTiles{job: j, tilingSettings: s}
	o := denoise.Options{Average: s.Average, Share: s.Share, Axes: s.Axes, Progress: j.part()}
	if s.Queries == 0 {
		how := denoise.Tiling{Halo: -1}
		if s.Halo != nil {
			how.Halo = *s.Halo
		}
		return denoise.FitTiles(j.ctx, m, e, how, o)
	}
	f, err := denoise.LoadTileFit(fitted, m)
	if err != nil {
		return nil, err
	}
	return f, f.Denoise(j.ctx, e, o)
}

// TilingReport describes the result of such a job as a JSON object: the method, a note where it is not the
// one asked for, the number of principal axes (0: all columns), the parameters of its loss, and what was read so far.
func TilingReport(number int64) (string, error) {
	return withJob("tiling report", number, func(j *job) (string, error) {
		f, err := resultOf[*denoise.TileFit](j)
		if err != nil {
			return "", err
		}
		cost := f.Report()
		report := struct {
			Method     string             `json:"method"`
			Note       string             `json:"note"`
			Axes       int                `json:"axes"`
			LossParams map[string]float64 `json:"loss_params,omitempty"`
			Passes     int                `json:"passes"`
			Rounds     int                `json:"rounds"`
			Read       int                `json:"read"`
			Again      int                `json:"again"`
		}{f.Method().Name(), f.Note(), f.Axes(), nil, cost.Passes, cost.Rounds, cost.Read, cost.Again}
		if m, ok := f.Method().(classic.SCQM); ok {
			if p, ok := m.Loss.(framework.Parametric); ok {
				report.LossParams = p.Params()
			}
		}
		return encode(report)
	})
}

// pythonTiles is a [denoise.TileEngine] of tiles that Python keeps.
type pythonTiles struct {
	tilingSettings
	job *job
}

func (e *pythonTiles) Columns() int { return e.tilingSettings.Columns }
func (e *pythonTiles) Tiles() int   { return e.tilingSettings.Tiles }
func (e *pythonTiles) Queries() int { return e.tilingSettings.Queries }

// tileTasks is a question about tasks with the replies so far.
type tileTasks struct {
	tasks   []*denoise.Task
	bytes   [][]byte
	replies []*denoise.Reply
}

// Run asks Python.
func (e *pythonTiles) Run(ctx context.Context, tasks []*denoise.Task) ([]*denoise.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(tasks) == 0 {
		return nil, nil
	}
	q := &tileTasks{tasks: tasks, replies: make([]*denoise.Reply, len(tasks))}
	total := 0
	for _, t := range tasks {
		b, err := t.MarshalBinary()
		if err != nil {
			return nil, err
		}
		q.bytes = append(q.bytes, b)
		total += len(b)
	}
	if err := e.job.put(&ask{question: QuestionTasks, rows: total, columns: 1, tasks: q}); err != nil {
		return nil, err
	}
	return q.replies, nil
}

// tasksAsked is the question about tasks that Python works on.
func (j *job) tasksAsked() (*tileTasks, error) {
	a, err := j.question()
	if err != nil {
		return nil, err
	}
	if a.tasks == nil {
		return nil, fmt.Errorf("job has not asked for tasks: %w", errJob)
	}
	return a.tasks, nil
}

// TaskList describes the tasks of a QuestionTasks as a JSON list: the number of the tile,
// or of the part of queries, that each works on, the tiles that give it parts, and its
// length in bytes.
func TaskList(number int64) (string, error) {
	return withJob("task list", number, func(j *job) (string, error) {
		q, err := j.tasksAsked()
		if err != nil {
			return "", err
		}
		type task struct {
			Tile    int   `json:"tile"`
			Queries bool  `json:"queries"`
			Sources []int `json:"sources"`
			Bytes   int   `json:"bytes"`
		}
		list := make([]task, len(q.tasks))
		for k, t := range q.tasks {
			list[k] = task{t.Tile, t.Queries, append([]int{}, t.Sources...), len(q.bytes[k])}
		}
		return encode(list)
	})
}

// FetchTasks copies the tasks, one after the other, to the destination to.
func FetchTasks(number int64, to uint64) (int64, error) {
	return withJob("fetch tasks", number, func(j *job) (int64, error) {
		q, err := j.tasksAsked()
		if err != nil {
			return 0, err
		}
		total := 0
		for _, b := range q.bytes {
			total += len(b)
		}
		dst, err := viewOf[byte]("to", to, total)
		if err != nil {
			return 0, err
		}
		for _, b := range q.bytes {
			dst = dst[copy(dst, b):]
		}
		return 1, nil
	})
}

// AnswerTask takes the reply to task k, length bytes that [TileBytes] gave.
func AnswerTask(number, k int64, reply uint64, length int64) (int64, error) {
	return withJob("answer task", number, func(j *job) (int64, error) {
		q, err := j.tasksAsked()
		if err != nil {
			return 0, err
		}
		if k < 0 || int(k) >= len(q.tasks) {
			return 0, fmt.Errorf("a reply to task %d of %d: %w", k, len(q.tasks), framework.ErrInvalid)
		}
		r := new(denoise.Reply)
		if err := readTile("reply", r, reply, length); err != nil {
			return 0, err
		}
		q.replies[k] = r
		return 1, nil
	})
}

// AnswerTasks ends the answer to a QuestionTasks. Where replies are missing it is an
// error, and the question stays.
func AnswerTasks(number int64) (int64, error) {
	return withJob("answer tasks", number, func(j *job) (int64, error) {
		q, err := j.tasksAsked()
		if err != nil {
			return 0, err
		}
		for k, r := range q.replies {
			if r == nil {
				return 0, fmt.Errorf("no reply to task %d of %d: %w", k, len(q.tasks), framework.ErrInvalid)
			}
		}
		a := j.asked
		j.asked = nil
		close(a.answered)
		return 1, nil
	})
}

// readTile decodes bytes that Python has, and keeps none of them.
func readTile(what string, to encoding.BinaryUnmarshaler, address uint64, length int64) error {
	b, err := readBytes(what, address, length)
	if err != nil {
		return err
	}
	return to.UnmarshalBinary(b)
}

// tileBytes are the results of jobs on tiles.
type tileBytes [][]byte

// size counts the bytes, with 8 for the length of each.
func (t tileBytes) size() int {
	total := 0
	for _, b := range t {
		total += 8 + len(b)
	}
	return total
}

// TileBytes returns the number of bytes that a job on tiles has made, and copies
// them to the destination to where that is not 0: each result after its length, which is
// 8 bytes, the least significant first.
func TileBytes(number int64, to uint64) (int64, error) {
	return withJob("tile bytes", number, func(j *job) (int64, error) {
		t, err := tileResult(j)
		if err != nil || to == 0 {
			return int64(t.size()), err
		}
		dst, err := viewOf[byte]("to", to, t.size())
		if err != nil {
			return 0, err
		}
		for _, b := range t {
			binary.LittleEndian.PutUint64(dst, uint64(len(b)))
			dst = dst[8:]
			dst = dst[copy(dst, b):]
		}
		return int64(t.size()), nil
	})
}

// tileResult is the result of a job on tiles, or the fit of one on all of them.
func tileResult(j *job) (tileBytes, error) {
	if f, err := resultOf[*denoise.TileFit](j); err == nil {
		return packed(f)
	}
	return resultOf[tileBytes](j)
}

// packed are the encodings of some values.
func packed(values ...encoding.BinaryMarshaler) (tileBytes, error) {
	var t tileBytes
	for _, v := range values {
		b, err := v.MarshalBinary()
		if err != nil {
			return nil, err
		}
		t = append(t, b)
	}
	return t, nil
}

// StartTile begins to make a tile of rows x columns numbers at x, with one weight per row
// at weights (0: all 1) and the numbers of the rows in the table, ascending and as
// float64, at numbers; or queries, where that is 1. [TileBytes] has the result. It returns 1.
func StartTile(number int64, x uint64, rows, columns int64, weights, numbers uint64, queries int64) (int64, error) {
	return guarded("tile", func() (int64, error) {
		n, err := product("x", rows, columns)
		if err != nil {
			return 0, err
		}
		data := datarows.Data{N: int(rows), D: int(columns)}
		if data.X, err = view("x", x, n); err != nil {
			return 0, err
		}
		if data.Weights, err = optionalView("weights", weights, data.N); err != nil {
			return 0, err
		}
		at, err := view("numbers", numbers, data.N)
		if err != nil {
			return 0, err
		}
		return start(number, "tile", func(*job) (any, error) {
			number := make([]int, len(at))
			for i, v := range at {
				number[i] = int(v)
			}
			if queries == 1 {
				q, err := denoise.NewQueries(data, number)
				if err != nil {
					return nil, err
				}
				return packed(q)
			}
			t, err := denoise.NewTile(data, number)
			if err != nil {
				return nil, err
			}
			return packed(t)
		})
	})
}

// StartCut begins to cut the part of a tile that a task takes, of bytes that Python
// has. [TileBytes] has the part. It returns 1.
func StartCut(number int64, task uint64, taskLength int64, tile uint64, length int64) (int64, error) {
	return guarded("cut", func() (int64, error) {
		k := new(denoise.Task)
		if err := readTile("task", k, task, taskLength); err != nil {
			return 0, err
		}
		return start(number, "cut", func(*job) (any, error) {
			b, err := readBytes("tile", tile, length)
			if err != nil {
				return nil, err
			}
			part, err := k.CutFrom(b)
			if err != nil {
				return nil, err
			}
			return packed(part)
		})
	})
}

// StartTask begins a task on a tile or on queries, length bytes at tile, with the settings
// of [StartTiling] and the precision matrix at precision (0: none). parts and lengths are
// the addresses of count addresses of parts and of their lengths in bytes.
// [TileBytes] has the reply, and after it the tile or the queries as they are then. It returns 1.
func StartTask(number int64, settings string, precision uint64, task uint64, taskLength int64, tile uint64, length int64, parts, lengths uint64, count int64) (int64, error) {
	return guarded("task", func() (int64, error) {
		var s tilingSettings
		if err := decode(settings, &s); err != nil {
			return 0, err
		}
		from, sizes, err := partList(parts, lengths, int(count))
		if err != nil {
			return 0, err
		}
		k := new(denoise.Task)
		if err := readTile("task", k, task, taskLength); err != nil {
			return 0, err
		}
		k.Threads = threads(s.Threads)
		return start(number, "task", func(j *job) (any, error) {
			m, err := s.method(j, s.Columns, precision)
			if err != nil {
				return nil, err
			}
			known := make([]*denoise.Tile, len(from))
			for i := range from {
				known[i] = new(denoise.Tile)
				if err := readTile("part", known[i], from[i], int64(sizes[i])); err != nil {
					return nil, err
				}
			}
			return doTask(j, m, k, known, tile, length)
		})
	})
}

// doTask does a task on what is at an address.
func doTask(j *job, m denoise.Method, k *denoise.Task, parts []*denoise.Tile, tile uint64, length int64) (tileBytes, error) {
	if k.Queries {
		q := new(denoise.Queries)
		if err := readTile("queries", q, tile, length); err != nil {
			return nil, err
		}
		r, err := k.DoQueries(j.ctx, m, q, parts)
		if err != nil {
			return nil, err
		}
		return packed(r, q)
	}
	t := new(denoise.Tile)
	if err := readTile("tile", t, tile, length); err != nil {
		return nil, err
	}
	r, err := k.Do(j.ctx, m, t, parts)
	if err != nil {
		return nil, err
	}
	return packed(r, t)
}

// QueryRows returns the number of rows of queries, length bytes, and copies their
// numbers, the rows themselves, and the report of [StartDenoise] on them to the
// destinations where numbers is not 0.
func QueryRows(queries uint64, length int64, numbers, out, report uint64) (int64, error) {
	return guarded("query rows", func() (int64, error) {
		q := new(denoise.Queries)
		if err := readTile("queries", q, queries, length); err != nil {
			return 0, err
		}
		number, r := q.Result()
		if numbers == 0 {
			return int64(len(number)), nil
		}
		at := make([]float64, len(number))
		about := make([]float64, 0, len(number)*denoiseColumns)
		for i, v := range number {
			at[i] = float64(v)
			about = append(about, describeRow(r.Rows[i])...)
		}
		if err := deliver("numbers", numbers, at); err != nil {
			return 0, err
		}
		if err := deliver("out", out, r.X); err != nil {
			return 0, err
		}
		return int64(len(number)), deliver("report", report, about)
	})
}
