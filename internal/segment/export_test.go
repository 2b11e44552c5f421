package segment

// AllOptionalIndexes returns options with which a build writes as many bigrams and prefix postings as it can, in files
// of any size.
func AllOptionalIndexes(o Options) Options {
	o.optional = optionalIndexRules{
		bigramRules{from: 1, share: 1 << 62, most: 64},
		prefixRules{from: 1, share: 1 << 30, most: 1 << 20, room: 1},
	}
	return o
}
