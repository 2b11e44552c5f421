package text

import (
	"slices"
	"strings"
	"sync"
)

// paradigm is endings that alternate after a stem: each two of them make forms of one word. Words
// are folded, so that endings have no umlauts and accents.
type paradigm struct {
	endings []string
	minStem int      // minimum length of the stem
	after   []string // the ends of stems with these endings, or after ^ whole stems; nil means all
	except  []string // the ends of other stems
}

// endings returns a paradigm; in the text, - is the empty ending.
func endings(text string, minStem int) paradigm {
	all := strings.Fields(text)
	for i := range all {
		all[i] = strings.TrimPrefix(all[i], "-")
	}
	return paradigm{endings: all, minStem: minStem}
}

func (p paradigm) following(stems string) paradigm {
	p.after = strings.Fields(stems)
	return p
}

func (p paradigm) unless(stems string) paradigm {
	p.except = strings.Fields(stems)
	return p
}

// paradigms are those of all languages. An ending that is also one of other words of a language,
// such as -e, alternates only after the stems that are listed.
var paradigms = []paradigm{
	// English; also the -s of other languages
	endings("- s 's", 3).unless("s x z ch sh '"),
	endings("- es 's", 3).following("ss us is es ens ^gas x z ch sh o"),
	endings("y ies y's", 2).unless("a e i o u"),
	endings("f ves", 2).following("lea loa shea thie cal hal sel shel wol scar whar dwar hoo"),
	endings("fe ves", 2).following("kni li wi"),
	endings("man men", 2),
	endings("child children", 0), endings("foot feet", 0), endings("tooth teeth", 0), endings("goose geese", 0),
	endings("mouse mice", 0),
	endings("us i", 3), endings("um a", 4), endings("um a en", 0).following("^dat"), endings("a ae", 4),
	endings("on a", 0).following("criteri phenomen"),
	endings("sis ses", 2), endings("ex ices", 3), endings("ix ices", 3),

	// French
	endings("- x", 2).following("au eu ou"),
	endings("al aux", 3), endings("ail aux", 3).following("trav vitr cor"),

	// Spanish and Portuguese
	endings("- es", 4).following("dad tud ltad rtad ntad istad ^flor ^tren ^azul"),
	endings("- es", 5).following("al el il ol ul ar er ir or an en in on un"),
	endings("z ces", 2),
	endings("ao oes", 3), endings("ao aes", 3),
	endings("al ais", 3), endings("el eis", 3), endings("ol ois", 3), endings("ul uis", 2), endings("il is", 3),
	endings("il eis", 3),
	endings("em ens", 3), endings("im ins", 4), endings("om ons", 3), endings("um uns", 3),

	// Italian
	endings("o i", 4).unless("i"), endings("o i", 3).following("^ann ^vin ^mur ^lup ^sit"),
	endings("io i", 4),
	endings("e i", 3).following("zion sion gion fior lor tor iator aes nes les ent ant cil bil vil ril din gin " +
		"ron lon mon don fium pesc voc chiav ^can ^nom ^mes ^nav ^pan"),
	endings("e i", 5).following("al"),
	endings("a e", 4).following("tur sur gur zz nz agn ogn ign err str strad scuol parol settiman person letter " +
		"chies oper donn colonn stell sorell ricett biciclett macchin pagin cucin port cart list terr"),
	endings("a e", 7).following("i"),
	endings("co chi", 2), endings("ca che", 3), endings("go ghi", 2), endings("ga ghe", 3),

	// German
	endings("- e en es", 3).following("^tag ertag trag schlag ^weg berg ^zug bezug anzug ^hof bahnhof stein wein bein " +
		"schein verein baum raum traum maus preis kreis gleis spiel ziel teil pfeil ^tier papier brief jahr sohn " +
		"stuhl haar paar boot meer freund hund grund hand wand stand band gang gesang klang tisch fisch dienst kunst " +
		"wurst gast fest punkt produkt projekt objekt effekt kontakt markt werk film turm sturm stoff schiff topf " +
		"kopf knopf platz satz schatz gesetz fluss schluss prozess kongress monat salat zitat gerat plakat apparat " +
		"problem system termin roman kanal dialog katalog ^ort standort transport stuck stock druck blick brauch " +
		"besuch versuch bericht gewicht recht nacht macht kraft dokument instrument argument element ufer formular"),
	endings("- e en", 3).following("stadt"),
	endings("- en", 3).following("frau"),
	endings("- en", 6).following("ung heit keit schaft ion tat person arbeit schrift schicht nachricht ansicht " +
		"geburt fahrt antwort president prasident student patient tourist polizist journalist ist or fabrik republik " +
		"klinik statistik partei datei erei enz anz ing"),
	endings("- en", 4).following("kultur figur natur struktur ^zeit mahlzeit ^zahl anzahl ^welt ^form uhr ^bank " +
		"^bett staat ^fahrt pflicht sicht"),
	endings("- n", 4).following("e").unless("ake ike oke ave ive ove eve ope"),
	endings("- n", 5).following("live rve"),
	endings("- n", 4).following("el"),
	endings("- er ern es", 3).following("haus buch bild ^land desland blatt feld wald wort kind ^glas ^gras ^grab " +
		"fahrrad ^rad dach dorf fach volk kleid schloss loch lied glied brett ^bad huhn lamm kalb rind tuch ^tal mann " +
		"schwert schild geist denkmal"),
	endings("nis nisse nissen nisses", 3),
	endings("in innen", 5),
	endings("um en", 4), endings("ma men", 2),

	// Dutch
	endings("- en", 3).following("oek dier iets mens vrouw krant plant ond vriend bloem boer kaart beeld ijk ijn " +
		"werk kerk ^bank oord eit land hand brand strand gracht berg"),
	endings("f ven", 2).following("ie oe ui ij"), endings("s zen", 2).following("ui ij ei"),
	endings("heid heden", 2), endings("stad steden", 0),
	endings("- eren", 4).following("kind lied goed blad"),
}

// alternation is an ending of a paradigm.
type alternation struct {
	*paradigm
	ending string
	whole  bool // the word has no more letters than those that select the alternation
}

// alternations returns the endings of all paradigms, by the end of the words that have them.
var alternations = sync.OnceValue(func() map[string][]alternation {
	all := map[string][]alternation{}
	for i := range paradigms {
		p := &paradigms[i]
		for _, ending := range p.endings {
			if p.after == nil {
				all[ending] = append(all[ending], alternation{p, ending, false})
			}
			for _, stem := range p.after {
				stem, whole := strings.CutPrefix(stem, "^")
				all[stem+ending] = append(all[stem+ending], alternation{p, ending, whole})
			}
		}
	}
	return all
})

// unrelated are pairs of different words whose endings alternate, each in alphabetical order.
var unrelated = sortedLines(`
are ares
arise arisen
basil basis
broken brook
chasten chaste
chose chosen
choose chosen
date daten
does doe
doze dozen
froze frozen
garde garden
german germen
hasten haste
len lens
les lessen
linen line
loose loosen
mar mars
mini minus
new news
paste pasta
porte porta
proof proven
raman ramen
ripe ripen
rise risen
scala scale
spoken spook
stolen stool
stole stolen
suffices suffix
taxi taxus
tens tenses
token took
token toke
wage wagen
white whiten
wide widen
`)

// sortedLines returns the pairs of words in the lines of a text, sorted.
func sortedLines(text string) (lines []string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		pair := strings.Fields(line)
		slices.Sort(pair)
		lines = append(lines, strings.Join(pair, " "))
	}
	slices.Sort(lines)
	return lines
}
