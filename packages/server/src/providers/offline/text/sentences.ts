/** Splits a document into sentences: prose, wrapped lines, lists, and text without punctuation. */

/** Text beyond this is not read: a summary would take seconds. */
export const LONGEST_DOCUMENT = 200_000;
const LONGEST_SENTENCE = 400;
const WRAPPED_LINE = 40;
const WORDS_WITHOUT_STOP = 30;

const BULLET = /^\s*(?:[-*+•·]|\d{1,3}[.)])\s+/;
const HEADING = /^\s*(?:#{1,6}\s|={3,}|-{3,}|\*{3,})/;
const ENDED = /[.!?…:;\u3002\uff01\uff1f\u061f\u0964]["'”’»)\]]*\s*$/;
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

export function sentencesOf(document: string): string[] {
  return lines(beginning(document))
    .flatMap((line) => [...segmenter.segment(line)].map(({ segment }) => segment.trim()))
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
    .flatMap((sentence) => (sentence.length > LONGEST_SENTENCE ? cut(sentence) : [sentence]));
}

/** Cuts after a whole line or word, so that no partial sentence remains. */
function beginning(document: string): string {
  if (document.length <= LONGEST_DOCUMENT) return document;
  const part = document.slice(0, LONGEST_DOCUMENT);
  const end = Math.max(part.lastIndexOf('\n'), part.lastIndexOf('. '), part.lastIndexOf('。'));
  return end > LONGEST_DOCUMENT / 2 ? part.slice(0, end + 1) : part;
}

/** Joins wrapped lines; list items and headings stay separate. */
function lines(document: string): string[] {
  const whole: string[] = [];
  let open = '';
  const close = () => {
    if (open !== '') whole.push(open);
    open = '';
  };
  for (const line of document.split(/\r\n|[\r\n\u2028\u2029]/)) {
    const text = line.replace(BULLET, '').replace(HEADING, '').trim();
    if (text === '' || BULLET.test(line) || HEADING.test(line)) close();
    if (text === '') continue;
    open = open === '' ? text : `${open} ${text}`;
    if (HEADING.test(line) || text.length < WRAPPED_LINE || (ENDED.test(text) && BULLET.test(line))) close();
  }
  close();
  return whole;
}

function cut(sentence: string): string[] {
  const words = sentence.split(/\s+/);
  const pieces: string[] = [];
  for (let start = 0; start < words.length; start += WORDS_WITHOUT_STOP) {
    pieces.push(words.slice(start, start + WORDS_WITHOUT_STOP).join(' '));
  }
  return pieces.flatMap((piece) => piece.match(/[\s\S]{1,400}/gu) ?? []);
}
