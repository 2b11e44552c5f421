// Package text defines how text is compared and split: sort keys, case folding, words, list elements and search scores.
// All engines share these rules, so their results agree.
package text
