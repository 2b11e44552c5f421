package charset

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"herbarium/internal/herb"
	"herbarium/internal/ingest/rowstest"
	"herbarium/internal/must"
)

type memory = rowstest.Stream

func decode(t testing.TB, m memory, encoding string) (text string, notes []string, err error) {
	t.Helper()
	r, err := Open(t.Context(), m, encoding, 1<<30)
	if err != nil {
		return "", nil, err
	}
	defer r.Close()
	b, _ := r.Peek(1 << 30)
	return string(b), r.Notes(), r.Err()
}

func atOnce(r io.Reader) io.Reader { return r }

func utf16Of(order binary.AppendByteOrder, s string) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// Texts in several alphabets.
const (
	russian = "город,река\nМосква,Москва-река\nСанкт-Петербург,Нева\nНовосибирск,Обь\nОмск,Иртыш\n"
	polish  = "miasto,województwo\nŁódź,łódzkie\nPoznań,wielkopolskie\nWrocław,dolnośląskie\nRzeszów,podkarpackie\nBiałystok,podlaskie\nKielce,świętokrzyskie\nZielona Góra,lubuskie\nGdańsk,pomorskie\nKraków,małopolskie\nBydgoszcz,kujawsko-pomorskie\nCzęstochowa,śląskie\nToruń,kujawsko-pomorskie\nSłupsk,pomorskie\nWałbrzych,dolnośląskie\n"
	czech   = "obec,okres\nČeské Budějovice,České Budějovice\nPlzeň,Plzeň-město\nÚstí nad Labem,Ústí nad " +
		"Labem\nKroměříž,Kroměříž\nHavířov,Karviná\nTřebíč,Třebíč\nZnojmo,Znojmo\nPříbram,Příbram\nDěčín,Děčín\nJindřichův Hradec,Jindřichův Hradec\nUherské Hradiště,Uherské Hradiště\n"
	hungarian = "település,megye\nGyőr,Győr-Moson-Sopron\nKőszeg,Vas\nSzékesfehérvár,Fejér\nKecskemét,Bács-Kiskun\nHódmezővásárhely,Csongrád\nSzűcsi,Heves\nMezőkövesd,Borsod-Abaúj-Zemplén\nBékéscsaba,Békés\nÉrd,Pest\nGödöllő,Pest\nSiófok,Somogy\n"
	turkish   = "il,bölge\nİstanbul,Marmara\nDiyarbakır,Güneydoğu Anadolu\nŞanlıurfa,Güneydoğu " +
		"Anadolu\nMuğla,Ege\nAydın,Ege\nEskişehir,İç Anadolu\nBalıkesir,Marmara\nKırşehir,İç Anadolu\nIğdır,Doğu " +
		"Anadolu\nAğrı,Doğu Anadolu\nTekirdağ,Marmara\nNevşehir,İç Anadolu\nUşak,Ege\nGümüşhane,Karadeniz\nMuş,Doğu " +
		"Anadolu\n"
	lithuanian  = "miestas,apskritis\nŠiauliai,Šiaulių\nPanevėžys,Panevėžio\nKlaipėda,Klaipėdos\nUtena,Utenos\nTelšiai,Telšių\nTauragė,Tauragės\nMažeikiai,Telšių\nKėdainiai,Kauno\nVisaginas,Utenos\nPlungė,Telšių\nKretinga,Klaipėdos\nŠilutė,Klaipėdos\nRadviliškis,Šiaulių\nAnykščiai,Utenos\nBiržai,Panevėžio\n"
	italian     = "giorno,parola\nlunedì,perché\nmartedì,caffè\nmercoledì,più\ngiovedì,però\nvenerdì,così\noggi,virtù\nieri,tè\nallora,ciò\ndopo,poiché\nprima,giù\npoi,cioè\nquando,né\ndove,finché\nsabato,ahimè\ndomenica,può\nforse,benché\n"
	kana        = "番号,名前\n1,さくら\n2,もみじ\n3,ひまわり\n4,チューリップ\n"
	hangul      = "번호,이름\n1,서울특별시\n2,부산광역시\n3,대구광역시\n4,인천광역시\n5,경기도\n"
	traditional = "編號,名稱\n1,臺北市大安區\n2,高雄市三民區\n3,臺中市西屯區\n4,桃園市中壢區\n"
	simplified  = "编号,名称\n1,北京市朝阳区\n2,上海市浦东新区\n3,广州市天河区\n4,新疆维吾尔自治区\n"
)

