/** Splits a shell script at && || | ; & and line ends, outside of quotes. */

export type ScriptPart = {
  readonly text: string;
  /** the operator before it */
  readonly link: 'first' | 'and' | 'or' | 'pipe' | 'next' | 'background';
};

const LINKS = [
  ['&&', 'and'],
  ['||', 'or'],
  ['|', 'pipe'],
  [';', 'next'],
  ['\n', 'next'],
  ['&', 'background'],
] as const;

export function partsOf(script: string): ScriptPart[] {
  const parts: ScriptPart[] = [];
  let link: ScriptPart['link'] = 'first';
  let text = '';
  let quote = '';
  const close = () => {
    if (text.trim() !== '') parts.push({ text: text.trim(), link: parts.length === 0 ? 'first' : link });
    text = '';
  };
  for (let index = 0; index < script.length; index++) {
    const character = script.charAt(index);
    if (character === '\\' && quote !== "'") {
      text += script.slice(index, index + 2);
      index++;
      continue;
    }
    if (quote !== '') quote = character === quote ? '' : quote;
    else if (character === '"' || character === "'") quote = character;
    else {
      const redirection = character === '&' && (/[<>]$/.test(text) || script.charAt(index + 1) === '>');
      const found = redirection ? undefined : LINKS.find(([sign]) => script.startsWith(sign, index));
      if (found) {
        close();
        link = found[1];
        index += found[0].length - 1;
        continue;
      }
    }
    text += character;
  }
  close();
  return parts;
}
