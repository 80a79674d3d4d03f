package scqm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/internal/dense"
	"github.com/scqm/scqm/losses"
	"github.com/scqm/scqm/models/scqm/internal/sheet"
)

const (
	metaName     = "meta.json"
	maxMetaBytes = 1 << 24
	maxEntries   = 1 << 40
)

// Save writes the model to a file that numpy.load can read. It contains meta.json and the arrays c (D), U (D, d), V
// (D, s), Theta (q, s), and tau (n, d) if it is known. For a Mahalanobis loss, precision (D(D+1)/2) lists the entries
// of its matrix on and above the diagonal, row by row. The file replaces an older one only when it is complete. It
// ends in the SHA-256 of all bytes before; Load rejects a file without one. Equal models give equal bytes.
func (m *Model) Save(path string) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return dataset.WriteFileAtomic(path, m.Write)
}

// Write writes the model file to w.
func (m *Model) Write(w io.Writer) error {
	z := dataset.NewSealedNPZWriter(w)
	q := sheet.VechLen(m.Latent)
	add := func(name string, data []float64, shape ...int) error {
		return z.Array(name, dataset.Array{Shape: shape, Data: data})
	}
	err := errors.Join(
		add("c", m.C, m.D),
		add("U", m.U, m.D, m.Latent),
		add("V", m.V, m.D, m.Curvature),
		add("Theta", m.Theta, q, m.Curvature),
	)
	if err == nil && m.Tau != nil {
		err = add("tau", m.Tau, len(m.Tau)/m.Latent, m.Latent)
	}
	if l, ok := m.Loss.(framework.Quadratic); ok && err == nil {
		err = z.Parts("precision", triangle(m.D), upperRows(l.Matrix(), m.D))
	}
	if err != nil {
		return err
	}
	meta, err := json.MarshalIndent(m.describe(), "", " ")
	if err != nil {
		return err
	}
	if err := z.Raw(metaName, append(meta, '\n')); err != nil {
		return err
	}
	return z.Close()
}

// triangle returns the number of entries of a D x D matrix on and above the diagonal.
func triangle(D int) int { return D * (D + 1) / 2 }

// upperRows yields the rows of a D x D matrix, each from the diagonal on.
func upperRows(m []float64, D int) iter.Seq[[]float64] {
	return func(yield func([]float64) bool) {
		for i := range D {
			if !yield(m[i*D+i : (i+1)*D]) {
				return
			}
		}
	}
}

// symmetric returns the symmetric matrix with the upperRows x.
func symmetric(x []float64, D int) *mat.Dense {
	m := make([]float64, D*D)
	for i := range D {
		copy(m[i*D+i:(i+1)*D], x[:D-i])
		for j, v := range x[:D-i] {
			m[(i+j)*D+i] = v
		}
		x = x[D-i:]
	}
	return mat.NewDense(D, D, m)
}

// describe returns the Meta to store in the file, with the sizes of the arrays.
func (m *Model) describe() Meta {
	meta := m.Meta
	meta.Format, meta.D, meta.Latent, meta.Curvature = FormatVersion, m.D, m.Latent, m.Curvature
	if m.Tau != nil {
		meta.N = len(m.Tau) / m.Latent
	}
	return meta
}

// agrees returns an error if the sizes in Meta do not match the arrays.
func (m *Model) agrees() error {
	for _, size := range []struct {
		name      string
		said, has int
	}{
		{"D", m.Meta.D, m.D}, {"d", m.Meta.Latent, m.Latent}, {"s", m.Meta.Curvature, m.Curvature},
		{"n", m.Meta.N, m.describe().N},
		{"s_effective", m.Meta.Effective, min(max(m.Meta.Effective, 0), m.Curvature)},
		{"the length of mean", len(m.Meta.Mean), min(len(m.Meta.Mean), 1) * m.D},
		{"the length of explained_variance_ratio", len(m.Meta.Explained), min(len(m.Meta.Explained), 1) * m.Latent},
		{"the length of r2_pca", len(m.Meta.R2PCA), 2 * min(len(m.Meta.R2PCA), 1)},
		{"the length of distances", len(m.Meta.Distances), 2 * min(len(m.Meta.Distances), 1)},
		{"the number of feature_names", len(m.Meta.FeatureNames), min(len(m.Meta.FeatureNames), 1) * m.D},
	} {
		if size.said != size.has || size.said < 0 {
			return fmt.Errorf("%s: %s is %d, which the arrays do not have (D = %d, d = %d, s = %d, %d numbers of tau)",
				metaName, size.name, size.said, m.D, m.Latent, m.Curvature, len(m.Tau))
		}
	}
	return nil
}