func encode(e encoding.Encoding, s string) string {
	encoded, err := e.NewEncoder().String(s)
	if err != nil {
		panic(err)
	}
	return encoded
}

func TestText(t *testing.T) {
	t.Parallel()
	const odd = "id;name\n1;\"a\r\nb\"\n2;\"é植🌱\uFFFD\"\n"
	late := strings.Repeat("0123456789,abcdefghij\n", 40_000)
	tests := []struct {
		name, encoding, in, want string
		note                     string
		opened                   int
	}{
		{name: "empty", opened: 1},
		{name: "ASCII", in: "a,b\nx\x00y,\x00\nplain,text\n", want: "a,b\nx\x00y,\x00\nplain,text\n", opened: 1},
		{name: "UTF-8", in: odd + late, want: odd + late, opened: 1},
		{name: "UTF-8 mark", in: "\xEF\xBB\xBFé", want: "é", opened: 1},
		{name: "UTF-8 mark inside", in: "a\uFEFFé", want: "a\uFEFFé", opened: 1},
		{name: "UTF-16LE mark", in: "\xFF\xFE" + utf16Of(binary.LittleEndian, odd), want: odd, opened: 1},
		{name: "UTF-16BE mark", in: "\xFE\xFF" + utf16Of(binary.BigEndian, odd), want: odd, opened: 1},
		{name: "UTF-16LE", in: utf16Of(binary.LittleEndian, odd+late), want: odd + late, opened: 1},
		{name: "UTF-16BE", in: utf16Of(binary.BigEndian, odd), want: odd, opened: 1},
		{name: "UTF-16 of few latin letters", in: utf16Of(binary.LittleEndian, "番号,名前\n一,植物園の木\n二,庭の花\n"),
			want: "番号,名前\n一,植物園の木\n二,庭の花\n", opened: 1},
		{name: "UTF-32LE mark", in: "\xFF\xFE\x00\x00a\x00\x00\x00\x31\xF3\x01\x00\xFD\xFF\x00\x00",
			want: "a🌱\uFFFD", opened: 1},
		{name: "UTF-32BE mark", in: "\x00\x00\xFE\xFF\x00\x00\x00a\x00\x01\xF3\x31", want: "a🌱", opened: 1},
		{name: "Windows-1252", in: "caf\xE9,\x80 5\n\x93x\x94", want: "café,€ 5\n“x”", note: "Windows-1252", opened: 2},
		{name: "Windows-1252 that begins late", in: late + "caf\xE9,x\n", want: late + "café,x\n",
			note: "Windows-1252", opened: 2},
		{name: "Windows-1252 with bytes of Shift_JIS", in: "don\x92t, caf\xE9s, \xC4hre", want: "don’t, cafés, Ähre",
			note: "Windows-1252", opened: 2},
		{name: "Shift_JIS", in: "a,\x96k\x8aC\x93\xb9\n" + strings.Repeat("\xb1,\x82\xb3\x82\xc1\n", 6),
			want: "a,北海道\n" + strings.Repeat("ｱ,さっ\n", 6), note: "Shift_JIS", opened: 3},
		{name: "Shift_JIS in words of two characters", in: strings.Repeat("\x96\xbc\x91O,\x92n\x88\xe6\n", 6),
			want: strings.Repeat("名前,地域\n", 6), note: "Shift_JIS", opened: 3},
		{name: "Shift_JIS that begins like UTF-8", in: strings.Repeat("\xC3\xBD\xC4,\x96k\x8aC\x93\xb9\n", 6),
			want: strings.Repeat("ﾃｽﾄ,北海道\n", 6), note: "Shift_JIS", opened: 3},
		{name: "Mac Roman", in: strings.Repeat("\x81land\tMontr\x8Eal\r", 15),
			want: strings.Repeat("Åland\tMontréal\r", 15), note: "macintosh", opened: 3},
		{name: "Mac Roman with LF", in: strings.Repeat("don\xD5t,caf\x8E\nit\xD5s,\xD2ok\xD3\n", 6),
			want: strings.Repeat("don’t,café\nit’s,“ok”\n", 6), note: "macintosh", opened: 3},
		{name: "letters of Windows-1252 and Mac Roman", in: "pa\x9Aa,du\x9Aa,te\x9Ea\n", want: "paša,duša,teža\n",
			note: "Windows-1252", opened: 2},
		{name: "Windows-1251", in: encode(charmap.Windows1251, russian), want: russian,
			note: "Windows-1251", opened: 3},
		{name: "Italian with letters that Czech has, too", in: encode(charmap.Windows1252, italian), want: italian,
			note: "Windows-1252", opened: 2},
		{name: "one letter only", in: strings.Repeat("km\xB3\n", 30), want: strings.Repeat("km³\n", 30),
			note: "Windows-1252", opened: 3},
		{name: "few letters", in: "Dvo\xF8\xE1k\n", want: "Dvoøák\n", note: "Windows-1252", opened: 2},
		{name: "EUC-JP", in: encode(japanese.EUCJP, kana), want: kana, note: "EUC-JP", opened: 3},
		{name: "EUC-KR", in: encode(korean.EUCKR, hangul), want: hangul, note: "EUC-KR", opened: 3},
		{name: "Big5", in: encode(traditionalchinese.Big5, traditional), want: traditional, note: "Big5", opened: 3},
		{name: "GB18030", in: encode(simplifiedchinese.GB18030, simplified), want: simplified,
			note: "GB18030", opened: 3},
		{name: "mark stronger than the given encoding", encoding: "windows-1252", in: "\xEF\xBB\xBFé", want: "é",
			note: "windows-1252", opened: 1},
		{name: "given: UTF-8", encoding: "utf-8", in: "é", want: "é", opened: 1},
		{name: "given: UTF-8 with mark", encoding: "UTF-8-SIG", in: "\xEF\xBB\xBFé", want: "é", opened: 1},
		{name: "given: UTF-16 in detected order", encoding: "utf-16", in: "\x00a\x00\n\x00\xE9",
			want: "a\né", opened: 1},
		{name: "given: UTF-16LE", encoding: "utf-16le", in: "a\x00\n\x00\xE9\x00", want: "a\né", opened: 1},
		{name: "given: UTF-16BE", encoding: "utf_16_be", in: "\x00a\x00\n\x00\xE9", want: "a\né", opened: 1},
		{name: "given: cp1252", encoding: "cp1252", in: "\x80\xE9", want: "€é", opened: 1},
		{name: "given: ISO-8859-1", encoding: "iso-8859-1", in: "\x80\xE9\x81", want: "€é\u0081", opened: 1},
		{name: "given: Latin-1", encoding: "latin1", in: "\xE9", want: "é", opened: 1},
		{name: "given: ASCII", encoding: "ascii", in: "ab", want: "ab", opened: 1},
		{name: "given: ISO-8859-15", encoding: "iso-8859-15", in: "\xA4", want: "€", opened: 1},
		{name: "given: Macintosh", encoding: "mac-roman", in: "\x8E", want: "é", opened: 1},
		{name: "given: CP850", encoding: "cp850", in: "\x82", want: "é", opened: 1},
		{name: "given: KOI8-R", encoding: "koi8-r", in: "\xC1", want: "а", opened: 1},
		{name: "given: Shift JIS", encoding: "shift_jis", in: "\x90A\x95\xA8", want: "植物", opened: 1},
		{name: "given: EUC-JP", encoding: "euc-jp", in: "\xBF\xA2", want: "植", opened: 1},
		{name: "given: GB18030", encoding: "gb18030", in: "\xD6\xB2\x84\x31\xA4\x37", want: "植\uFFFD", opened: 1},
		{name: "given: GBK", encoding: "cp936", in: "\xD6\xB2", want: "植", opened: 1},
		{name: "given: Big5", encoding: "big5", in: "\xB4\xD3", want: "植", opened: 1},
		{name: "given: EUC-KR", encoding: "euc-kr", in: "\xB0\xA1", want: "가", opened: 1},
		{name: "given: ISO-2022-JP", encoding: "iso-2022-jp", in: "\x1B$B?\"\x1B(Bx", want: "植x", opened: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, wrap := range []func(io.Reader) io.Reader{atOnce, iotest.OneByteReader, iotest.DataErrReader} {
				opened := 0
				m := memory{Content: tt.in, Wrap: func(r io.Reader) io.Reader { opened++; return wrap(r) }}
				got, notes, err := decode(t, m, tt.encoding)
				if err != nil || got != tt.want {
					t.Fatalf("got %.100q and error %v, want %.100q", got, err, tt.want)
				}
				if all := strings.Join(notes, "\n"); (all == "") != (tt.note == "") || !strings.Contains(all, tt.note) {
					t.Errorf("notes %q, want %q", notes, tt.note)
				}
				if opened != tt.opened {
					t.Errorf("opened %d times, want %d", opened, tt.opened)
				}
			}
		})
	}
}

