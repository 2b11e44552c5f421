// Exact sums and means of plain decimals, such as -12.50.

const meanDigits = 15; // significant digits of a mean, as those of the API

// addDecimals returns the exact sum, with as many decimals as the number with the most.
export function addDecimals(numbers) {
  const places = Math.max(...numbers.map((n) => (n.split(".")[1] ?? "").length));
  const sum = numbers.reduce((total, n) => {
    const [whole, fraction = ""] = n.split(".");
    return total + BigInt(whole + fraction.padEnd(places, "0"));
  }, 0n);
  return asDecimal(sum, places);
}

// asDecimal writes an integer with some of its digits after the point.
function asDecimal(digits, places) {
  const text = String(digits < 0n ? -digits : digits).padStart(places + 1, "0");
  const fraction = places ? "." + text.slice(-places) : "";
  return (digits < 0n ? "-" : "") + text.slice(0, text.length - places) + fraction;
}

// meanOf returns the mean of numbers with a sum, rounded half to even, without zeros at its end.
export function meanOf(sum, count) {
  const [whole, fraction = ""] = sum.split("."), places = fraction.length;
  const isNegative = sum.startsWith("-"), digits = BigInt((whole + fraction).replace("-", "")), divisor = BigInt(count);
  // so many more decimals that the quotient has enough digits, and at least one to round
  const more = Math.max(0, meanDigits + 1 + String(divisor).length - String(digits).length + 1);
  const scaled = digits * 10n ** BigInt(more), isExact = scaled % divisor === 0n;
  let quotient = scaled / divisor, decimals = places + more;
  const surplus = String(quotient).length - meanDigits;
  if (surplus > 0) {
    const unit = 10n ** BigInt(surplus), rest = quotient % unit, half = unit / 2n;
    quotient /= unit;
    if (rest > half || rest === half && (!isExact || quotient % 2n === 1n)) quotient++;
    decimals -= surplus;
  }
  if (decimals < 0) {
    quotient *= 10n ** BigInt(-decimals);
    decimals = 0;
  }
  const text = asDecimal(quotient, decimals);
  const short = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  return isNegative && quotient ? "-" + short : short;
}

// groupDigits groups the digits before the point by commas.
export function groupDigits(decimal) {
  const [whole, fraction] = decimal.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
