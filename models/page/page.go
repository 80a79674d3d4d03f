package page

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/scqm/scqm/models/scqm"
)

// Config holds the settings of a page. The zero value is the default.
type Config struct {
	Title string `json:"title"`
	// Settings describes how to repeat the fit.
	Settings string `json:"settings"`
	// Labels are the labels of the rows, Names the names of the columns; nil means none.
	Labels []string `json:"labels"`
	Names  []string `json:"names"`
	// Height and Width are the size of the images if rows are images, otherwise 0.
	Height int `json:"height"`
	Width  int `json:"width"`
	// MaxRows bounds the number of rows that are drawn, evenly spaced; 0 means 2,000.
	MaxRows int `json:"max_rows"`
	// History holds pairs of an iteration number and its objective.
	History []float64 `json:"history"`
	// Threads bounds the goroutines; the result does not depend on it.
	Threads int `json:"threads"`
}

//go:embed page.html
var template string

// content is the data that the script of the page draws.
type content struct {
	Facts    [][2]string `json:"facts"`
	Verdict  string      `json:"verdict"`
	Warnings []string    `json:"warnings"`
	Notes    []string    `json:"notes"`
	Row      []int       `json:"row"` // numbers of the drawn rows; the following fields refer to these
	Label    []string    `json:"label"`
	Distance []float64   `json:"distance"`
	Image    [][]byte    `json:"image"` // gray values, empty after some rows
	Plane    scatter     `json:"plane"`
	PCA      scatter     `json:"pca"`
	Outlying float64     `json:"outlying"` // distance that 1 % of regular rows exceed
	Height   int         `json:"height"`
	Width    int         `json:"width"`
	Axes     []axis      `json:"axes"`
	Columns  []column    `json:"columns"` // columns with the largest residuals
	Residual []byte      `json:"residual"`
	Drivers  [][]string  `json:"drivers"`
	Drives   string      `json:"drives"` // text above Drivers
	History  []float64   `json:"history"`
	Settings string      `json:"settings"`
}

// scatter is a chart of rows.
type scatter struct {
	X    []float64 `json:"x"`
	Y    []float64 `json:"y"`
	XAs  string    `json:"xas"`
	YAs  string    `json:"yas"`
	Note string    `json:"note"`
}

// axis describes the sheet along one coordinate.
type axis struct {
	At    []float64 `json:"at"`
	Near  []bool    `json:"near"` // whether rows are near each point
	Lines []line    `json:"lines"`
	Image [][]byte  `json:"image"`
}

type line struct {
	Name string    `json:"name"`
	Y    []float64 `json:"y"`
}

type column struct {
	Name string  `json:"name"`
	Size float64 `json:"size"`
}

// Write writes the page on a fit and rows, usually those of the fit, at least one. Names, labels and messages may
// contain any text: it is data of the page, not markup.
func Write(ctx context.Context, w io.Writer, m *scqm.Model, x scqm.Data, c Config) error {
	if x.N < 1 {
		return fmt.Errorf("scqm: report: no rows; want one at least: %w", scqm.ErrInput)
	}
	r, err := look(ctx, m, x, c)
	if err != nil {
		return err
	}
	p := &content{
		Warnings: m.Meta.Warnings, Notes: m.Meta.Notes, History: c.History, Settings: c.Settings,
		Height: c.Height, Width: c.Width, Outlying: m.OutlyingDistance(),
	}
	r.rows(p)
	if err := r.planes(ctx, p); err != nil {
		return err
	}
	if err := r.axes(ctx, p); err != nil {
		return err
	}
	r.columns(p)
	if err := r.drivers(ctx, p); err != nil {
		return err
	}
	if err := r.facts(ctx, p); err != nil {
		return err
	}
	data, err := json.Marshal(p) // escapes <, > and &
	if err != nil {
		return err
	}
	_, err = strings.NewReplacer("TITLE", html.EscapeString(c.Title), "CONTENT", string(data)).WriteString(w, template)
	return err
}
