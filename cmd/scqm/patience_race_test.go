//go:build race

package main

import "time"

// patience makes up for the race detector.
const patience = 3 * time.Second
