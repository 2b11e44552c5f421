package segment

// EveryPair returns options by which a build keeps as many pairs of words as it can, in files of any size.
func EveryPair(o Options) Options {
	o.pairs = pairRules{from: 1, share: 1 << 62, most: 64}
	return o
}
