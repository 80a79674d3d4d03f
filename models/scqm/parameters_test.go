package scqm

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what follows from the table of parameters")

func TestParametersSetFields(t *testing.T) {
	set := func(name, text string) (Config, error) {
		p, ok := ParameterOf(name)
		require.True(t, ok, name)
		var c Config
		return c, p.Set(&c, text)
	}
	for _, p := range Parameters {
		if p.Field != "" {
			_, err := set(p.Name, p.Default)
			assert.Equal(t, p.Default == "", err != nil, "%s: %v", p.Name, err)
		}
	}
	for _, c := range []struct {
		name, text string
		want       func(*Config)
	}{
		{"n_components", "3", func(c *Config) { c.Latent = 3 }},
		{"n_curvature", "auto", func(*Config) {}},
		{"n_curvature", "full", func(c *Config) { c.Curvature = FullCurvature }},
		{"linear", "true", func(c *Config) { c.Linear = true }},
		{"ridge", "0.5", func(c *Config) { c.Ridge = 0.5 }},
		{"ridge", "0.0", func(c *Config) { c.Ridge = NoRidge }},
		{"ridge", "auto", func(c *Config) { c.Ridge = AutoRidge }},
		{"n_init", "7", func(c *Config) { c.Inits = 7 }},
		{"missing", "ignore", func(c *Config) { c.IgnoreMissing = true }},
		{"missing", "error", func(*Config) {}},
		{"max_iter", "9", func(c *Config) { c.Options.MaxIterations = 9 }},
		{"tol", "1e-300", func(c *Config) { c.Options.Tolerance = 1e-300 }},
		{"time_limit", "1m30s", func(c *Config) { c.Options.TimeLimit = 90 * time.Second }},
		{"time_limit", "0.5", func(c *Config) { c.Options.TimeLimit = time.Second / 2 }},
		{"time_limit", "1e300", func(c *Config) { c.Options.TimeLimit = 1 << 62 }},
		{"random_state", "18446744073709551615", func(c *Config) { c.Seed = math.MaxUint64 }},
		{"n_threads", "2", func(c *Config) { c.Threads = 2 }},
	} {
		got, err := set(c.name, c.text)
		require.NoError(t, err, "%s = %s", c.name, c.text)
		var want Config
		c.want(&want)
		assert.Equal(t, want, got, "%s = %s", c.name, c.text)
	}
	for text, names := range map[string][]string{
		"0":  {"n_components", "n_curvature", "n_init", "max_iter", "tol", "time_limit", "n_threads"},
		"-1": {"n_components", "n_curvature", "ridge", "n_init", "max_iter", "tol", "time_limit", "random_state", "n_threads"},
		"":   {"n_components", "linear", "ridge", "missing", "tol", "random_state"}, "1.5": {"n_components", "n_init", "random_state"},
		"NaN": {"ridge", "tol", "time_limit"}, "Inf": {"ridge", "tol"}, "true": {"missing", "ridge"}, "full": {"ridge", "n_components"},
	} {
		for _, name := range names {
			_, err := set(name, text)
			assert.ErrorContains(t, err, "want ", "%s = %q", name, text)
		}
	}
}

// TestFilesFollowFromParameters compares what follows from the table with what stands in files. With -update it is
// written there.
func TestFilesFollowFromParameters(t *testing.T) {
	python := filepath.Join("..", "..", "python", "scqm", "_parameters.py")
	compare(t, python, func([]byte) []byte { return pythonParameters() })
	guide := filepath.Join("..", "..", "docs", "guide")
	compare(t, filepath.Join(guide, "python.md"), func(page []byte) []byte {
		return withTable(t, page, "| parameter | default | meaning |\n| --- | --- | --- |\n", func(p Parameter) string {
			return fmt.Sprintf("| `%s` | %s | %s |\n", p.Name, pythonValue(p.Default), p.Text)
		})
	})
	compare(t, filepath.Join(guide, "cli.md"), func(page []byte) []byte {
		return withTable(t, page, "| flag | default | meaning |\n| --- | --- | --- |\n", func(p Parameter) string {
			if p.Field == "" || p.Name == "missing" { // other tables and sections have them
				return ""
			}
			flag := "--" + p.FlagName()
			if p.Letter != "" {
				flag = "-" + p.Letter + ", " + flag
			}
			return fmt.Sprintf("| `%s` | %s | %s |\n", flag, strings.TrimPrefix(p.Default, "False"), p.Text)
		})
	})
}

