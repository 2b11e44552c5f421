package gen

// Values that occur in queries, for every seed. The comments give the share of records.
const (
	CommonWord = "zemes"         // in 40 %
	RareWord   = "lanavas"       // in 0.04 %
	FirstWord  = "diglu"         // in 12 %; with SecondWord in 0.5 %
	SecondWord = "breral"        // in 5 %
	Phrase     = "fobrem neglal" // 18 % have the one word, 7 % the other; in 0.05 % they are next to each other
	Prefix     = "kai"           // begins 93 words; in 7 %
	Category   = "shrub"         // of 16 %
	Tag        = "zolour"        // of 2 %
	Author     = "Zola Söushi"   // of 0.07 %
	PriceFrom  = "20"            // together with PriceBelow 12 %
	PriceBelow = "50"
)
