// Program is a small program with the standard library and a module in it.
package main

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
)

func main() { fmt.Println(blas.Upper) }
