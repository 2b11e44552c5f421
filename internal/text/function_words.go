package text

import (
	"strings"
	"sync"
)

// IsFunctionWord reports whether a folded word says nothing about a text.
func IsFunctionWord(word string) bool { return functionWords()[word] }

// functionWords returns the most frequent words of texts in some languages, folded as the words of
// a search are, and those of addresses and markup.
var functionWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`
		a about after all also am an and any are as at be because been before being between but by can could did do does don't down during each
		either for from had has have he her here hers him his how however i if in into is isn't it it's its itself just like may me might more most
		much must my no nor not now of off on once one only or other others our out over own per same shall she should since so some such than that
		the their them then there these they this those through thus to too under until up upon us very via was we were what when where whether
		which while who whom whose why will with within without would yet you your
		aber alle als also am an auch auf aus bei bis das dass dem den der des die dies diese dieser durch ein eine einem einen einer eines er es fur
		hat im in ist kann mit nach nicht noch nur oder sein seine sich sie sind so uber um und unter vom von vor war waren werden wie wird wurde
		zu zum zur
		au aux avec ce ces cette comme dans de des deux du elle elles en est et etait etre il ils la le les leur leurs lui mais meme ne nous on ont
		ou par pas plus pour qu'il que qui sa sans se ses si son sont sous sur tout une un vous y d'un d'une c'est l'on n'est
		al algo como con cual cuando de del desde donde el ella ellos en entre era es esta este esto fue ha hasta la las lo los mas muy no o para
		pero por porque que se ser sin sobre son su sus tambien un una unas uno unos y ya
		ao aos as com da das do dos e ela ele em entre foi isso mais na nao nas no nos os ou para pela pelo pelos por que sao se sem ser seu sua
		um uma
		agli ai al alla alle anche che chi ci come con da dal dalla dei del della delle di e ed era gli i il in io la le lo ma nei nel nella non o
		per piu quando quella quello questa questo se si sono su sul sulla tra un una uno
		aan als bij dat de der deze die dit door een en er had heeft het hij in is maar met naar niet nog of om onder ook op over te tot uit van
		voor was wat werd wordt zich zij zijn
		http https www com org net html htm php href amp nbsp quot br div span`) {
		words[word] = true
	}
	return words
})