func TestText_Rejects(t *testing.T) {
	t.Parallel()
	late := strings.Repeat("0123456789,abcdefghij\n", 40_000) // 880,000 bytes
	tests := []struct{ name, encoding, in, want string }{
		{"mixed", "", "a,b\né,1\n\xE9,2\n", "line 3: byte 9 is not UTF-8, but byte 4 (line 2)"},
		{"mixed, late", "", "a,b\né,1\n" + late + "x,\xE9\n",
			"line 40003: byte 880011 is not UTF-8, but byte 4 (line 2)"},
		{"mixed, UTF-8 late", "", "a,b\r\xE9,1\r\n" + late + "x,é\n",
			"line 2: byte 4 is not UTF-8, but byte 880011 (line 40003)"},
		{"undefined", "", "a,b\nZ\x81rich,1\n",
			"line 2: byte 5 is not UTF-8, and the file does not tell its encoding; save the file as UTF-8, or name " +
				"its encoding, such as encoding=cp850 (Zürich), encoding="},
		{"few Cyrillic letters", "", "a,b\n\xCF\xF0\xE8\xE2\xE5\xF2,\xCC\xE8\xF0\xE0\n",
			"line 2: byte 4 is not UTF-8, and the file does not tell its encoding"},
		{"few letters of Mac Roman", "", "a,b\ndon\xD5t,x\n",
			"line 2: byte 7 is not UTF-8, and the file does not tell its encoding; save the file as UTF-8, or name " +
				"its encoding, such as encoding=windows-1252 (donÕt), encoding=macintosh (don’t)"},
		{"few Japanese characters", "", "\x96\xbc\x91O,\x92n\x88\xe6\n",
			"line 1: byte 0 is not UTF-8, and the file does not tell its encoding"},
		{"Polish", "", encode(charmap.Windows1250, polish),
			"line 1: byte 12 is not UTF-8, and the file does not tell its encoding; save the file as UTF-8, or name " +
				"its encoding, such as encoding=windows-1252 ("},
		{"KOI8-R", "", encode(charmap.KOI8R, russian),
			"line 1: byte 0 is not UTF-8, and the file does not tell its encoding"},
		{"few Chinese characters", "", "a\n\xC4\xD0\n\xC5\xAE\n", "line 2: byte 2 is not UTF-8, but byte 5 (line 3)"},
		{"pairs that are no characters", "", encode(korean.EUCKR, hangul) + "\xFF\xFE", "line 1: byte 0 is not UTF-8"},
		{"short binary", "", "\x00\x00\x01\x01", "line 1: the file is not text"},
		{"zero", "", "a,b\n\xE9,1\nx,\x00\n", "line 2: byte 4 is not UTF-8, and the file does not tell its encoding"},
		{"truncated", "", "a,b\né,植\nx,\xE6\xA4",
			"line 3: the text ends in the middle of a character at byte 13, read as UTF-8"},
		{"only character truncated", "", "a,b\nx,\xE6\xA4",
			"line 2: the text ends in the middle of a character at byte 6"},
		{"after a mark", "", "\xEF\xBB\xBFa,b\nx,\xE9\n", "line 2: byte 9 cannot be read as UTF-8"},
		{"half a surrogate pair", "", "\xFF\xFEa\x00\n\x00\x3C\xD8x\x00", "line 2: byte 6 cannot be read as UTF-16LE"},
		{"odd UTF-16", "", "\xFF\xFEa\x00\n\x00x", "line 2: byte 6 cannot be read as UTF-16LE"},
		{"binary", "", "a,b\n" + strings.Repeat("\x00\x02\x03x", 100), "line 2: the file is not text"},
		{"given: UTF-8", "utf-8", "a\n\xE9x", "line 2: byte 2 cannot be read as utf-8"},
		{"given: Windows-1252", "windows-1252", "a\n\x81", "line 2: byte 2 cannot be read as windows-1252"},
		{"given: ASCII", "us-ascii", "a\n\xE9", "line 2: byte 2 cannot be read as us-ascii"},
		{"given: Windows-1251", "windows-1251", "a\n\xE0\x98", "line 2: byte 3 cannot be read as windows-1251"},
		{"given: Shift JIS, truncated", "shift_jis", "a\n\x90A\x95", "line 2: byte 4 cannot be read as shift_jis"},
		{"given: Shift JIS", "shift_jis", "a\nok\xFFx", "line 2: byte 4 cannot be read as shift_jis"},
		{"given: GB18030", "gb18030", "a\n\xD6\xB2\xFF", "line 2: byte 4 cannot be read as gb18030"},
		{"given: ISO-2022-JP", "iso-2022-jp", "a\nx\xFF", "line 2: byte 3 cannot be read as iso-2022-jp"},
		{"unknown", "klingon", "x", `unknown encoding "klingon"; valid encodings: utf-8, `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, wrap := range []func(io.Reader) io.Reader{nil, iotest.HalfReader} {
				_, _, err := decode(t, memory{Content: tt.in, Wrap: wrap}, tt.encoding)
				if err == nil || !strings.HasPrefix(err.Error(), tt.want) || herb.CodeOf(err) != herb.CodeInvalid {
					t.Errorf("got error %v, want %s", err, tt.want)
				}
			}
		})
	}
}

