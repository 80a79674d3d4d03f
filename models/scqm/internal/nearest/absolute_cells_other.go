//go:build !amd64

package nearest

func cellsBegin1AVX512(_, _ *float64) {}

func cellsExtend1AVX512(_, _, _ *float64, _ int) {}

func cellsBegin2AVX512(_, _ *float64) {}

func cellsExtend2AVX512(_, _, _ *float64, _ int) {}

func cellsBegin3AVX512(_, _ *float64) {}

func cellsExtend3AVX512(_, _, _ *float64, _ int) {}

func cellsBegin1AVX2(_, _ *float64) {}

func cellsExtend1AVX2(_, _, _ *float64, _ int) {}

func cellsBegin2AVX2(_, _ *float64) {}

func cellsExtend2AVX2(_, _, _ *float64, _ int) {}

func cellsBegin3AVX2(_, _ *float64) {}

func cellsExtend3AVX2(_, _, _ *float64, _ int) {}
