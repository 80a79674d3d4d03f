package plugins

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/scqm/scqm/internal/quote"
)

// maxSchemaBytes is the maximum size of a schema and of the parameters that are sent to a plugin.
const maxSchemaBytes = 1 << 20

// Schema describes the parameters of a loss in a subset of JSON Schema, which
// docs/plugin-protocol.md specifies. Keywords outside the subset are rejected, so that
// every condition is checked. The zero value describes a loss without parameters.
type Schema struct {
	// Properties maps the name of each parameter to its description.
	Properties map[string]Property `json:"properties"`
	// Required lists the names of parameters that must be given.
	Required []string `json:"required,omitempty"`
}

// Property describes one parameter. A bound that is nil does not apply.
type Property struct {
	// Type is number, integer, boolean or string.
	Type             string   `json:"type"`
	Description      string   `json:"description,omitempty"`
	Default          any      `json:"default,omitempty"`
	Enum             []any    `json:"enum,omitempty"`
	Minimum          *float64 `json:"minimum,omitempty"`
	Maximum          *float64 `json:"maximum,omitempty"`
	ExclusiveMinimum *float64 `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum *float64 `json:"exclusiveMaximum,omitempty"`
}

// parameterName matches the valid names of parameters, which can be used on a command line.
var parameterName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// parseSchema decodes a schema and checks it.
func parseSchema(text string) (Schema, error) {
	var s Schema
	if text == "" {
		return s, nil
	}
	if len(text) > maxSchemaBytes {
		return s, fmt.Errorf("the schema is longer than %d bytes", maxSchemaBytes)
	}
	var whole struct {
		Schema
		Type       string `json:"type"`
		Title      string `json:"title"`
		Additional *bool  `json:"additionalProperties"`
		Dialect    string `json:"$schema"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&whole); err != nil {
		return s, fmt.Errorf("the schema cannot be used: %w", err)
	}
	if whole.Type != "object" {
		return s, fmt.Errorf("the schema has type %s, not object", quote.Text(whole.Type))
	}
	if whole.Additional != nil && *whole.Additional {
		return s, fmt.Errorf("the schema allows additionalProperties, which cannot be checked")
	}
	return whole.Schema, whole.Schema.check()
}

// check returns an error if the schema contradicts itself.
func (s Schema) check() error {
	for _, name := range s.names() {
		p := s.Properties[name]
		if !parameterName.MatchString(name) {
			return fmt.Errorf("parameter %s: the name must be letters, digits and _", quote.Text(name))
		}
		if !slices.Contains([]string{"number", "integer", "boolean", "string"}, p.Type) {
			return fmt.Errorf("parameter %s: type %s is not number, integer, boolean or string", name, quote.Text(p.Type))
		}
		if !p.isNumeric() && p.bounded() {
			return fmt.Errorf("parameter %s: a %s has no bounds", name, p.Type)
		}
		if p.Default != nil {
			if err := p.accepts(p.Default); err != nil {
				return fmt.Errorf("parameter %s: the default %w", name, err)
			}
		}
	}
	for _, name := range s.Required {
		if _, ok := s.Properties[name]; !ok {
			return fmt.Errorf("the required parameter %s is not described", quote.Text(name))
		}
	}
	return nil
}

// names returns the names of the parameters in lexical order.
func (s Schema) names() []string { return slices.Sorted(maps.Keys(s.Properties)) }

// complete checks the given parameters and returns a copy with defaults added. It
// parses strings as numbers or truth values if the schema requires these types, as on a
// command line.
func (s Schema) complete(given map[string]any) (map[string]any, error) {
	full := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		p, ok := s.Properties[name]
		if !ok {
			return nil, fmt.Errorf("there is no parameter %s; there %s", quote.Text(name), s.choice())
		}
		value, err := normalise(p, given[name])
		if err == nil {
			err = p.accepts(value)
		}
		if err != nil {
			return nil, fmt.Errorf("%s %w%s", name, err, p.meaning())
		}
		full[name] = value
	}
	for _, name := range s.names() {
		p := s.Properties[name]
		if _, ok := full[name]; ok {
			continue
		}
		if slices.Contains(s.Required, name) {
			return nil, fmt.Errorf("%s is missing%s", name, p.meaning())
		}
		if p.Default != nil {
			full[name] = p.Default
		}
	}
	return full, nil
}

func (s Schema) choice() string {
	if names := s.names(); len(names) > 0 {
		return "are " + strings.Join(names, ", ")
	}
	return "are none"
}

func (p Property) isNumeric() bool { return p.Type == "number" || p.Type == "integer" }

func (p Property) bounded() bool {
	return p.Minimum != nil || p.Maximum != nil || p.ExclusiveMinimum != nil || p.ExclusiveMaximum != nil
}

// meaning returns the description of the parameter in brackets.
func (p Property) meaning() string {
	if p.Description == "" {
		return ""
	}
	return " (" + p.Description + ")"
}

// normalise converts a value to the Go type that encoding/json would decode.
func normalise(p Property, value any) (any, error) {
	if text, ok := value.(string); ok && p.Type != "string" {
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return nil, fmt.Errorf("= %s is not a %s", quote.Text(text), p.Type)
		}
		return value, nil
	}
	b, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("= %v has no form in JSON", value)
	}
	var plain any
	return plain, json.NewDecoder(bytes.NewReader(b)).Decode(&plain)
}

// accepts returns an error for an invalid value. Its text is to follow the name of the parameter.
func (p Property) accepts(value any) error {
	number, isNumber := value.(float64)
	_, isText := value.(string)
	_, isTruth := value.(bool)
	fits := map[string]bool{
		"number": isNumber, "integer": isNumber && number == math.Trunc(number), "string": isText, "boolean": isTruth,
	}
	switch {
	case !fits[p.Type]:
		return fmt.Errorf("= %v is not a %s", value, p.Type)
	case p.Minimum != nil && number < *p.Minimum:
		return fmt.Errorf("= %v is below %v", value, *p.Minimum)
	case p.Maximum != nil && number > *p.Maximum:
		return fmt.Errorf("= %v is above %v", value, *p.Maximum)
	case p.ExclusiveMinimum != nil && number <= *p.ExclusiveMinimum:
		return fmt.Errorf("= %v is not above %v", value, *p.ExclusiveMinimum)
	case p.ExclusiveMaximum != nil && number >= *p.ExclusiveMaximum:
		return fmt.Errorf("= %v is not below %v", value, *p.ExclusiveMaximum)
	case p.Enum != nil && !slices.Contains(p.Enum, value):
		return fmt.Errorf("= %v is none of %v", value, p.Enum)
	}
	return nil
}

// numbers returns the numeric parameters, for rowloss.Parametric.
func numbers(params map[string]any) map[string]float64 {
	n := map[string]float64{}
	for name, value := range params {
		if v, ok := value.(float64); ok {
			n[name] = v
		}
	}
	return n
}
