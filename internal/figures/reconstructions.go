package figures

import (
	"fmt"
	"image"

	"github.com/scqm/scqm/internal/demo"
	"github.com/scqm/scqm/internal/experiments"
)

// Reconstructions shows digits and, beneath them, what the models make of
// them.
func Reconstructions(s *demo.Study) image.Image {
	title := fmt.Sprintf("Handwritten digits and their reconstructions from %d latent coordinates", demo.Latent)
	return drawDigitRows(title, firstOfKinds(s.Kinds), []digitRow{
		{"Original", s.Learned.X},
		{caption("Linear", s.Linear), s.Linear.Reconstruction},
		{caption("Quadratic", s.Quadratic), s.Quadratic.Reconstruction},
	})
}

func caption(kind string, m *demo.Model) string {
	return fmt.Sprintf("%s model, mean residual %.2f", kind, m.Learned)
}

// DigitReconstructions shows digits that were learned from and what every model
// makes of them.
func DigitReconstructions(study *experiments.DigitStudy) image.Image {
	rows := []digitRow{{"Original", study.Learned.X.X}}
	for _, m := range study.Models {
		rows = append(rows, digitRow{m.Name, m.Reconstruction})
	}
	return drawDigitRows("Handwritten digits and their reconstructions from 2 latent coordinates", firstOfKinds(study.Learned.Labels), rows)
}