func compare(t *testing.T, path string, make func([]byte) []byte) {
	have, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := make(have)
	if *update {
		require.NoError(t, os.WriteFile(path, want, 0o644))
	} else if !bytes.Equal(want, have) {
		t.Errorf("%s differs from the table in models/scqm/parameters.go: run make parameters", path)
	}
}

// withTable returns a page with the rows below a head of a table.
func withTable(t *testing.T, page []byte, head string, row func(Parameter) string) []byte {
	before, after, ok := bytes.Cut(page, []byte(head))
	require.True(t, ok, "no table with the head %q", head)
	_, after, _ = bytes.Cut(after, []byte("|\n\n"))
	rows := head
	for _, p := range Parameters {
		rows += row(p)
	}
	return slices.Concat(before, []byte(rows+"\n"), after)
}

var notWords = regexp.MustCompile(`^(|-?[\d.e-]+|True|False)$`)

// pythonValue is a default in the words of Python.
func pythonValue(text string) string {
	switch {
	case text == "":
		return "None"
	case notWords.MatchString(text):
		return text
	}
	return strconv.Quote(text)
}

// pythonWords are the words that stand for a number; None is the one that stands for the default.
func pythonWords(p Parameter) []string {
	var words []string
	for _, w := range p.Words {
		if w.Value != 0 || p.Default != "" {
			words = append(words, strconv.Quote(w.Name))
		}
	}
	return words
}

// pythonTypes are the type of a parameter in docstrings and the annotation.
func pythonTypes(p Parameter) (doc, annotation string) {
	doc, annotation = p.Type, p.Annotation
	if doc == "" {
		names := strings.Join(pythonWords(p), ", ")
		switch kind := strings.TrimSuffix(strings.Replace(p.Kind(), "time", "float", 1), "64"); {
		case names == "":
			doc, annotation = kind, kind
		case kind == "bool":
			doc, annotation = "{"+names+"}", "Literal["+names+"]"
		default:
			doc, annotation = kind+" or "+names, kind+" | Literal["+names+"]"
		}
	}
	if p.Default == "" {
		annotation += " | None"
	}
	return doc, annotation
}

// pythonParameters is python/scqm/_parameters.py.
func pythonParameters() []byte {
	var types, first, rest, sets, rules, docs strings.Builder
	for i, p := range Parameters {
		doc, annotation := pythonTypes(p)
		argument := fmt.Sprintf("        %s: %s = %s,\n", p.Name, annotation, pythonValue(p.Default))
		if i < 2 {
			first.WriteString(argument)
		} else {
			rest.WriteString(argument)
			fmt.Fprintf(&types, "    %s: %s\n", p.Name, annotation)
		}
		fmt.Fprintf(&sets, "        self.%s = %s\n", p.Name, p.Name)
		if kind := map[string]string{"int": "int", "float64": "float", "time": "float", "bool": "bool"}[p.Kind()]; kind != "" {
			words := strings.Join(pythonWords(p), ", ")
			if len(p.Words) > 0 && !strings.Contains(words, ",") {
				words += ","
			}
			if len(p.Words) > 0 && kind == "bool" {
				kind = "str"
			}
			fmt.Fprintf(&rules, "    %q: Rule(%s, %v, %v, (%s), %v),\n", p.Name, kind, p.Least, pythonBool(p.Above), words, pythonBool(p.Default == ""))
		}
		text := strings.ToUpper(p.Text[:1]) + p.Text[1:] + ". " + p.More
		fmt.Fprintf(&docs, "%s : %s\n%s", p.Name, doc, wrapped(text, 80, "    "))
	}
	return []byte(fmt.Sprintf(pythonFile, DefaultRidge, types.String(), first.String(), rest.String(), sets.String(), rules.String(), docs.String()))
}

func pythonBool(v bool) string { return map[bool]string{false: "False", true: "True"}[v] }

// wrapped breaks a text into lines.
func wrapped(text string, width int, indent string) string {
	var out strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if len(line)+len(word) > width && line != indent {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	return out.String() + strings.TrimRight(line, " ") + "\n"
}

const pythonFile = `"""Parameters of fits, as models/scqm/parameters.go has them.

It is written by make parameters; change the table there.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from .losses import LossLike
from .solvers import Solver, SolverName

RIDGE = %v


class FitOptions(TypedDict, total=False):
    """Parameters by name."""

%s

class FitParameters:
    """The parameters of an estimator."""

    def __init__(
        self,
%s        *,
%s    ) -> None:
%s

class Rule(NamedTuple):
    """What the library takes of a parameter: numbers with a bound, and words."""

    kind: type
    least: float
    above: bool
    words: tuple[str, ...]
    optional: bool


RULES: dict[str, Rule] = {
%s}

DOCUMENTED = """
%s"""
`
