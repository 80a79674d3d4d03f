package figures

import (
	"image"

	"github.com/scqm/scqm/internal/experiments"
)

// DigitReconstructions draws training images of digits and their reconstructions by every
// model.
func DigitReconstructions(study *experiments.DigitStudy) image.Image {
	rows := []digitRow{{"Original", study.Learned.X.X}}
	for _, m := range study.Models {
		rows = append(rows, digitRow{m.Name, m.Reconstruction})
	}
	return drawDigitRows("Handwritten digits and their reconstructions from 2 latent coordinates", firstOfKinds(study.Learned.Labels), rows)
}
