/** Upper estimate of the tokens of a text: higher than vendors count, so that a budget is never exceeded. */
export function priceOf(text: string): number {
  let price = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    price += code < 128 ? (isWord(code) ? 0.28 : 0.5) : code < 0x2000 ? 0.6 : 1;
  }
  return Math.ceil(price);
}

/** Letters with the blank before a word; digits and punctuation make smaller tokens. */
const isWord = (code: number): boolean => code === 32 || ((code | 32) >= 97 && (code | 32) <= 122);
