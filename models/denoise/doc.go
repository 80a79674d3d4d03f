// Package denoise moves noisy rows onto the curved surface they scatter about.
//
// Begin with [Fit] and the method [Auto].
//
// The setting: rows of length D lie near a surface of dimension d. For each row
// to be denoised, a [Method] looks at the K nearest of the rows that it was
// fitted to, finds out how the surface runs there, and returns the point of it
// that belongs to the row:
//
//	d, err := denoise.Fit(ctx, denoise.Auto{Latent: 2}, x, denoise.Options{})
//	r, err := d.Denoise(ctx, x, denoise.Options{})
//
// The result for a row is a function of the row and of the fitted rows. It does
// not depend, to the last bit, on the rows denoised with it, on their order, or
// on the number of threads. A row that was fitted is one of its own neighbours.
package denoise
