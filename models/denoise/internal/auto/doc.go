// Package auto is the method that chooses its charts by estimated risk.
package auto
