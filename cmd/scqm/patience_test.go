//go:build !race

package main

import "time"

// patience is how long a user should have to wait after an interrupt.
const patience = 200 * time.Millisecond
