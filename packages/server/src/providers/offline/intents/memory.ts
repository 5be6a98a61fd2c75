/** "my name is Ada", "what is my name?", "what did I say first?", answered from the items. */
import { askedInDigest } from '../digest.ts';
import { nameIn } from '../name.ts';
import { type Intent, type Scene, saying } from '../plan.ts';
import { quoted } from '../text/quote.ts';
import { summaryTexts, userTexts } from '../turn.ts';

const ASK_NAME =
  /^(?:what(?:'s|\s+is|\s+was)\s+my\s+name|do\s+you\s+(?:know|remember)\s+my\s+name|who\s+am\s+i)(?:\s+again)?$/i;
const TELL_NAME = /^(?:my name is|my name's|call me)\b/i;
const FIRST =
  /^what\s+(?:did\s+i\s+(?:say|ask|write|tell you)|was\s+my)\s+(?:at\s+)?(?:first|the\s+beginning)(?:\s+(?:message|question))?$/i;
const LAST =
  /^what\s+(?:did\s+i\s+(?:just\s+)?(?:say|ask|write|tell you)|was\s+my)(?:\s+(?:just\s+now|before(?:\s+(?:that|this))?|last|previous|previously))?(?:\s+(?:message|question))?$/i;
const HOW_MANY = /^how\s+many\s+(?:messages|questions|things)\s+(?:have|did)\s+(?:i|we)\s+.*$/i;

export const memory: Intent = {
  name: 'memory',
  match({ line }, scene) {
    if (ASK_NAME.test(line)) return saying(knownName(scene));
    if (FIRST.test(line)) return saying(recalled('The first thing you said was', said(scene)[0]));
    if (LAST.test(line)) return saying(recalled('Before this you said', said(scene).at(-1)));
    if (HOW_MANY.test(line)) return saying(counted(said(scene).length + 1));
    const name = TELL_NAME.test(line) ? nameIn(line) : null;
    return name
      ? saying(
          `Nice to meet you, ${name}. I can tell you your name again as long as it is part of this conversation.`,
        )
      : null;
  },
};

function knownName({ earlier }: Scene): string {
  const texts = [...summaryTexts(earlier), ...userTexts(earlier)];
  const name = texts.map(nameIn).findLast((found) => found !== null);
  return name ? `Your name is ${name}.` : 'You have not told me your name in this conversation.';
}

/** Messages from compactions come before the messages themselves. */
const said = ({ earlier }: Scene): string[] => [
  ...summaryTexts(earlier).flatMap(askedInDigest),
  ...userTexts(earlier),
];

const recalled = (opening: string, text: string | undefined): string =>
  text === undefined ? 'This is the first message of our conversation.' : `${opening}: ${quoted(text, 400)}`;

const counted = (count: number): string =>
  `With this one you have sent ${count} ${count === 1 ? 'message' : 'messages'} in this conversation, as far as I can see.`;