// TestCheckEncoding accepts the names that people use, and every name that the message lists.
func TestCheckEncoding(t *testing.T) {
	t.Parallel()
	for standard, names := range map[string]string{
		"utf-8": "UTF8 utf_8 utf8-bom utf8mb4", "utf-16le": "utf16 UCS-2", "us-ascii": "ASCII",
		"macintosh": "macroman MacRoman mac-roman x-mac-roman mac",
		"cp850":     "CP850 cp-850 ibm850 IBM-850 850 dos850", "cp437": "437 ibm437", "cp858": "ibm858",
		"cp866":      "ibm866 dos-866",
		"iso-8859-1": "latin1 Latin-1 iso8859-1 ISO_8859-1 8859-1 l1", "iso-8859-2": "latin2 latin-2 iso88592",
		"iso-8859-15":  "latin9 latin-9",
		"windows-1252": "cp1252 win1252 win-1252 windows1252 1252 ansi", "windows-1251": "cp1251 win1251 Windows_1251",
		"windows-874": "cp874 tis-620",
		"koi8-r":      "koi8r KOI8_R koi", "shift_jis": "sjis s-jis shift-jis SHIFT_JIS ms_kanji windows-31j cp932",
		"euc-jp": "eucjp ujis",
		"euc-kr": "euckr cp949 uhc ks_c_5601-1987", "gbk": "gb2312 cp936 euc-cn", "big5": "big-5 cp950",
		"x-mac-cyrillic": "mac-cyrillic",
	} {
		for name := range strings.FieldsSeq(names) {
			if got, want := describeDecoder(t, name), describeDecoder(t, standard); got != want {
				t.Errorf("%s: got %s, want %s of %s", name, got, want, standard)
			}
		}
	}
	for _, name := range encodingNames() {
		must.NoError(t, CheckEncoding(name))
	}
}

