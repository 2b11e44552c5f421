// Package text is how text compares and splits: sort keys, folding, words, list elements and the score of a search. All
// engines take these rules from here, which is why they agree.
package text