// Load reads a model file. It rejects a damaged file, a file of a newer format, and one with inconsistent sizes, and
// gives the reason. It also rejects a file written by another program, which lacks the SHA-256 at its end.
func Load(path string) (*Model, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, errors.Unwrap(err), ErrInput)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: is a directory, a pipe or a device; name a file", path, ErrInput)
	}
	m, err := Read(file, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Read reads a model file of the given size in bytes.
func Read(r io.ReaderAt, size int64) (*Model, error) {
	m, err := read(r, size)
	if err != nil && !errors.Is(err, ErrInput) && !errors.Is(err, ErrMemory) {
		err = fmt.Errorf("%w: %w", ErrInput, err)
	}
	return m, err
}

func read(r io.ReaderAt, size int64) (*Model, error) {
	z, err := openArchive(r, size)
	if err != nil {
		return nil, err
	}
	m := &Model{}
	if m.Meta, err = readMeta(z); err != nil {
		return nil, err
	}
	if err := m.readArrays(z); err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := m.agrees(); err != nil {
		return nil, err
	}
	return m, m.readLoss(z)
}

var errNoModel = errors.New("has no " + metaName + " and so is no SCQM model")

// openArchive opens a model file. It returns errNoModel for an archive that has neither a checksum nor a model.
func openArchive(r io.ReaderAt, size int64) (*dataset.NPZ, error) {
	z, err := dataset.OpenSealedNPZ(r, size)
	if errors.Is(err, dataset.ErrUnsealed) {
		if z, unsealed := dataset.OpenNPZ(r, size); unsealed == nil && !isModel(z) {
			return nil, errNoModel
		}
	}
	return z, err
}

func isModel(z *dataset.NPZ) bool { return slices.Contains(z.Names(), metaName) }

func readMeta(z *dataset.NPZ) (Meta, error) {
	var meta Meta
	if !isModel(z) {
		return meta, errNoModel
	}
	b, err := z.Raw(metaName, maxMetaBytes)
	if err != nil {
		return meta, err
	}
	var format struct{ Format int }
	if err := json.Unmarshal(b, &format); err != nil {
		return meta, fmt.Errorf("%s: %w", metaName, err)
	}
	if format.Format > FormatVersion {
		return meta, fmt.Errorf("is a model of format %d, this program reads up to %d; use a newer version of scqm", format.Format, FormatVersion)
	}
	if format.Format < 1 {
		return meta, fmt.Errorf("%s: format %d is not a format", metaName, format.Format)
	}
	err = json.Unmarshal(b, &meta)
	if err == nil {
		err = errors.Join(meta.Loss.check(), meta.Missing.check(meta.Latent))
	}
	if err != nil {
		return meta, fmt.Errorf("%s: %w", metaName, err)
	}
	return meta, nil
}

// readArrays derives the dimensions from the arrays. The arrays already read bound the size of the next one.
func (m *Model) readArrays(z *dataset.NPZ) error {
	c, err := readArray(z, "c", maxEntries, 1)
	if err != nil {
		return err
	}
	m.C, m.D = c.Data, c.Shape[0]
	square := m.D * min(m.D, maxEntries/max(m.D, 1))
	u, err := readArray(z, "U", square, 2)
	if err != nil {
		return err
	}
	v, err := readArray(z, "V", square, 2)
	if err != nil {
		return err
	}
	m.U, m.Latent = u.Data, u.Shape[1]
	m.V, m.Curvature = v.Data, v.Shape[1]
	theta, err := readArray(z, "Theta", maxEntries, 2)
	if err != nil {
		return err
	}
	m.Theta = theta.Data
	want := []int{m.D, m.D, sheet.VechLen(m.Latent), m.Curvature}
	if got := []int{u.Shape[0], v.Shape[0], theta.Shape[0], theta.Shape[1]}; !slices.Equal(got, want) {
		return fmt.Errorf("shapes of c %v, U %v, V %v and Theta %v do not fit each other", c.Shape, u.Shape, v.Shape, theta.Shape)
	}
	if !slices.Contains(z.Names(), "tau") {
		return nil
	}
	tau, err := readArray(z, "tau", maxEntries, 2)
	if err != nil {
		return err
	}
	if tau.Shape[1] != m.Latent {
		return fmt.Errorf("shapes of U %v and tau %v do not fit each other", u.Shape, tau.Shape)
	}
	m.Tau = tau.Data
	return nil
}

func readArray(z *dataset.NPZ, name string, limit, dims int) (dataset.Array, error) {
	a, err := z.Array(name, limit)
	if err != nil {
		return a, err
	}
	if len(a.Shape) != dims {
		return a, fmt.Errorf("array %q has shape %v, want %d dimensions", name, a.Shape, dims)
	}
	return a, nil
}

// readLoss restores the loss. The loss stays nil if it is not registered in this program, or if it is a plugin, which
// only the user may start. A model without a loss can still reconstruct.
func (m *Model) readLoss(z *dataset.NPZ) error {
	name := m.Meta.Loss.Name
	if m.Meta.Loss.Plugin != nil || !slices.Contains(losses.Names(), name) {
		return nil
	}
	var p losses.Params
	for key, value := range m.Meta.Loss.Params {
		switch key {
		case "p":
			p.P = &value
		case "delta":
			p.Delta = &value
		default:
			if p.Extra == nil {
				p.Extra = map[string]float64{}
			}
			p.Extra[key] = value
		}
	}
	if slices.Contains(z.Names(), "precision") {
		a, err := readArray(z, "precision", triangle(m.D), 1)
		if err != nil {
			return err
		}
		if a.Shape[0] != triangle(m.D) {
			return fmt.Errorf("array %q has shape %v, want (%d,)", "precision", a.Shape, triangle(m.D))
		}
		p.Precision = dense.Owned{Dense: symmetric(a.Data, m.D)}
	}
	loss, err := losses.ByName(name, p)
	if err != nil {
		return fmt.Errorf("%s: %w", metaName, err)
	}
	m.Loss = loss
	return nil
}
