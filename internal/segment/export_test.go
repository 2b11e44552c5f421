package segment

// Extras returns options by which a build keeps as many pairs and beginnings of words as it can, in files of any size.
func Extras(o Options) Options {
	o.extras = extraRules{
		pairRules{from: 1, share: 1 << 62, most: 64},
		beginningRules{from: 1, share: 1 << 30, most: 1 << 20, room: 1},
	}
	return o
}