// describeDecoder returns the state of the decoder of an encoding, which has the table of a
// single-byte encoding and the type of others.
func describeDecoder(t *testing.T, name string) string {
	t.Helper()
	d, err := newDecoder(name)
	must.NoError(t, err)
	if s, ok := d.(*strictDecoder); ok {
		return fmt.Sprintf("%#v, controls: %v", s.Transformer.(*encoding.Decoder).Transformer, s.controls)
	}
	return fmt.Sprintf("%#v", d)
}

func TestText_Errors(t *testing.T) {
	t.Parallel()
	failing := func(r io.Reader) io.Reader { return io.MultiReader(r, iotest.ErrReader(io.ErrClosedPipe)) }
	for _, in := range []string{"", "abc", "é", "\xE9x"} {
		if _, _, err := decode(t, memory{Content: in, Wrap: failing}, ""); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%q: got error %v", in, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := Open(ctx, memory{Content: strings.Repeat("x", 10*bufferBytes)}, "", 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, all := r.Peek(1 << 30); all || !errors.Is(r.Err(), context.Canceled) {
		t.Errorf("canceled: got error %v", r.Err())
	}
}

func TestText_Limit(t *testing.T) {
	t.Parallel()
	w, err := Open(t.Context(), memory{Content: strings.Repeat("x", 250)}, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	if b, all := w.Peek(1000); len(b) != 100 || all || w.More() || w.Err() != ErrTooLong {
		t.Errorf("got %d bytes, all %v, error %v", len(b), all, w.Err())
	}
	w.Advance(100)
	if b, _ := w.Peek(100); len(b) != 100 || w.Err() != nil {
		t.Errorf("after advancing: %d bytes, error %v", len(b), w.Err())
	}
	w.Advance(100)
	if b, all := w.Peek(100); len(b) != 50 || !all {
		t.Errorf("at the end: %d bytes, all %v", len(b), all)
	}
}

// TestText_EndMark reads texts that end with Ctrl-Z, in the first window, at its end and after it.
// Elsewhere it is text.
func TestText_EndMark(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1000, bufferBytes - 100, bufferBytes - 3, bufferBytes - 2, bufferBytes - 1,
		bufferBytes} {
		for _, marks := range []string{"", "\x1A", strings.Repeat("\x1A", 127)} {
			text := strings.Repeat("x", size) + "\x1A\n"
			w, err := Open(t.Context(), memory{Content: text + marks}, "", 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if b, all := w.Peek(1 << 20); string(b) != text || !all {
				t.Errorf("%d bytes and %d marks: got %d bytes, all %v", len(text), len(marks), len(b), all)
			}
		}
	}
}

// TestText_Error reads a text that ends with an error, which is not the end of the text even if its
// name says so.
func TestText_Error(t *testing.T) {
	t.Parallel()
	late := strings.Repeat("x", bufferBytes)
	failing := func(r io.Reader) io.Reader { return io.MultiReader(r, iotest.ErrReader(io.ErrUnexpectedEOF)) }
	w, err := Open(t.Context(), memory{Content: late, Wrap: failing}, "", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if b, all := w.Peek(1 << 20); string(b) != late || all || w.More() || w.Err() != io.ErrUnexpectedEOF {
		t.Errorf("got %d bytes, all %v, error %v", len(b), all, w.Err())
	}
}

// FuzzText compares the strict decoders with those that substitute: accepted text is equal and has
// no substitutes that the input does not have.
func FuzzText(f *testing.F) {
	f.Add([]byte("植\x90A\x95\xA8\x84\x31\xA4\x37\r\n"), byte(0))
	f.Add([]byte("\x1B$B?\"\x1B(Bx"), byte(3))
	f.Add([]byte("\xD6\xB2"), byte(1))
	f.Fuzz(func(t *testing.T, in []byte, which byte) {
		names := []string{"shift_jis", "gb18030", "windows-1252", "iso-2022-jp"}
		i := int(which) % len(names)
		if mark, _ := detectUnicode(in); mark != "" {
			return
		}
		got, _, err := decode(t, memory{Content: string(in), Wrap: iotest.HalfReader}, names[i])
		loose := []interface{ Bytes([]byte) ([]byte, error) }{
			japanese.ShiftJIS.NewDecoder(), simplifiedchinese.GB18030.NewDecoder(), charmap.Windows1252.NewDecoder(),
			japanese.ISO2022JP.NewDecoder(),
		}[i]
		want, looseErr := loose.Bytes(in)
		if looseErr != nil {
			t.Skip()
		}
		if err != nil {
			if !bytes.Contains(want, []byte(substitute)) {
				t.Fatalf("%s: %q is rejected (%v) although it is %q", names[i], in, err, want)
			}
			return
		}
		if got != string(want) || bytes.Count(want, []byte(substitute)) > bytes.Count(in, []byte("\x84\x31\xA4\x37")) {
			t.Fatalf("%s: %q is read as %q, want %q", names[i], in, got, want)
		}
	})
}

func BenchmarkText(b *testing.B) {
	for _, in := range []string{"ascii", "né"} {
		m := memory{Content: strings.Repeat(in+",0123456789,abcdefghij\n", 200_000)}
		b.Run(fmt.Sprint(in), func(b *testing.B) {
			b.SetBytes(int64(len(m.Content)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := Open(b.Context(), m, "", 1<<20)
				if err != nil {
					b.Fatal(err)
				}
				for r.More() {
					r.Advance(len(r.Bytes()))
				}
				if r.Err() != nil {
					b.Fatal(r.Err())
				}
			}
		})
	}
}
