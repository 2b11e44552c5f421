package charset

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// TestGuessEncoding_languages writes a table in each language in every encoding that has its
// letters, and reads it without the name of the encoding: the whole table, and only three records.
// "not" precedes encodings in which it is misread or rejected, because Windows-1252 is the default
// or because other letters make words, too.
func TestGuessEncoding_languages(t *testing.T) {
	t.Parallel()
	encodings := []struct {
		name string
		encoding.Encoding
	}{
		{"1252", charmap.Windows1252}, {"latin1", charmap.ISO8859_1}, {"latin9", charmap.ISO8859_15},
		{"mac", charmap.Macintosh},
		{"437", charmap.CodePage437}, {"850", charmap.CodePage850}, {"1250", charmap.Windows1250},
		{"latin2", charmap.ISO8859_2},
		{"852", charmap.CodePage852}, {"1254", charmap.Windows1254}, {"1257", charmap.Windows1257},
		{"1251", charmap.Windows1251},
		{"koi8r", charmap.KOI8R}, {"koi8u", charmap.KOI8U}, {"866", charmap.CodePage866}, {"8859-5", charmap.ISO8859_5},
		{"1253", charmap.Windows1253}, {"8859-7", charmap.ISO8859_7}, {"sjis", japanese.ShiftJIS},
		{"eucjp", japanese.EUCJP},
		{"euckr", korean.EUCKR}, {"gb18030", simplifiedchinese.GB18030}, {"big5", traditionalchinese.Big5},
	}
	eastAsian := map[string]string{"Japanese": "sjis eucjp", "Korean": "euckr", "Chinese": "gb18030",
		"Taiwanese": "big5"}
	for _, tt := range []struct{ language, text, table, records string }{
		{"German", "Stadt,Fluss\nZürich,Limmat\nKöln,Rhein\nDüsseldorf,Düssel\nMünchen,Isar\nGießen,Lahn\nNürnberg,Pegnitz\nLübeck,Trave\nGöttingen,Leine\nWürzburg,Main\nSaarbrücken,Saar\nÜberlingen,Bodensee\nBäretswil,Kemptnerbach\nMeißen,Elbe\n",
			"1252 latin1 latin9 1250 latin2 1254 1257 not mac 437 850 852",
			"1252 latin1 latin9 1250 latin2 1254 1257 not mac 437 850 852"},
		{"French", "ville,région\nOrléans,Centre\nBesançon,Franche-Comté\nNîmes,Occitanie\nSaint-Étienne,Rhône\nChâlons,Grand Est\nAngoulême,Nouvelle-Aquitaine\nBézier,Hérault\nMâcon,Saône\nÉvreux,Normandie\nLe Puy,près de là\nNoël,forêt\n",
			"1252 latin1 latin9 1254 not mac 437 850",
			"1252 latin1 latin9 1250 latin2 1254 not mac 437 850 852"},
		{"Spanish", "ciudad,país\nMálaga,España\nBogotá,Colombia\nAsunción,Paraguay\nCórdoba,España\nPanamá,Panamá\nMedellín,Colombia\nCádiz,España\nLogroño,España\nMérida,México\nJaén,España\nCúcuta,Colombia\n",
			"1252 latin1 latin9 1254 not mac 437 850",
			"1252 latin1 latin9 1254 not mac 437 850"},
		{"Portuguese", "cidade,região\nSão " +
			"Paulo,Sudeste\nBrasília,Centro-Oeste\nMaceió,Nordeste\nGoiânia,Centro-Oeste\nSão Luís,Nordeste\nJoão " +
			"Pessoa,Nordeste\nBelém,Norte\nMacapá,Norte\nCuiabá,Centro-Oeste\nPoções,Bahia\nConceição,Paraíba\n",
			"1252 latin1 latin9 1254 not mac 850",
			"1252 latin1 latin9 1254 not mac 850"},
		{"Swedish", "ort,län\nGöteborg,Västra " +
			"Götaland\nMalmö,Skåne\nÖrebro,Örebro\nVästerås,Västmanland\nLinköping,Östergötland\nJönköping,Jönköping\nGävle,Gävleborg\nLuleå,Norrbotten\nUmeå,Västerbotten\nSödertälje,Stockholm\nVäxjö,Kronoberg\n",
			"1252 latin1 latin9 1254 1257 not mac 437 850",
			"1252 latin1 latin9 1254 1257 not mac 437 850"},
		{"Polish", polish,
			"not 1250 latin2 852 1257",
			"not 1250 latin2 852 1257"},
		{"Czech", czech,
			"not 1250 latin2 852",
			"not 1250 latin2 852"},
		{"Hungarian", hungarian,
			"not 1250 latin2 852",
			"not 1250 latin2 852"},
		{"Turkish", turkish,
			"not 1254",
			"not 1254"},
		{"Lithuanian", lithuanian,
			"not 1257",
			"not 1257"},
		{"Italian", italian,
			"1252 latin1 latin9 1254 not mac 437 850",
			"1252 latin1 latin9 1254 not mac 437 850"},
		{"Russian", russian,
			"1251 not koi8r koi8u 866 8859-5",
			"1251 not koi8r koi8u 866 8859-5"},
		{"Ukrainian", "місто,область\nКиїв,Київська\nЛьвів,Львівська\nЗапоріжжя,Запорізька\nВінниця,Вінницька\nЧернівці,Чернівецька\nЖитомир,Житомирська\nРівне,Рівненська\nЄнакієве,Донецька\nЇжакевичі,Одеська\n",
			"1251 not koi8u 8859-5",
			"1251 not koi8u 8859-5"},
		{"Greek", "πόλη,περιφέρεια\nΑθήνα,Αττική\nΘεσσαλονίκη,Κεντρική Μακεδονία\nΠάτρα,Δυτική " +
			"Ελλάδα\nΗράκλειο,Κρήτη\nΛάρισα,Θεσσαλία\nΒόλος,Θεσσαλία\nΙωάννινα,Ήπειρος\nΧανιά,Κρήτη\nΚαβάλα,Ανατολική Μακεδονία\n",
			"not 1253 8859-7",
			"not 1253 8859-7"},
		{"Japanese", kana,
			"sjis eucjp",
			"not sjis eucjp"},
		{"Korean", hangul,
			"euckr",
			"euckr"},
		{"Chinese", simplified,
			"gb18030",
			"gb18030"},
		{"Taiwanese", traditional,
			"big5",
			"big5"},
	} {
		recognized := func(text string) string {
			var right, wrong []string
			for _, e := range encodings {
				isEastAsian := strings.Contains("sjis eucjp euckr gb18030 big5", e.name)
				if isEastAsian != (eastAsian[tt.language] != "") || isEastAsian &&
					!strings.Contains(eastAsian[tt.language], e.name) {
					continue
				}
				encoded, err := e.NewEncoder().String(text)
				if err != nil {
					continue
				}
				if got, _, err := decode(t, memory{Content: encoded}, ""); err == nil && got == text {
					right = append(right, e.name)
				} else {
					wrong = append(wrong, e.name)
				}
			}
			if len(wrong) > 0 {
				right = append(append(right, "not"), wrong...)
			}
			return strings.Join(right, " ")
		}
		records := strings.Join(strings.SplitAfterN(tt.text, "\n", 5)[:4], "")
		if got := recognized(tt.text); got != tt.table {
			t.Errorf("%s: table is recognized in %q, want %q", tt.language, got, tt.table)
		}
		if got := recognized(records); got != tt.records {
			t.Errorf("%s: three records are recognized in %q, want %q", tt.language, got, tt.records)
		}
	}
}
